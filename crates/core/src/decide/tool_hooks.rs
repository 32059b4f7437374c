//! Tool hooks: the response of a hook before a call is authorised, and after it returned.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::next_step::NextStep;
use super::tool_calls::{self, authorize_call};
use crate::call::call_state::CallState;
use crate::call::outcome::{CallResult, OutcomeKind, ToolError, ToolOutcome};
use crate::log::ids::CallId;
use crate::log::input::HookDecision;
use crate::log::record::Record;
use crate::permission::{DenialSource, HookPreference, PermissionDecision};

/// Handles the response of a hook.
pub(super) fn on_hook_responded(
    draft: &mut DecisionDraft<'_>,
    id: CallId,
    answer: &HookDecision,
    has_context: bool,
    stop: Option<&Arc<str>>,
) -> NextStep {
    let Some(point) = draft.call(id).and_then(|call| awaited_hook(&call.state)) else {
        return NextStep::Wait;
    };
    if let Some(reason) = stop {
        draft.record(Record::HookStopRequested { call: id, reason: reason.clone() });
    }
    match point {
        // Nothing runs any more: the call gets its result with the others that did not run.
        AwaitedHook::Pre if stop.is_some() && !prevents_call(answer) => {}
        AwaitedHook::Pre => on_pre_hook(draft, id, answer),
        AwaitedHook::Post => on_post_hook(draft, id, answer),
    }
    if has_context {
        draft.record(Record::HookContextAdded {});
    }
    NextStep::AdvanceRound
}

/// The hook that a call waits for.
enum AwaitedHook {
    /// The one before the call.
    Pre,
    /// The one after it.
    Post,
}

fn awaited_hook(state: &CallState) -> Option<AwaitedHook> {
    match state {
        CallState::AwaitingPreHook => Some(AwaitedHook::Pre),
        CallState::AwaitingPostHook(_) => Some(AwaitedHook::Post),
        CallState::AwaitingPermission
        | CallState::AwaitingClassifier
        | CallState::AwaitingHuman(_)
        | CallState::AwaitingChildren(_)
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::AwaitingRetry { .. }
        | CallState::Lost
        | CallState::Finished(_) => None,
    }
}

/// Returns whether the call does not run because of this decision.
fn prevents_call(decision: &HookDecision) -> bool {
    match decision {
        HookDecision::Deny { .. } | HookDecision::Defer {} => true,
        HookDecision::Pass {}
        | HookDecision::Allow {}
        | HookDecision::Ask { .. }
        | HookDecision::Change { .. } => false,
    }
}

fn on_pre_hook(draft: &mut DecisionDraft<'_>, id: CallId, answer: &HookDecision) {
    match answer {
        HookDecision::Pass {} => authorize_call(draft, id, HookPreference::Neutral, None),
        HookDecision::Allow {} => authorize_call(draft, id, HookPreference::Allow, None),
        HookDecision::Ask { reason } => {
            authorize_call(draft, id, HookPreference::Ask, reason.clone());
        }
        HookDecision::Deny { reason } => {
            let verdict = PermissionDecision::deny(DenialSource::Hook, reason);
            draft.record(Record::PermissionDecided { call: id, verdict });
            draft.finalize_result(id, CallResult::from_denial(reason));
        }
        HookDecision::Change { preference, reason, .. } => {
            draft.record(Record::CallInputChanged { call: id, message: None });
            authorize_call(draft, id, *preference, reason.clone());
        }
        HookDecision::Defer {} => draft.finalize_result(id, CallResult::from_deferral()),
    }
}

fn on_post_hook(draft: &mut DecisionDraft<'_>, id: CallId, answer: &HookDecision) {
    let limit = draft.result_char_limit();
    match answer {
        HookDecision::Pass {}
        | HookDecision::Allow {}
        | HookDecision::Ask { .. }
        | HookDecision::Defer {} => {
            tool_calls::finalize_returned(draft, id);
        }
        HookDecision::Deny { reason } => {
            let hint = "the call ran; a hook rejected its result";
            let error = ToolError::new("hook_rejected", reason, hint);
            draft.finalize_result(id, CallResult::from_error(OutcomeKind::Failed, &error, limit));
        }
        HookDecision::Change { input, .. } => {
            let reach = tool_calls::side_effects_of(draft, id);
            draft.finalize_result(
                id,
                CallResult::from_outcome(&ToolOutcome::Done(input.clone()), limit, reach),
            );
        }
    }
}
