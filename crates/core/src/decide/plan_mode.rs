//! Plan mode: the model presents its plan by a call, and a human approves it or requests changes.

use std::sync::Arc;

use super::draft::DecisionDraft;
use crate::call::outcome::CallResult;
use crate::log::ids::CallId;
use crate::log::inbox::HumanAnswer;
use crate::log::record::Record;
use crate::message::prompt_texts;
use crate::permission::PermissionMode;
use crate::run::question::QuestionKind;

/// Asks a human to approve the plan.
pub(super) fn present_plan(draft: &mut DecisionDraft<'_>, id: CallId) {
    let limit = draft.result_char_limit();
    let mode = draft.settings().map(|settings| settings.rules.mode);
    let Some(plan) = draft.call(id).map(|call| plan_text(call.tool_use.input.text())) else {
        return;
    };
    if mode != Some(PermissionMode::Plan) {
        draft.finalize_result(id, CallResult::from_human(prompt_texts::PLAN_MODE_IS_OFF, limit));
    } else if draft.is_human_available() {
        draft.ask_question(QuestionKind::Plan { call: id, plan });
    } else {
        draft.finalize_result(id, CallResult::from_denial(prompt_texts::NO_PLAN_APPROVER));
    }
}

/// Returns the plan as it is written in the call; the whole input if the plan field is missing.
fn plan_text(input: &str) -> Arc<str> {
    let value: Option<serde_json::Value> = serde_json::from_str(input).ok();
    let plan = value.as_ref().and_then(|value| value.get("plan")?.as_str());
    Arc::from(plan.unwrap_or(input))
}

/// Handles the answer of a human who approved the plan or requested changes.
pub(super) fn on_plan_answer(draft: &mut DecisionDraft<'_>, call: CallId, answer: &HumanAnswer) {
    let limit = draft.result_char_limit();
    let (mode, text) = match answer {
        HumanAnswer::Allow { .. } => (PermissionMode::Default, prompt_texts::PLAN_APPROVED),
        HumanAnswer::Continue {} => {
            (PermissionMode::AcceptEdits, prompt_texts::PLAN_APPROVED_WITH_EDITS)
        }
        HumanAnswer::Deny { reason, .. } => {
            return draft.finalize_result(
                call,
                CallResult::from_denial(&prompt_texts::plan_rejected(reason)),
            );
        }
        HumanAnswer::Retry {}
        | HumanAnswer::MarkDone { .. }
        | HumanAnswer::Abandon {}
        | HumanAnswer::Text { .. } => {
            return;
        }
    };
    draft.record(Record::ModeChanged { mode });
    draft.finalize_result(call, CallResult::from_human(text, limit));
}
