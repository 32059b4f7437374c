//! Escalation to a human: the last step against loops, rejected answers and a full window.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::next_step::NextStep;
use super::stop_conditions;
use crate::log::record::{Record, Transition};
use crate::message::prompt_texts;
use crate::run::question::{QuestionKind, SuspectAnswer};

/// Pauses the run with a question of the runtime.
pub(super) fn ask_human(draft: &mut DecisionDraft<'_>, question: &str) -> NextStep {
    draft.ask_question(QuestionKind::guidance(question));
    NextStep::Wait
}

/// Pauses the run with a question about a complete answer that something speaks against.
pub(super) fn ask_human_about_answer(
    draft: &mut DecisionDraft<'_>,
    question: &str,
    answer: SuspectAnswer,
) -> NextStep {
    let question = Arc::from(question);
    draft.ask_question(QuestionKind::Guidance { question, suspect_answer: Some(answer) });
    NextStep::Wait
}

/// Requires the model to ask with the question tool, because the model knows best what blocks it.
/// Without such a tool, or if no further call can be made, the runtime asks.
pub(super) fn ask_through_model(
    draft: &mut DecisionDraft<'_>,
    question: &str,
    transition: Transition,
) -> NextStep {
    let tool = draft.settings().map(|settings| settings.guards.ask_tool.clone());
    // A model that was required to ask and did not is not required to again.
    let asked = draft.run().is_some_and(|run| run.required_question.is_some());
    let usable =
        |tool: &Arc<str>| !asked && draft.is_offered(tool) && stop_conditions::can_ask_model(draft);
    match tool.filter(usable) {
        Some(tool) => {
            draft.add_note(&prompt_texts::force_question(&tool, question));
            draft.record(Record::QuestionRequired { question: Arc::from(question) });
            NextStep::StartForcedCall { transition, tool }
        }
        None => ask_human(draft, question),
    }
}

/// Returns the question that the model was required to ask and did not ask. After a new message of
/// a human no question is needed.
pub(super) fn required_question(draft: &DecisionDraft<'_>) -> Option<Arc<str>> {
    let run = draft.run()?;
    let spoke = !run.steers.is_empty() || draft.is_wrapping_up();
    run.required_question.clone().filter(|_| !spoke)
}
