//! Escalation to a human: the last step of loop detection, guardrails and compaction.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::iteration;
use super::reviews;
use super::tool_calls;
use crate::log::record::{Record, ToolChoice, Transition};
use crate::message::prompt_texts;
use crate::permission::HumanAvailability;
use crate::run::question::{QuestionKind, SuspectAnswer};

/// Returns whether a human can be asked.
pub(super) fn is_human_available(draft: &DecisionDraft<'_>) -> bool {
    draft.settings().is_some_and(|settings| settings.rules.human == HumanAvailability::Available)
}

/// Pauses the run with a question of the runtime.
pub(super) fn ask_human(draft: &mut DecisionDraft<'_>, question: &str) {
    tool_calls::ask_question(draft, QuestionKind::guidance(question));
}

/// Pauses the run with a question about a complete answer that something speaks against.
pub(super) fn ask_human_about_answer(
    draft: &mut DecisionDraft<'_>,
    question: &str,
    answer: SuspectAnswer,
) {
    let question = Arc::from(question);
    tool_calls::ask_question(
        draft,
        QuestionKind::Guidance { question, suspect_answer: Some(answer) },
    );
}

/// Requires the model to ask with the question tool, because the model knows best what blocks it.
/// Without such a tool, or if no further call can be made, the runtime asks.
pub(super) fn ask_through_model(
    draft: &mut DecisionDraft<'_>,
    question: &str,
    transition: Transition,
) {
    let tool = draft.settings().map(|settings| settings.guards.ask_tool.clone());
    // A model that was required to ask and did not is not required to again.
    let asked = draft.run().is_some_and(|run| run.required_question.is_some());
    let tool = tool.filter(|_| !asked);
    let tool =
        tool.filter(|tool| iteration::is_offered(draft, tool) && iteration::can_ask_model(draft));
    match tool {
        Some(tool) => {
            reviews::add_note(draft, &prompt_texts::force_question(&tool, question));
            draft.record(Record::QuestionRequired { question: Arc::from(question) });
            iteration::start_model_call(draft, transition, None, ToolChoice::Tool(tool));
        }
        None => ask_human(draft, question),
    }
}

/// Returns the question that the model was required to ask and did not ask. After a new message of
/// a human no question is needed.
pub(super) fn required_question(draft: &DecisionDraft<'_>) -> Option<Arc<str>> {
    let run = draft.run()?;
    let spoke = !run.steers.is_empty() || iteration::is_wrapping_up(draft);
    run.required_question.clone().filter(|_| !spoke)
}
