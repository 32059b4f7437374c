//! Tool hooks: the response of a hook before a call is authorised, and after it returned.

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
) -> NextStep {
    let Some(call) = draft.call(id) else { return NextStep::Wait };
    match call.state {
        CallState::AwaitingPreHook => on_pre_hook(draft, id, answer),
        CallState::AwaitingPostHook(_) => on_post_hook(draft, id, answer),
        CallState::AwaitingPermission
        | CallState::AwaitingClassifier
        | CallState::AwaitingHuman(_)
        | CallState::AwaitingChildren(_)
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::AwaitingRetry { .. }
        | CallState::Lost
        | CallState::Finished(_) => return NextStep::Wait,
    }
    if has_context {
        draft.record(Record::HookContextAdded {});
    }
    NextStep::AdvanceRound
}

fn on_pre_hook(draft: &mut DecisionDraft<'_>, id: CallId, answer: &HookDecision) {
    match answer {
        HookDecision::Pass {} => authorize_call(draft, id, HookPreference::Neutral),
        HookDecision::Allow {} => authorize_call(draft, id, HookPreference::Allow),
        HookDecision::Ask {} => authorize_call(draft, id, HookPreference::Ask),
        HookDecision::Deny { reason } => {
            let verdict = PermissionDecision::deny(DenialSource::Hook, reason);
            draft.record(Record::PermissionDecided { call: id, verdict });
            draft.finalize_result(id, CallResult::from_denial(reason));
        }
        HookDecision::Change { preference, .. } => {
            draft.record(Record::CallInputChanged { call: id });
            authorize_call(draft, id, *preference);
        }
    }
}

fn on_post_hook(draft: &mut DecisionDraft<'_>, id: CallId, answer: &HookDecision) {
    let limit = draft.result_char_limit();
    match answer {
        HookDecision::Pass {} | HookDecision::Allow {} | HookDecision::Ask {} => {
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
