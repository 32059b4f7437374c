//! Whether settings mean what their author thinks. A run and `doctor` ask this one function.
//!
//! An error: a wrong type, a name so close to a known one that it is a slip, and a deny or ask rule
//! for a tool that does not exist, because it would hold nothing back. Names that other agents know
//! are accepted without effect. Everything else that is unknown is a warning.

use std::path::Path;

use serde_json::{Map, Value};
use windlass::tools::{HookConfig, IgnoredHook, nearest_name};

use super::known_names::{
    ELSEWHERE_PERMISSIONS, ELSEWHERE_SETTINGS, ELSEWHERE_TOOLS, PERMISSIONS, SETTINGS,
};
use super::{rules, sources::Source};
use crate::toolset;

/// What was found in settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SettingsFindings {
    /// What must be fixed before anything runs.
    pub(crate) errors: Vec<String>,
    /// Unknown names, which have no effect.
    pub(crate) warnings: Vec<String>,
    /// What other agents know and this program does not yet.
    pub(crate) without_effect: Vec<String>,
}

/// What a list of rules does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleList {
    /// Lets calls run without asking.
    Allow,
    /// Asks about calls, or forbids them.
    HoldBack,
}

/// Checks one settings file.
pub(crate) fn check(table: &Map<String, Value>) -> SettingsFindings {
    let mut findings = SettingsFindings::default();
    for name in table.keys() {
        findings.name("setting", name, &SETTINGS, ELSEWHERE_SETTINGS);
    }
    findings.types(table);
    if !findings.errors.is_empty() {
        return findings;
    }
    let source: Source = match serde_json::from_value(Value::Object(table.clone())) {
        Ok(source) => source,
        Err(error) => {
            findings.errors.push(format!("{error}; fix it"));
            return findings;
        }
    };
    let permissions = table.get("permissions").and_then(Value::as_object);
    for name in permissions.into_iter().flat_map(Map::keys) {
        findings.name("permissions setting", name, &PERMISSIONS, ELSEWHERE_PERMISSIONS);
    }
    findings.rules(&source.permissions.allow, RuleList::Allow);
    findings.rules(&source.permissions.ask, RuleList::HoldBack);
    findings.rules(&source.permissions.deny, RuleList::HoldBack);
    if let Some(Err(error)) = source.permissions.default_mode.as_deref().map(rules::read_mode) {
        findings.errors.push(error.to_string());
    }
    if !source.hooks.is_null() {
        findings.hooks(&source.hooks);
    }
    findings
}

impl SettingsFindings {
    /// Takes what was found in a file.
    pub(super) fn extend_in(&mut self, file: &Path, found: Self) {
        let at = |text: String| format!("{} {text}", file.display());
        self.errors.extend(found.errors.into_iter().map(at));
        self.warnings.extend(found.warnings.into_iter().map(at));
        self.without_effect.extend(found.without_effect);
    }

    /// Judges the types of what counts here.
    fn types(&mut self, table: &Map<String, Value>) {
        let mut wrong = |name: &str, what: &str| {
            self.errors.push(format!("`{name}` must be {what}; fix it"));
        };
        if table.get("model").is_some_and(|model| !model.is_string()) {
            wrong("model", "a text");
        }
        if table.get("disableAllHooks").is_some_and(|value| !value.is_boolean()) {
            wrong("disableAllHooks", "true or false");
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

    /// Judges a name that may be known here, elsewhere, or nowhere.
    pub(super) fn name(&mut self, what: &str, name: &str, known: &[&str], elsewhere: &[&str]) {
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

    /// Judges rules.
    pub(crate) fn rules(&mut self, rules: &[String], list: RuleList) {
        for text in rules {
            if let Err(error) = rules::parse(text) {
                self.errors.push(error.to_string());
                continue;
            }
            let tool = rules::tool_of(text);
            if tool.contains('*') && text.contains('(') {
                // What stands in the brackets means something else for each tool.
                self.errors.push(format!(
                    "the rule `{text}` has brackets behind a pattern of tools and would cover \
                     nothing; write one rule for each tool"
                ));
                continue;
            }
            self.tool(text, tool, list);
        }
    }

    fn tool(&mut self, rule: &str, tool: &str, list: RuleList) {
        let known = toolset::every_name;
        let is_pattern = tool.contains('*') || tool.starts_with("mcp__");
        if known().any(|name| name == tool) || (is_pattern && !tool.starts_with("mcp__")) {
        } else if is_pattern || ELSEWHERE_TOOLS.contains(&tool) {
            self.without_effect.push(format!("rule {rule}"));
        } else {
            let near = nearest_name(tool, known().chain(ELSEWHERE_TOOLS.iter().copied()));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let unknown = format!("the rule `{rule}` names the unknown tool `{tool}`");
            match list {
                RuleList::Allow if near.is_empty() => {
                    self.warnings.push(format!("{unknown}; it has no effect"));
                }
                RuleList::HoldBack if near.is_empty() => {
                    let tools = known().collect::<Vec<_>>().join(", ");
                    let why = "it would hold nothing back";
                    self.errors.push(format!("{unknown}, so {why}; the tools are {tools}"));
                }
                RuleList::Allow | RuleList::HoldBack => self.errors.push(unknown + &near),
            }
        }
    }

    fn hooks(&mut self, hooks: &Value) {
        match HookConfig::parse(&hooks.to_string()) {
            Err(error) => self.errors.push(error.to_string()),
            Ok(config) => {
                config.ignored().iter().for_each(|ignored| self.ignored_hook(ignored));
                config.tools().iter().for_each(|tool| self.matcher(tool));
            }
        }
    }

    fn ignored_hook(&mut self, ignored: &IgnoredHook) {
        match ignored {
            IgnoredHook::Elsewhere(what) => self.without_effect.push(what.clone()),
            IgnoredHook::Unknown(what) => {
                self.warnings.push(format!("unknown {what}; it has no effect"));
            }
        }
    }

    /// Judges a tool that a matcher of hooks names. Servers bring tools of their own.
    fn matcher(&mut self, tool: &str) {
        if !tool.starts_with("mcp__") {
            let known: Vec<&str> = toolset::every_name().chain(["Task"]).collect();
            self.name("tool in the matcher of a hook:", tool, &known, ELSEWHERE_TOOLS);
        }
    }
}
