//! Where the deny rules and hooks stand that refused calls. The log has their words and not their
//! files, so the settings are read as they are now.

use std::path::Path;

use serde_json::Value;
use windlass::messages::{CallDenial, FailedCall, RunFacts};

use crate::config::claude::settings_sources::{self, SettingsFile};
use crate::config::paths;
use crate::inspect::history::ConversationHistory;

/// Hooks that are named for one refusal.
const MAX_NAMED_HOOKS: usize = 3;

/// Adds the files of deny rules and hooks, as far as they can be found.
pub(crate) fn add_denial_sources(history: &ConversationHistory, facts: &mut RunFacts) {
    let is_found = |call: &FailedCall| call.denied_by.is_some();
    if !facts.failed_calls.iter().any(is_found) {
        return;
    }
    let settings = history.conversation.settings.as_ref();
    let folder = settings.map(|settings| settings.rules.root.to_string()).unwrap_or_default();
    let files = read_files(Path::new(&folder));
    for call in &mut facts.failed_calls {
        let tool = call.tool.clone();
        if let Some(denial) = &mut call.denied_by {
            denial.source = find_source(denial, &tool, &files);
        }
    }
}

/// The settings of the user and of the project. One that cannot be read names nothing.
fn read_files(folder: &Path) -> Vec<SettingsFile> {
    let mut files =
        settings_sources::user_settings().ok().flatten().into_iter().collect::<Vec<_>>();
    if !folder.as_os_str().is_empty() {
        files.extend(settings_sources::project_settings(folder, |_| false).unwrap_or_default());
    }
    files
}

fn find_source(denial: &CallDenial, tool: &str, files: &[SettingsFile]) -> Option<String> {
    match (denial.by.as_str(), &denial.rule) {
        ("rule", Some(rule)) => find_rule(rule, files),
        ("hook", _) => find_hooks(tool, files),
        _ => None,
    }
}

fn find_rule(rule: &str, files: &[SettingsFile]) -> Option<String> {
    let has_rule = |file: &&SettingsFile| {
        let denied = file.table.get("permissions").and_then(|table| table.get("deny"));
        denied.and_then(Value::as_array).into_iter().flatten().any(|it| it.as_str() == Some(rule))
    };
    if let Some(file) = files.iter().find(has_rule) {
        return Some(format!("the rule {rule} is in {}", file.location));
    }
    let config = paths::config_path()?;
    let text = std::fs::read_to_string(&config).ok()?;
    text.contains(rule).then(|| format!("the rule {rule} is in {}", config.display()))
}

fn find_hooks(tool: &str, files: &[SettingsFile]) -> Option<String> {
    let mut found = Vec::new();
    for file in files {
        let groups = file.table.get("hooks").and_then(|hooks| hooks.get("PreToolUse"));
        for group in groups.and_then(Value::as_array).into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
            if !matches_tool(matcher, tool) {
                continue;
            }
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            let commands = hooks.filter_map(|hook| hook.get("command")?.as_str());
            found.extend(commands.map(|command| format!("`{command}` in {}", file.location)));
        }
    }
    let hidden = found.len().saturating_sub(MAX_NAMED_HOOKS);
    found.truncate(MAX_NAMED_HOOKS);
    let rest = if hidden > 0 { format!(", and {hidden} more") } else { String::new() };
    match found.as_slice() {
        [] => None,
        [only] => Some(format!("the hook is {only}")),
        several => Some(format!("the hooks for {tool} are {}{rest}", several.join(", "))),
    }
}

/// Returns whether a matcher of hooks is about a tool: alternatives, each a name or a prefix.
fn matches_tool(matcher: &str, tool: &str) -> bool {
    matcher.is_empty()
        || matcher.split('|').map(str::trim).any(|part| {
            part == "*"
                || part == tool
                || part.strip_suffix(".*").is_some_and(|it| tool.starts_with(it))
        })
}
