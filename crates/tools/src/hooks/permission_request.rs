//! Hooks that decide about a call before a person is asked, and what becomes of questions that no
//! one answers.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::call::call_state::Call;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{HumanAvailability, PermissionDecision};
use windlass_core::run::question::{Question, QuestionKind};
use windlass_runtime::ports::HookContext;

use super::callbacks::PermissionHookDecision;
use super::config::HookEvent;
use super::{CommandHooks, payload};

impl CommandHooks {
    /// Asks the hooks whether a call that needs approval may run, before a person is asked. A
    /// denial overrides an approval.
    pub async fn decide_permission(
        &self,
        context: &HookContext,
        call: &Call,
        suggestions: Value,
    ) -> Option<PermissionHookDecision> {
        let mut more = payload::call_fields(call);
        if let Some(fields) = more.as_object_mut() {
            fields.insert("permission_suggestions".to_owned(), suggestions);
        }
        let event = HookEvent::PermissionRequest;
        let outputs = self.run_call_hooks(event, call, context, more).await;
        let mut decisions: Vec<PermissionHookDecision> = outputs
            .into_iter()
            .filter_map(|mut output| output.take_permission_decision())
            .collect();
        let is_denial = |decision: &PermissionHookDecision| {
            matches!(decision, PermissionHookDecision::Deny { .. })
        };
        let at = decisions.iter().position(is_denial).unwrap_or(0);
        (at < decisions.len()).then(|| decisions.swap_remove(at))
    }

    /// Returns whether a hook is asked before a person approves a call.
    #[must_use]
    pub fn decides_permissions(&self) -> bool {
        self.config.has_hooks(HookEvent::PermissionRequest)
    }

    /// Returns whether a question may be answered here. Functions of a program are called by what
    /// connects the program.
    pub(super) fn may_answer(&self, question: &Question) -> bool {
        self.runner.callbacks.is_none()
            && self.decides_permissions()
            && !matches!(question.kind, QuestionKind::Uncertain { .. })
    }

    pub(super) async fn answer_question(
        &self,
        context: HookContext,
        question: Question,
    ) -> Option<HumanAnswer> {
        let call = question.kind.call().and_then(|id| context.conversation.call(id)).cloned();
        if let (QuestionKind::Approval { .. }, Some(call)) = (&question.kind, &call)
            && let Some(decision) = self.decide_permission(&context, call, json!([])).await
        {
            return Some(to_answer(decision, call));
        }
        let settings = context.conversation.settings.as_ref();
        match settings.map(|settings| settings.rules.human) {
            Some(HumanAvailability::HooksOnly) => denial(&question.kind, call.as_ref()),
            Some(HumanAvailability::Available | HumanAvailability::Absent) | None => None,
        }
    }
}

fn to_answer(decision: PermissionHookDecision, call: &Call) -> HumanAnswer {
    match decision {
        PermissionHookDecision::Allow { input, permissions: _ } => {
            let changed = input.map(|input| RawJson::encode(&input));
            match changed.filter(|input| *input != call.tool_use.input) {
                Some(input) => HumanAnswer::allow().with_changed_input(input),
                None => HumanAnswer::allow(),
            }
        }
        PermissionHookDecision::Deny { reason, interrupt: false } => HumanAnswer::deny(reason),
        PermissionHookDecision::Deny { reason, interrupt: true } => {
            HumanAnswer::deny_and_interrupt(reason)
        }
    }
}

/// What follows without a human. Whether an interrupted call took effect, and whether a run may
/// continue with other tools, waits for one nevertheless.
fn denial(kind: &QuestionKind, call: Option<&Call>) -> Option<HumanAnswer> {
    match kind {
        QuestionKind::Approval { .. } => {
            let tool = call.map(|call| &*call.tool_use.name).unwrap_or_default();
            let human = HumanAvailability::Absent;
            match PermissionDecision::ask_or_deny(tool, Arc::from("hook"), human) {
                PermissionDecision::Deny { reason, .. } => Some(HumanAnswer::deny(reason)),
                _ => None,
            }
        }
        QuestionKind::ModelQuestion { .. }
        | QuestionKind::ToolRequest { .. }
        | QuestionKind::Plan { .. } => {
            Some(HumanAnswer::deny("no one is available to answer; decide yourself or stop"))
        }
        QuestionKind::Guidance { .. } | QuestionKind::Budget { .. } => {
            Some(HumanAnswer::Abandon {})
        }
        QuestionKind::Uncertain { .. } | QuestionKind::PromptChanged { .. } => None,
    }
}
