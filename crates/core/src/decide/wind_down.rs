//! Winds down a round that must end: calls that are not in flight get a truthful result, child runs
//! are cancelled.

use super::children;
use super::draft::DecisionDraft;
use crate::call::call_facts::Interruptibility;
use crate::call::call_state::{Call, CallState};
use crate::call::outcome::{CallResult, OutcomeKind, SideEffects, ToolError};
use crate::log::ids::{CallId, UnixMillis};
use crate::log::record::StopMode;
use crate::run::active_run::Run;
use crate::run::child_runs::PendingChildren;
use crate::run::question::QuestionKind;

/// Answers every call that is not in flight, in a round that must end.
pub(super) fn finish_idle_calls(draft: &mut DecisionDraft<'_>) {
    let Some(reason) = wind_down_reason(draft) else { return };
    let possibly_started = possibly_started_calls(draft);
    let ids: Vec<CallId> = draft.calls().iter().map(|call| call.id).collect();
    for id in ids {
        children::cancel_children(draft, id);
        let shown = draft.call(id).and_then(|call| match possibly_started.contains(&id) {
            true => Some(CallResult::from_lost_call(call.side_effects())),
            false => wind_down_result(draft, call, reason),
        });
        if let Some(result) = shown {
            draft.finalize_result(id, result);
        }
    }
}

/// Returns the calls that may have been in flight when the last owner died. The start of a
/// repeatable call is not stored, so one that changes something and was ready to start cannot be
/// called skipped.
fn possibly_started_calls(draft: &DecisionDraft<'_>) -> Vec<CallId> {
    let halted = draft.run().is_some_and(|run| run.human_pause().is_some());
    if !halted && !draft.is_owner_change() {
        return Vec::new();
    }
    let calls = draft.calls();
    let may_have_started = |(index, call): &(usize, &Call)| {
        let mut before = calls.iter().take(*index);
        call.state == CallState::Ready
            && call.facts.is_repeatable()
            && call.side_effects() == SideEffects::Unknown
            && !before.any(|earlier| earlier.must_precede(call))
    };
    calls.iter().enumerate().filter(may_have_started).map(|(_, call)| call.id).collect()
}

/// Returns why the round must end; `None` if it continues.
pub(super) fn wind_down_reason(draft: &DecisionDraft<'_>) -> Option<&'static str> {
    if draft.is_stopping() {
        return Some("the run was cancelled before this call ran");
    }
    if draft.run().is_some_and(|run| run.reached_time_limit.is_some()) {
        return Some("the time limit was reached before this call ran");
    }
    let run = draft.run();
    if run.is_some_and(|run| run.hook_stop.is_some()) {
        return Some("a hook ended the run before this call ran");
    }
    if run.is_some_and(|run| run.deferred_tool_use.is_some()) {
        return Some("another call of the same reply was deferred");
    }
    draft.is_round_fatal().then_some("another call of the same reply failed fatally")
}

/// Returns the result of a call that will not continue, or `None` if it must be waited for.
fn wind_down_result(draft: &DecisionDraft<'_>, call: &Call, reason: &str) -> Option<CallResult> {
    match &call.state {
        // It was started, and would now be started again with the answer.
        CallState::Ready if !call.answered_requests.is_empty() => {
            Some(CallResult::from_lost_call(call.side_effects()))
        }
        CallState::AwaitingPreHook
        | CallState::AwaitingPermission
        | CallState::AwaitingClassifier
        | CallState::Ready => Some(CallResult::from_skip(reason)),
        CallState::AwaitingChildren(pending) => cancelled_children_result(draft, pending),
        CallState::AwaitingRetry { .. } => {
            Some(CallResult::from_unretried_failure(call.side_effects()))
        }
        CallState::AwaitingHuman(question) => match question.kind {
            QuestionKind::Approval { .. }
            | QuestionKind::ModelQuestion { .. }
            | QuestionKind::Plan { .. }
            | QuestionKind::Guidance { .. }
            | QuestionKind::Budget { .. }
            | QuestionKind::PromptChanged { .. } => Some(CallResult::from_skip(reason)),
            QuestionKind::ToolRequest { ref request, .. } => {
                Some(CallResult::from_unanswered_request(request, call.side_effects()))
            }
            QuestionKind::Uncertain { .. } => {
                is_cancel_wait_over(draft).then(|| CallResult::from_lost_call(call.side_effects()))
            }
        },
        CallState::Running { since } => interrupted_result(draft, call, *since),
        CallState::Lost | CallState::AwaitingPostHook(_) | CallState::Finished(_) => None,
    }
}

/// Returns the result of a call whose child runs were cancelled. They are waited for, but not for
/// ever; a run that failed fatally, or that a hook ends, does not need what the others found.
fn cancelled_children_result(
    draft: &DecisionDraft<'_>,
    pending: &PendingChildren,
) -> Option<CallResult> {
    let ends = is_aborting(draft)
        || is_cancel_wait_over(draft)
        || draft.is_round_fatal()
        || draft.run().is_some_and(Run::is_ended_by_hook);
    let limit = draft.result_char_limit();
    ends.then(|| {
        let message = children::abandoned_children_text(pending, limit / 20);
        let error = ToolError::new("interrupted", &message, CHILDREN_CANCELLED_HINT);
        CallResult::from_error(OutcomeKind::Interrupted, &error, limit)
    })
}

/// Hint beside the results of child runs that did not finish.
const CHILDREN_CANCELLED_HINT: &str =
    "the sub-agents were cancelled; what they did so far is not undone";

fn interrupted_result(
    draft: &DecisionDraft<'_>,
    call: &Call,
    since: UnixMillis,
) -> Option<CallResult> {
    let may = call.facts.interrupt == Interruptibility::Interruptible;
    let ends = draft.is_past_hard_limit() || (may && (is_aborting(draft) || is_grace_over(draft)));
    ends.then(|| CallResult::from_interruption(draft.at.ms_since(since), call.side_effects()))
}

/// Returns whether nothing more is waited for.
fn is_aborting(draft: &DecisionDraft<'_>) -> bool {
    let aborting = draft
        .run()
        .and_then(|run| run.stop_request)
        .is_some_and(|stop| stop.mode == StopMode::Abort);
    aborting || draft.is_past_hard_limit()
}

/// Returns whether the grace period for calls in flight after the soft time limit is over.
fn is_grace_over(draft: &DecisionDraft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.reached_time_limit);
    let times = draft.settings().and_then(|settings| settings.times).unwrap_or_default();
    up.is_some_and(|up| draft.at >= up.at.plus_ms(times.grace_ms))
}

/// Returns whether a cancel has waited long enough for a human who was asked about unknown effects,
/// or for cancelled child runs.
fn is_cancel_wait_over(draft: &DecisionDraft<'_>) -> bool {
    let Some(run) = draft.run() else { return false };
    let since = run.stop_request.map(|stop| stop.at).or(run.reached_time_limit.map(|up| up.at));
    since.is_some_and(|since| draft.at >= since.plus_ms(draft.limits().cancel_wait_ms))
}
