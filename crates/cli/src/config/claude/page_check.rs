//! Checks the front matter of agent files, command pages and output styles by the rules for settings: a misspelled
//! name is an error, an unknown one a warning. Runs and `doctor` use the same check.

use crate::config::claude::front_matter::{Field, Form, MarkdownPage};
use crate::config::claude::known_settings::{
    AGENT_KEYS, COMMAND_KEYS, ELSEWHERE_AGENT_KEYS, ELSEWHERE_COMMAND_KEYS, ELSEWHERE_SKILL_KEYS,
    ELSEWHERE_STYLE_KEYS, SKILL_KEYS, STYLE_KEYS,
};
use crate::config::claude::permission_settings;
use crate::config::claude::settings_check::{RuleListKind, SettingsFindings};

/// Keys of Claude Code that restrict something there. That they have no effect here is reported in
/// every run.
const HOLDING_BACK: [&str; 3] = ["hooks", "permissionMode", "disable-model-invocation"];

/// Checks the front matter of an agent file.
pub(crate) fn check_agent(page: &MarkdownPage) -> SettingsFindings {
    check(page, "key of an agent file", (&AGENT_KEYS, ELSEWHERE_AGENT_KEYS))
}

/// Checks the front matter of a command page.
pub(crate) fn check_command(page: &MarkdownPage) -> SettingsFindings {
    check(page, "key of a command page", (&COMMAND_KEYS, ELSEWHERE_COMMAND_KEYS))
}

/// Checks the front matter of a skill in the folder `name`.
pub(crate) fn check_skill(page: &MarkdownPage, name: &str) -> SettingsFindings {
    let mut findings = check(page, "key of a skill", (&SKILL_KEYS, ELSEWHERE_SKILL_KEYS));
    if page.get("description").is_none() {
        findings.errors.push("the front matter lacks `description`; say when to use it".to_owned());
    }
    if let Some(other) = page.get("name").filter(|other| *other != name) {
        findings
            .warnings
            .push(format!("`name` is `{other}`; the skill is called `{name}`, like its folder"));
    }
    match (page.get("context"), page.get("agent")) {
        (None, Some(_)) => {
            let text = "`agent` has no effect without `context: fork`";
            findings.warnings.push(text.to_owned());
        }
        (None | Some("fork"), _) => {}
        (Some(other), _) => {
            findings.errors.push(format!("`context` is `{other}`; write fork, or remove it"));
        }
    }
    for key in ["disable-model-invocation", "user-invocable"] {
        if !matches!(page.get(key), None | Some("true" | "false")) {
            findings.errors.push(format!("`{key}` must be true or false; fix it"));
        }
    }
    findings
}

/// Checks the front matter of an output style.
pub(crate) fn check_style(page: &MarkdownPage) -> SettingsFindings {
    check(page, "key of an output style", (&STYLE_KEYS, ELSEWHERE_STYLE_KEYS))
}

fn check(
    page: &MarkdownPage,
    what: &str,
    (known, elsewhere): (&[&str], &[&str]),
) -> SettingsFindings {
    let mut findings = SettingsFindings::default();
    for (name, field) in page.parse_fields() {
        let mut found = SettingsFindings::default();
        if HOLDING_BACK.contains(&name) && elsewhere.contains(&name) {
            found.warnings.push(format!("`{name}` has no effect here"));
        } else {
            found.check_name(what, name, known, elsewhere);
        }
        if known.contains(&name) {
            found.value(name, field, page);
        }
        findings.extend_at(field.line, found);
    }
    findings
}

impl SettingsFindings {
    /// Checks the value of a known key.
    fn value(&mut self, name: &str, field: &Field, page: &MarkdownPage) {
        let is_list =
            matches!(name, "tools" | "disallowedTools" | "allowed-tools" | "skills" | "mcpServers");
        if name == "hooks" {
            return match page.tree(name) {
                Ok(hooks) => self.check_hooks(&hooks.unwrap_or_default()),
                Err(error) => self.errors.push(error),
            };
        }
        let fits = match field.form {
            Form::Text => true,
            // Hints are usually written as `argument-hint: [file]`.
            Form::List => is_list || name == "argument-hint",
            Form::Table => field.value.is_empty(),
        };
        if !fits {
            let form = match name {
                "mcpServers" => "a list of names; configure the server in .mcp.json",
                "skills" => "a list of skills",
                _ if is_list => "a list of tools",
                _ => "a text",
            };
            self.errors.push(format!("`{name}` must be {form}; fix it"));
            return;
        }
        let texts = page.list(name).unwrap_or_default();
        match name {
            "tools" => self.check_rules(&without_all(texts), RuleListKind::Allow),
            "allowed-tools" => self
                .check_rules(&permission_settings::split_list(&field.value), RuleListKind::Allow),
            "disallowedTools" => self.check_rules(&texts, RuleListKind::Restrict),
            _ => {}
        }
    }

    /// Adds findings of one line of a file.
    fn extend_at(&mut self, line: usize, found: Self) {
        let at = |text: String| format!("line {line}: {text}");
        self.errors.extend(found.errors.into_iter().map(at));
        self.warnings.extend(found.warnings.into_iter().map(at));
        self.without_effect.extend(found.without_effect);
    }
}

/// The tools without `*`, which means every tool.
fn without_all(tools: Vec<String>) -> Vec<String> {
    tools.into_iter().filter(|tool| tool != "*").collect()
}
