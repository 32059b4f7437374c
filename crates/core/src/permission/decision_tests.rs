use std::sync::Arc;

use super::decision::{DefaultDecision, HookPreference, HumanAvailability, PermissionDecision};
use super::mode::PermissionMode;
use super::policy::{CallEffect, PermissionQuery, Permissions};
use super::rule::PermissionRule;
use super::subject::{CallSubject, PathAccess, PathUse, PathZone, ShellCommand, SimpleCommand};
use super::suggest::suggest_rule;

fn asked<'a>(tool: &'a str, subject: &'a CallSubject) -> PermissionQuery<'a> {
    PermissionQuery {
        tool,
        subject,
        effect: CallEffect::MayChange,
        preference: HookPreference::Neutral,
        grants: &[],
    }
}

fn rules(text: &str) -> Vec<PermissionRule> {
    vec![PermissionRule::parse(text).unwrap()]
}

fn name(verdict: &PermissionDecision) -> &'static str {
    match verdict {
        PermissionDecision::Allow { .. } => "allow",
        PermissionDecision::Ask { .. } => "ask",
        PermissionDecision::Classify {} => "refer",
        PermissionDecision::Deny { .. } => "deny",
    }
}

// spec: PERMISSIONS-01, PERMISSIONS-02
#[test]
fn a_hook_decides_only_what_the_rules_leave_open() {
    let cases = [
        ("", "", HookPreference::Neutral, "ask"),
        ("", "", HookPreference::Allow, "allow"),
        ("", "", HookPreference::Ask, "ask"),
        ("deny", "Mail", HookPreference::Allow, "deny"),
        ("ask", "Mail", HookPreference::Allow, "ask"),
        ("allow", "Mail", HookPreference::Neutral, "allow"),
        ("allow", "Mail", HookPreference::Ask, "ask"),
        ("deny", "Mail", HookPreference::Ask, "deny"),
    ];
    for (list, rule, preference, expected) in cases {
        let mut permissions = Permissions::default();
        match list {
            "deny" => permissions.deny = rules(rule),
            "ask" => permissions.ask = rules(rule),
            "allow" => permissions.allow = rules(rule),
            _ => {}
        }
        let call = PermissionQuery { preference, ..asked("Mail", &CallSubject::Nothing) };
        let verdict = permissions.decide(call);
        assert_eq!(name(&verdict), expected, "{list} {rule} {preference:?}: {verdict:?}");
    }
}

// spec: PERMISSIONS-06
#[test]
fn what_would_be_asked_is_denied_where_nobody_is_there() {
    let call = asked("Mail", &CallSubject::Nothing);
    let absent = Permissions { human: HumanAvailability::Absent, ..Permissions::default() };
    assert_eq!(name(&absent.decide(call)), "deny");
    let by_rule = Permissions { ask: rules("Mail"), ..absent };
    assert_eq!(name(&by_rule.decide(call)), "deny");
}

// spec: PERMISSIONS-10
#[test]
fn in_auto_a_classifier_decides_what_is_open() {
    let auto = Permissions { mode: PermissionMode::Auto, ..Permissions::default() };
    assert_eq!(name(&auto.decide(asked("Mail", &CallSubject::Nothing))), "refer");
    let held = Permissions { ask: rules("Mail"), ..auto };
    assert_eq!(name(&held.decide(asked("Mail", &CallSubject::Nothing))), "ask");
}

#[test]
fn the_default_is_a_setting() {
    let call = asked("Mail", &CallSubject::Nothing);
    let with = |default_decision| Permissions { default_decision, ..Permissions::default() };
    assert_eq!(name(&with(DefaultDecision::Allow).decide(call)), "allow");
    assert_eq!(name(&with(DefaultDecision::Deny).decide(call)), "deny");
}

#[test]
fn a_suggested_rule_covers_the_call_it_was_made_for() {
    let permissions = Permissions { root: Arc::from("/w"), ..Permissions::default() };
    let path = |path: &str, zone| {
        CallSubject::Paths(vec![PathUse { path: Arc::from(path), access: PathAccess::Write, zone }])
    };
    let shell = |text: &str| {
        let commands = vec![SimpleCommand::from_words(text.split(' '))];
        CallSubject::from(ShellCommand { commands, ..ShellCommand::default() })
    };
    let cases = [
        ("Mail", CallSubject::Nothing, Some("Mail")),
        ("WebFetch", CallSubject::Domain(Arc::from("a.org")), Some("WebFetch(domain:a.org)")),
        ("Edit", path("/w/src/a.rs", PathZone::Workspace), Some("Edit(src/a.rs)")),
        ("Edit", path("/w/a.rs", PathZone::Workspace), Some("Edit(//w/a.rs)")),
        ("Edit", path("/x/a.rs", PathZone::Outside), Some("Edit(//x/a.rs)")),
        ("Edit", path("/w/.git/hooks/a", PathZone::Protected), None),
        ("Bash", shell("npm test"), Some("Bash(npm test)")),
        ("Bash", shell("python3 *"), Some("Bash(python3 \\*)")),
        ("Bash", shell("npm run:*"), Some("Bash(npm run:\\*)")),
        ("Edit", path("/w/src/*", PathZone::Workspace), Some("Edit(src/\\*)")),
        ("Bash", shell("npm run "), None),
    ];
    for (tool, subject, expected) in cases {
        let rule = suggest_rule(&permissions, asked(tool, &subject));
        assert_eq!(rule.as_ref().map(|rule| &**rule.text()), expected, "{subject:?}");
        let Some(rule) = rule else { continue };
        let granted = [rule.into()];
        let again = PermissionQuery { grants: &granted, ..asked(tool, &subject) };
        assert_eq!(name(&permissions.decide(again)), "allow");
    }
}

#[test]
fn a_command_of_several_parts_has_no_rule_to_suggest() {
    let commands = vec![SimpleCommand::from_words(["a"]), SimpleCommand::from_words(["b"])];
    let subject = CallSubject::from(ShellCommand { commands, ..ShellCommand::default() });
    assert_eq!(suggest_rule(&Permissions::default(), asked("Bash", &subject)), None);
}

/// Whatever the command is made of, the rule that is offered for it covers no other one.
#[test]
fn a_suggested_rule_covers_no_other_command() {
    let words = ["a", "*", "?", "b*", "*b", ":*", "a:*", "\\*", "\\", "-x", "a b", "", "**", "a?"];
    let permissions = Permissions { root: Arc::from("/w"), ..Permissions::default() };
    let shell = |words: &[&str]| {
        let commands = vec![SimpleCommand::from_words(words)];
        CallSubject::from(ShellCommand { commands, ..ShellCommand::default() })
    };
    let all: Vec<Vec<&str>> = words
        .iter()
        .flat_map(|one| words.iter().map(move |two| vec!["tool", *one, *two]))
        .chain(words.iter().map(|one| vec!["tool", *one]))
        .chain([vec!["tool"], vec!["tool", "x", "y", "z"]])
        .collect();
    for words in &all {
        let subject = shell(words);
        let Some(rule) = suggest_rule(&permissions, asked("Bash", &subject)) else { continue };
        let granted = [rule.into()];
        for other in &all {
            let subject = shell(other);
            let verdict =
                permissions.decide(PermissionQuery { grants: &granted, ..asked("Bash", &subject) });
            assert_eq!(name(&verdict) == "allow", words == other, "{granted:?} {other:?}");
        }
    }
}
