//! The request `can_use_tool`: what the program learns about a call before it decides.

use serde_json::{Map, Value, json};
use windlass::core::call::call_state::{AskReason, Call};
use windlass::core::log::ids::LaneId;
use windlass::core::permission::{
    CallEffect, CallSubject, HookPreference, PathAccess, PathUse, PathZone, PermissionMode,
    PermissionQuery, PermissionRule, suggest_rule,
};
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use crate::messages;

/// A call that needs an answer of the program.
pub(super) struct PermissionRequest {
    call: Call,
    input: Value,
    suggestions: Value,
    fields: Map<String, Value>,
    is_uncertain: bool,
}

impl PermissionRequest {
    /// Describes the call that a question is about; `None` if it is about no call of the run.
    pub(super) fn new(lane: &LaneId, now: &Conversation, question: &Question) -> Option<Self> {
        let call = now.call(question.kind.call()?)?.clone();
        let input: Value = call.tool_use.input.read().unwrap_or_default();
        let is_uncertain = matches!(question.kind, QuestionKind::Uncertain { .. });
        let suggestions = match question.kind {
            // A hook that wants to be asked every time is not to be silenced by a rule.
            QuestionKind::Approval { .. }
                if !call.ask_reason.as_ref().is_some_and(AskReason::is_hook) =>
            {
                suggested_updates(now, &call)
            }
            _ => Value::Array(Vec::new()),
        };
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| _ = fields.insert(name.to_owned(), value);
        put("tool_name", json!(call.tool_use.name));
        put("display_name", json!(call.tool_use.name));
        put("tool_use_id", json!(call.tool_use.id));
        put("input", input.clone());
        put("title", json!(messages::question_text(&question.kind, now)));
        put("permission_suggestions", suggestions.clone());
        if let Some(path) = path_outside(&call.facts.subject) {
            put("blocked_path", json!(path));
        }
        if let Some(ask) = &call.ask_reason {
            let kind = if ask.is_hook() { "hook" } else { "rule" };
            put("decision_reason", json!(ask.reason.as_ref().unwrap_or(&ask.by)));
            put("decision_reason_type", json!(kind));
        }
        if is_uncertain {
            put("decision_reason", json!(uncertain_reason(&call.tool_use.name)));
            put("decision_reason_type", json!("other"));
        }
        if now.parent.is_some() {
            put("agent_id", json!(lane.session_id()));
        }
        Some(Self { call, input, suggestions, fields, is_uncertain })
    }

    pub(super) fn call(&self) -> &Call {
        &self.call
    }

    /// The input of the call.
    pub(super) fn input(&self) -> &Value {
        &self.input
    }

    /// The changes of permissions that would allow the same call from now on.
    pub(super) fn suggestions(&self) -> &Value {
        &self.suggestions
    }

    pub(super) fn to_json(&self) -> Value {
        let mut request = self.fields.clone();
        request.insert("subtype".to_owned(), json!("can_use_tool"));
        Value::Object(request)
    }

    /// Why the call is denied if no program answers.
    pub(super) fn no_host_message(&self) -> String {
        let tool = &self.call.tool_use.name;
        match self.is_uncertain {
            true => format!(
                "{}; no one is available to decide, so it was not run again",
                uncertain_reason(tool)
            ),
            false => format!("{tool} requires approval, and no one is available to approve it"),
        }
    }

    /// Why the call is denied if the program closed its end of the channel.
    pub(super) fn closed_message(&self) -> String {
        let tool = &self.call.tool_use.name;
        match self.is_uncertain {
            true => self.no_host_message(),
            false => {
                format!("{tool} requires approval, and the program that approves calls is gone")
            }
        }
    }
}

fn uncertain_reason(tool: &str) -> String {
    format!(
        "{tool} was running when its process was interrupted, and it is not known whether it took effect; \
         allow runs it again, deny leaves it as it is"
    )
}

/// The changes of permissions with which the program can allow such calls from now on.
fn suggested_updates(now: &Conversation, call: &Call) -> Value {
    if is_edit_in_workspace(&call.facts.subject) {
        let mode = PermissionMode::AcceptEdits;
        return json!([{"type": "setMode", "mode": mode, "destination": "session"}]);
    }
    match suggested_rule(now, call) {
        Some(rule) => json!([{
            "type": "addRules",
            "rules": [rule_value(&rule)],
            "behavior": "allow",
            "destination": "session",
        }]),
        None => Value::Array(Vec::new()),
    }
}

fn suggested_rule(now: &Conversation, call: &Call) -> Option<PermissionRule> {
    let query = PermissionQuery {
        tool: &call.tool_use.name,
        subject: &call.facts.subject,
        effect: CallEffect::MayChange,
        preference: HookPreference::Neutral,
        grants: &now.grants,
    };
    suggest_rule(&now.settings.as_ref()?.rules, query)
}

/// A rule as the SDKs write it: the tool, and what is in the brackets.
fn rule_value(rule: &PermissionRule) -> Value {
    let text = rule.text();
    match text.split_once('(') {
        Some((tool, scope)) => {
            json!({"toolName": tool, "ruleContent": scope.strip_suffix(')').unwrap_or(scope)})
        }
        None => json!({"toolName": text}),
    }
}

fn is_edit_in_workspace(subject: &CallSubject) -> bool {
    let is_edit = |used: &PathUse| used.zone == PathZone::Workspace;
    match subject {
        CallSubject::Paths(paths) => {
            !paths.is_empty()
                && paths.iter().all(is_edit)
                && paths.iter().any(|used| used.access == PathAccess::Write)
        }
        CallSubject::Nothing | CallSubject::Domain(_) | CallSubject::Shell(_) => false,
    }
}

/// The first path outside of the workspace that a call uses.
fn path_outside(subject: &CallSubject) -> Option<&str> {
    if let Some(added) = subject.added_access().and_then(|added| added.write.first()) {
        return Some(added);
    }
    let paths: Vec<&PathUse> = match subject {
        CallSubject::Paths(paths) => paths.iter().collect(),
        CallSubject::Shell(shell) => {
            shell.writes.iter().chain(&shell.redirects).chain(&shell.reads).collect()
        }
        CallSubject::Nothing | CallSubject::Domain(_) => Vec::new(),
    };
    paths.into_iter().find(|used| used.zone != PathZone::Workspace).map(|used| &*used.path)
}
