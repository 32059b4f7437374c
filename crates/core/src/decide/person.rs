//! Escalation to a person: the last step of loop detection, of the guardrails and of making room.

use std::sync::Arc;

use super::boundary;
use super::calls;
use super::counsel;
use super::draft::Draft;
use crate::permission::Human;
use crate::question::{About, KeptAnswer};
use crate::record::{Record, ToolChoice, Transition};
use crate::words;

/// Whether somebody is there who can be asked.
pub(super) fn is_reachable(draft: &Draft<'_>) -> bool {
    draft.settings().is_some_and(|settings| settings.rules.human == Human::Reachable)
}

/// The runtime asks.
pub(super) fn ask(draft: &mut Draft<'_>, question: &str) {
    calls::question(draft, About::guidance(question));
}

/// The runtime asks, about an answer that is complete and that something speaks against.
pub(super) fn ask_about(draft: &mut Draft<'_>, question: &str, answer: KeptAnswer) {
    let question = Arc::from(question);
    calls::question(draft, About::Guidance { question, answer: Some(answer) });
}

/// The model is made to ask with the tool for it, because it knows best what is in its way. Where
/// there is no such tool, or no further call can be made, the runtime asks.
pub(super) fn ask_through_model(draft: &mut Draft<'_>, question: &str, transition: Transition) {
    let tool = draft.settings().map(|settings| settings.guards.ask_tool.clone());
    // A model that was made to ask and did not is not made to again.
    let asked = draft.run().is_some_and(|run| run.due_question.is_some());
    let tool = tool.filter(|_| !asked);
    let tool = tool.filter(|tool| boundary::is_offered(draft, tool) && boundary::can_ask(draft));
    match tool {
        Some(tool) => {
            counsel::note(draft, &words::ask_a_person(&tool, question));
            draft.record(Record::QuestionDue { question: Arc::from(question) });
            boundary::ask_now(draft, transition, None, ToolChoice::Only(tool));
        }
        None => ask(draft, question),
    }
}

/// The question that the model was made to ask and did not. A person who said something meanwhile
/// need not be asked.
pub(super) fn due(draft: &Draft<'_>) -> Option<Arc<str>> {
    let run = draft.run()?;
    let spoke = !run.steers.is_empty() || boundary::is_summing_up(draft);
    run.due_question.clone().filter(|_| !spoke)
}
