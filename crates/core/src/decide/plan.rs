//! Plan mode: the model presents its plan by a call, and a person approves it or has it changed.

use std::sync::Arc;

use super::calls;
use super::draft::Draft;
use super::person;
use crate::ids::CallId;
use crate::mail::Answer;
use crate::outcome::Shown;
use crate::permission::Mode;
use crate::question::About;
use crate::record::Record;
use crate::words;

/// Puts the plan before a person.
pub(super) fn present(draft: &mut Draft<'_>, id: CallId) {
    let limit = draft.result_chars();
    let mode = draft.settings().map(|settings| settings.rules.mode);
    let Some(plan) = draft.call(id).map(|call| plan_text(call.tool_use.input.text())) else {
        return;
    };
    if mode != Some(Mode::Plan) {
        calls::settle(draft, id, Shown::answered(words::NOT_PLANNING, limit));
    } else if person::is_reachable(draft) {
        calls::question(draft, About::Plan { call: id, plan });
    } else {
        calls::settle(draft, id, Shown::denied(words::PLAN_UNSEEN));
    }
}

/// The plan as it is written in the call; the whole input if it is not where it belongs.
fn plan_text(input: &str) -> Arc<str> {
    let value: Option<serde_json::Value> = serde_json::from_str(input).ok();
    let plan = value.as_ref().and_then(|value| value.get("plan")?.as_str());
    Arc::from(plan.unwrap_or(input))
}

/// A person approved the plan, or wants it changed.
pub(super) fn answered(draft: &mut Draft<'_>, call: CallId, answer: &Answer) {
    let limit = draft.result_chars();
    let (mode, said) = match answer {
        Answer::Allow { .. } => (Mode::Default, words::PLAN_APPROVED),
        Answer::Continue {} => (Mode::AcceptEdits, words::PLAN_APPROVED_WITH_EDITS),
        Answer::Deny { reason } => {
            return calls::settle(draft, call, Shown::denied(&words::plan_rejected(reason)));
        }
        Answer::Retry {} | Answer::MarkDone { .. } | Answer::Abandon {} | Answer::Text { .. } => {
            return;
        }
    };
    draft.record(Record::ModeChanged { mode });
    calls::settle(draft, call, Shown::answered(said, limit));
}
