//! Checks settings for mistakes. Runs and `doctor` use the same function.
//!
//! An error: a wrong type, a name so close to a known one that it is a typing error, and a deny or
//! ask rule for a tool that does not exist, because it would restrict nothing. Names that other
//! agents know are accepted without effect. Every other unknown name is a warning.

use std::path::Path;

use serde_json::{Map, Value};
use windlass::tools::{HookConfig, IgnoredHook, nearest_name};

use crate::config::claude::known_settings::{
    CLAUDE_CODE_PERMISSIONS, CLAUDE_CODE_SANDBOX, CLAUDE_CODE_SETTINGS, CLAUDE_CODE_TOOLS,
    OWN_PERMISSIONS, OWN_SANDBOX, OWN_SETTINGS,
};
use crate::config::claude::permission_settings;
use crate::config::claude::settings_sources::SettingsSource;
use crate::toolset;

/// The findings in settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SettingsFindings {
    /// Errors, which must be fixed before anything runs.
    pub(crate) errors: Vec<String>,
    /// Unknown names, which have no effect.
    pub(crate) warnings: Vec<String>,
    /// Names that other agents know and this program does not support yet.
    pub(crate) without_effect: Vec<String>,
}

/// The effect of a list of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleListKind {
    /// Allows calls without a question.
    Allow,
    /// Asks about calls, or denies them.
    Restrict,
}

/// Checks one settings file.
pub(crate) fn check_settings(table: &Map<String, Value>) -> SettingsFindings {
    let mut findings = SettingsFindings::default();
    for name in table.keys() {
        findings.check_name("setting", name, &OWN_SETTINGS, CLAUDE_CODE_SETTINGS);
    }
    findings.check_types(table);
    if !findings.errors.is_empty() {
        return findings;
    }
    let source: SettingsSource = match serde_json::from_value(Value::Object(table.clone())) {
        Ok(source) => source,
        Err(error) => {
            findings.errors.push(format!("{error}; fix it"));
            return findings;
        }
    };
    let permissions = table.get("permissions").and_then(Value::as_object);
    for name in permissions.into_iter().flat_map(Map::keys) {
        findings.check_name("permissions setting", name, &OWN_PERMISSIONS, CLAUDE_CODE_PERMISSIONS);
    }
    let sandbox = table.get("sandbox").and_then(Value::as_object);
    for name in sandbox.into_iter().flat_map(Map::keys) {
        findings.check_name("sandbox setting", name, &OWN_SANDBOX, CLAUDE_CODE_SANDBOX);
    }
    findings.check_rules(&source.permissions.allow, RuleListKind::Allow);
    findings.check_rules(&source.permissions.ask, RuleListKind::Restrict);
    findings.check_rules(&source.permissions.deny, RuleListKind::Restrict);
    if let Some(Err(error)) =
        source.permissions.default_mode.as_deref().map(permission_settings::parse_mode)
    {
        findings.errors.push(error.to_string());
    }
    if !source.hooks.is_null() {
        findings.check_hooks(&source.hooks);
    }
    findings
}

impl SettingsFindings {
    /// Adds the findings of a file.
    pub(super) fn extend_in(&mut self, file: &Path, found: Self) {
        let at = |text: String| format!("{} {text}", file.display());
        self.errors.extend(found.errors.into_iter().map(at));
        self.warnings.extend(found.warnings.into_iter().map(at));
        self.without_effect.extend(found.without_effect);
    }

    /// Checks the types of settings that have an effect here.
    fn check_types(&mut self, table: &Map<String, Value>) {
        let mut wrong = |name: &str, what: &str| {
            self.errors.push(format!("`{name}` must be {what}; fix it"));
        };
        if table.get("model").is_some_and(|model| !model.is_string()) {
            wrong("model", "a text");
        }
        if table.get("outputStyle").is_some_and(|style| !style.is_string()) {
            wrong("outputStyle", "a text");
        }
        if table.get("disableAllHooks").is_some_and(|value| !value.is_boolean()) {
            wrong("disableAllHooks", "true or false");
        }
        match table.get("enabledPlugins") {
            Some(Value::Object(plugins)) => {
                for (name, _) in plugins.iter().filter(|(_, value)| !value.is_boolean()) {
                    wrong(&format!("enabledPlugins.{name}"), "true or false");
                }
            }
            Some(_) => wrong("enabledPlugins", "an object"),
            None => {}
        }
        match table.get("env") {
            Some(Value::Object(env)) => {
                for (name, _) in env.iter().filter(|(_, value)| !value.is_string()) {
                    wrong(&format!("env.{name}"), "a text");
                }
            }
            Some(_) => wrong("env", "an object"),
            None => {}
        }
        let permissions = match table.get("permissions") {
            Some(Value::Object(permissions)) => permissions,
            Some(_) => return wrong("permissions", "an object"),
            None => return,
        };
        let is_list =
            |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
        for name in ["allow", "ask", "deny", "additionalDirectories"] {
            if permissions.get(name).is_some_and(|value| !is_list(value)) {
                wrong(&format!("permissions.{name}"), "a list of texts");
            }
        }
        for name in ["defaultMode", "disableBypassPermissionsMode"] {
            if permissions.get(name).is_some_and(|value| !value.is_string()) {
                wrong(&format!("permissions.{name}"), "a text");
            }
        }
        let bypass = "disableBypassPermissionsMode";
        if permissions.get(bypass).is_some_and(|value| value.as_str() != Some("disable")) {
            wrong(&format!("permissions.{bypass}"), "`disable`");
        }
    }

    /// Checks a name that may be known here, to other agents, or not at all.
    pub(crate) fn check_name(
        &mut self,
        what: &str,
        name: &str,
        known: &[&str],
        elsewhere: &[&str],
    ) {
        let all = || known.iter().chain(elsewhere).copied();
        if known.contains(&name) {
        } else if elsewhere.contains(&name) {
            self.without_effect.push(format!("{what} {name}"));
        } else if let Some(near) = nearest_name(name, all()) {
            self.errors.push(format!("unknown {what} `{name}`; did you mean `{near}`?"));
        } else {
            self.warnings.push(format!("unknown {what} `{name}`; it has no effect"));
        }
    }

    /// Checks permission rules.
    pub(crate) fn check_rules(&mut self, rules: &[String], list: RuleListKind) {
        for text in rules {
            if let Err(error) = permission_settings::parse_rule(text) {
                self.errors.push(error.to_string());
                continue;
            }
            let tool = permission_settings::rule_tool(text);
            if tool.contains('*') && text.contains('(') {
                // The pattern in the brackets has a different meaning for each tool.
                self.errors.push(format!(
                    "the rule `{text}` has brackets behind a pattern of tools and would cover \
                     nothing; write one rule for each tool"
                ));
                continue;
            }
            self.check_tool(text, tool, list);
        }
    }

    fn check_tool(&mut self, rule: &str, tool: &str, list: RuleListKind) {
        let known = toolset::all_tool_names;
        // Tools of MCP servers are known when the servers are connected.
        let is_open = tool.contains('*') || tool.starts_with("mcp__");
        if is_open || known().any(|name| name == tool) {
        } else if CLAUDE_CODE_TOOLS.contains(&tool) {
            self.without_effect.push(format!("rule {rule}"));
        } else {
            let near = nearest_name(tool, known().chain(CLAUDE_CODE_TOOLS.iter().copied()));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let unknown = format!("the rule `{rule}` names the unknown tool `{tool}`");
            match list {
                RuleListKind::Allow if near.is_empty() => {
                    self.warnings.push(format!("{unknown}; it has no effect"));
                }
                RuleListKind::Restrict if near.is_empty() => {
                    let tools = known().collect::<Vec<_>>().join(", ");
                    let reason = "it would deny nothing";
                    self.errors.push(format!("{unknown}, so {reason}; the tools are {tools}"));
                }
                RuleListKind::Allow | RuleListKind::Restrict => self.errors.push(unknown + &near),
            }
        }
    }

    /// Checks the hooks of a settings file or of an agent.
    pub(super) fn check_hooks(&mut self, hooks: &Value) {
        match HookConfig::parse(&hooks.to_string()) {
            Err(error) => self.errors.push(error.to_string()),
            Ok(config) => {
                config.ignored_entries().iter().for_each(|ignored| self.add_ignored_hook(ignored));
                config.matched_tools().iter().for_each(|tool| self.check_matcher(tool));
            }
        }
    }

    fn add_ignored_hook(&mut self, ignored: &IgnoredHook) {
        match ignored {
            IgnoredHook::Unsupported(what) => self.without_effect.push(what.clone()),
            IgnoredHook::Unknown(what) => {
                self.warnings.push(format!("unknown {what}; it has no effect"));
            }
        }
    }

    /// Checks a tool that a matcher of hooks names. MCP servers bring tools of their own.
    fn check_matcher(&mut self, tool: &str) {
        if !tool.starts_with("mcp__") {
            let known: Vec<&str> =
                toolset::all_tool_names().chain(toolset::other_tool_names()).collect();
            self.check_name("tool in the matcher of a hook:", tool, &known, CLAUDE_CODE_TOOLS);
        }
    }
}
