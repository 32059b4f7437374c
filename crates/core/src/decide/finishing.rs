//! Finishes a run: with its answer, without a result, or with a text in place of the answer. Then
//! the next queued prompt starts.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::next_step::NextStep;
use super::stop_conditions;
use crate::log::record::{Record, Transition};
use crate::message::prompt_texts;
use crate::run::question::SuspectAnswer;
use crate::stop::{ReplyAnomaly, StopCause};

/// Finishes the run without a result.
pub(super) fn finish_without_result(
    draft: &mut DecisionDraft<'_>,
    causes: &[StopCause],
) -> NextStep {
    let causes = include_requested_end(draft, causes);
    finish_run(draft, &causes, Some(Arc::from("")))
}

/// Adds a requested end to the causes, by a person or by a hook, whatever else ended the run. A
/// fatal error, which is more specific, comes with it already.
fn include_requested_end(draft: &DecisionDraft<'_>, causes: &[StopCause]) -> Vec<StopCause> {
    let cancelled = draft.is_stopping().then_some(StopCause::UserCancel);
    let by_hook = draft.run().and_then(stop_conditions::hook_stop_cause);
    let requested = cancelled.into_iter().chain(by_hook);
    let missing = requested.filter(|cause| !causes.contains(cause));
    missing.chain(causes.iter().copied()).collect()
}

/// Finishes the run: the first cause names it, the others are recorded beside it. `text_override`
/// replaces the text that was kept.
pub(super) fn finish_run(
    draft: &mut DecisionDraft<'_>,
    causes: &[StopCause],
    text_override: Option<Arc<str>>,
) -> NextStep {
    let (Some(run), Some((cause, also))) = (draft.run(), causes.split_first()) else {
        return NextStep::Wait;
    };
    let run = run.id.clone();
    draft.record(Record::RunFinished {
        run,
        cause: *cause,
        other_causes: also.to_vec(),
        text_override,
    });
    NextStep::StartNextPrompt
}

/// Finishes the run with its answer.
pub(super) fn finish_with_answer(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    let Some(run) = draft.run() else { return NextStep::Wait };
    let text = run.answer_text();
    let said = match (text.trim().is_empty(), cause) {
        (false, _) => run.structured_output.as_ref().map(|given| Arc::from(given.text())),
        (true, StopCause::Unexpected) => Some(Arc::from("")),
        (true, StopCause::SoftTime) => Some(Arc::from(prompt_texts::NO_WRAP_UP)),
        (true, _) => Some(Arc::from(prompt_texts::EMPTY_ANSWER)),
    };
    if text.trim().is_empty() && cause != StopCause::SoftTime {
        draft.record(Record::AnomalyDetected { what: ReplyAnomaly::EmptyAnswer });
    }
    let causes = stop_conditions::with_other_causes(draft, cause);
    finish_run(draft, &causes, said)
}

/// Finishes with the answer, unless steering messages continue the run.
pub(super) fn steer_or_finish(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    if stop_conditions::should_continue_with_steers(draft) {
        NextStep::ask_model(Transition::Steer)
    } else {
        finish_with_answer(draft, cause)
    }
}

/// Finishes with the suspect answer when a human stops the run, or it is cancelled, during the
/// question about its answer.
pub(super) fn finish_with_suspect_answer(
    draft: &mut DecisionDraft<'_>,
    kept: &SuspectAnswer,
) -> NextStep {
    draft.record(Record::AnswerMarkedSuspect { why: kept.reason.clone() });
    finish_with_answer(draft, kept.cause)
}

/// Finishes the run before the judge has answered: the answer is kept and marked suspect.
pub(super) fn finish_unjudged(draft: &mut DecisionDraft<'_>, cause: StopCause) -> NextStep {
    draft.record(Record::AnswerMarkedSuspect { why: Arc::from(prompt_texts::NOT_JUDGED) });
    finish_with_answer(draft, cause)
}
