//! Changes of permissions, as the SDKs describe them.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use windlass::core::permission::{PermissionRule, PermissionUpdate, RuleBehavior};

use crate::config::claude::permission_settings;

#[cfg(test)]
#[path = "permission_updates_tests.rs"]
mod permission_updates_tests;

/// Reads changes of permissions. What cannot be understood is left out: the call was approved
/// anyway, and a rule that is not kept asks again.
pub(super) fn read_updates(updates: Option<&Value>, workspace: &Path) -> Vec<PermissionUpdate> {
    let updates = updates.and_then(Value::as_array).into_iter().flatten();
    updates.filter_map(|update| read_update(update, workspace)).collect()
}

fn read_update(update: &Value, workspace: &Path) -> Option<PermissionUpdate> {
    let kind = update.get("type").and_then(Value::as_str)?;
    match kind {
        "setMode" => {
            let mode = update.get("mode").and_then(Value::as_str)?;
            let mode = permission_settings::parse_mode(mode).ok()?;
            Some(PermissionUpdate::SetMode { mode })
        }
        "addRules" => read_rules(update)
            .map(|(behavior, rules)| PermissionUpdate::AddRules { behavior, rules }),
        "replaceRules" => read_rules(update)
            .map(|(behavior, rules)| PermissionUpdate::ReplaceRules { behavior, rules }),
        "removeRules" => read_rules(update)
            .map(|(behavior, rules)| PermissionUpdate::RemoveRules { behavior, rules }),
        "addDirectories" => {
            Some(PermissionUpdate::AddFolders { folders: read_folders(update, workspace) })
        }
        "removeDirectories" => {
            Some(PermissionUpdate::RemoveFolders { folders: read_folders(update, workspace) })
        }
        _ => None,
    }
}

fn read_rules(update: &Value) -> Option<(RuleBehavior, Vec<PermissionRule>)> {
    let behavior = match update.get("behavior").and_then(Value::as_str) {
        Some("allow") => RuleBehavior::Allow,
        Some("deny") => RuleBehavior::Deny,
        Some("ask") => RuleBehavior::Ask,
        Some(_) | None => return None,
    };
    let rules = update.get("rules").and_then(Value::as_array).into_iter().flatten();
    Some((behavior, rules.filter_map(read_rule).collect()))
}

fn read_rule(rule: &Value) -> Option<PermissionRule> {
    let tool = rule.get("toolName").and_then(Value::as_str)?;
    let text = match rule.get("ruleContent").and_then(Value::as_str) {
        Some(scope) if !scope.is_empty() => format!("{tool}({scope})"),
        Some(_) | None => tool.to_owned(),
    };
    permission_settings::parse_rule(&text).ok()
}

fn read_folders(update: &Value, workspace: &Path) -> Vec<Arc<str>> {
    let folders = update.get("directories").and_then(Value::as_array).into_iter().flatten();
    let absolute = |folder: &str| Arc::from(workspace.join(folder).to_string_lossy());
    folders.filter_map(Value::as_str).map(absolute).collect()
}
