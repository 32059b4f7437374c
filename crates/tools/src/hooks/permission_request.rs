//! Hooks that decide about a call before a person is asked.

use serde_json::Value;
use windlass_core::call::call_state::Call;
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
        let tool = &call.tool_use.name;
        let outputs = self.run_hooks(HookEvent::PermissionRequest, tool, context, more).await;
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
}
