//! Whether the head of an agent file or of a command page means what its author thinks. It is judged
//! as settings are: a slip is an error, an unknown name a warning. A run and `doctor` ask here.

use super::front::{Field, Form, Page};
use super::known_names::{AGENT_KEYS, COMMAND_KEYS, ELSEWHERE_AGENT_KEYS, ELSEWHERE_COMMAND_KEYS};
use super::rules;
use super::settings_check::{RuleList, SettingsFindings};

/// Keys of Claude Code that hold something back there. One without effect is told in every run.
const HOLDING_BACK: [&str; 3] = ["hooks", "permissionMode", "disable-model-invocation"];

/// Checks the head of an agent file.
pub(crate) fn check_agent(page: &Page) -> SettingsFindings {
    check(page, "key of an agent file", (&AGENT_KEYS, ELSEWHERE_AGENT_KEYS))
}

/// Checks the head of a command page.
pub(crate) fn check_command(page: &Page) -> SettingsFindings {
    check(page, "key of a command page", (&COMMAND_KEYS, ELSEWHERE_COMMAND_KEYS))
}

fn check(page: &Page, what: &str, (known, elsewhere): (&[&str], &[&str])) -> SettingsFindings {
    let mut findings = SettingsFindings::default();
    for (name, field) in page.fields() {
        let mut found = SettingsFindings::default();
        if HOLDING_BACK.contains(&name) && elsewhere.contains(&name) {
            found.warnings.push(format!("`{name}` has no effect here"));
        } else {
            found.name(what, name, known, elsewhere);
        }
        if known.contains(&name) {
            found.value(name, field, page);
        }
        findings.extend_at(field.line, found);
    }
    findings
}

impl SettingsFindings {
    /// Judges the value of a known key.
    fn value(&mut self, name: &str, field: &Field, page: &Page) {
        let is_list = matches!(name, "tools" | "disallowedTools" | "allowed-tools");
        let fits = match field.form {
            Form::Text => true,
            // `argument-hint: [file]` is how hints are written.
            Form::List => is_list || name == "argument-hint",
            Form::Table => field.value.is_empty(),
        };
        if !fits {
            let form = if is_list { "a list of tools" } else { "a text" };
            self.errors.push(format!("`{name}` must be {form}; fix it"));
            return;
        }
        let texts = page.list(name).unwrap_or_default();
        match name {
            "tools" => self.rules(&without_all(texts), RuleList::Allow),
            "allowed-tools" => self.rules(&rules::split_list(&field.value), RuleList::Allow),
            "disallowedTools" => self.rules(&texts, RuleList::HoldBack),
            _ => {}
        }
    }

    /// Takes what was found in one line of a file.
    fn extend_at(&mut self, line: usize, found: Self) {
        let at = |text: String| format!("line {line}: {text}");
        self.errors.extend(found.errors.into_iter().map(at));
        self.warnings.extend(found.warnings.into_iter().map(at));
        self.without_effect.extend(found.without_effect);
    }
}

/// `*` means every tool.
fn without_all(tools: Vec<String>) -> Vec<String> {
    tools.into_iter().filter(|tool| tool != "*").collect()
}
