//! Hooks around a call: what one said before it is judged, and after it came back.

use super::calls::{self, judge, settle};
use super::draft::Draft;
use crate::call::CallState;
use crate::ids::CallId;
use crate::input::HookAnswer;
use crate::outcome::{Outcome, OutcomeKind, Shown, ToolError};
use crate::permission::{Lean, Verdict};
use crate::record::Record;

/// A hook answered.
pub(super) fn answered(draft: &mut Draft<'_>, id: CallId, answer: &HookAnswer, has_context: bool) {
    let Some(call) = draft.call(id) else { return };
    match call.state {
        CallState::BeforeHook => before(draft, id, answer),
        CallState::AfterHook(_) => after(draft, id, answer),
        CallState::Unjudged
        | CallState::Referred
        | CallState::Questioned(_)
        | CallState::Away(_)
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::Resting { .. }
        | CallState::Lost
        | CallState::Settled(_) => return,
    }
    if has_context {
        draft.record(Record::ContextAdded {});
    }
    calls::advance(draft);
}

fn before(draft: &mut Draft<'_>, id: CallId, answer: &HookAnswer) {
    match answer {
        HookAnswer::Pass {} => judge(draft, id, Lean::Neutral),
        HookAnswer::Allow {} => judge(draft, id, Lean::Allow),
        HookAnswer::Ask {} => judge(draft, id, Lean::Ask),
        HookAnswer::Deny { reason } => {
            let verdict = Verdict::Deny { reason: reason.clone() };
            draft.record(Record::Judged { call: id, verdict });
            settle(draft, id, Shown::denied(reason));
        }
        HookAnswer::Change { lean, .. } => {
            draft.record(Record::InputChanged { call: id });
            judge(draft, id, *lean);
        }
    }
}

fn after(draft: &mut Draft<'_>, id: CallId, answer: &HookAnswer) {
    let limit = draft.result_chars();
    match answer {
        HookAnswer::Pass {} | HookAnswer::Allow {} | HookAnswer::Ask {} => {
            calls::settle_completed(draft, id);
        }
        HookAnswer::Deny { reason } => {
            let hint = "the call ran; a hook rejected its result";
            let error = ToolError::new("hook_rejected", reason, hint);
            settle(draft, id, Shown::error(OutcomeKind::Failed, &error, limit));
        }
        HookAnswer::Change { input, .. } => {
            let reach = calls::reach(draft, id);
            settle(draft, id, Shown::of(&Outcome::Done(input.clone()), limit, reach));
        }
    }
}
