use std::sync::Arc;

use super::judge::{Asked, Effect, Permissions};
use super::mode::Mode;
use super::rule::Rule;
use super::subject::{Access, PathUse, Shell, SimpleCommand, Subject, Zone};
use super::suggest::suggest;
use super::verdict::{Human, Lean, Otherwise, Verdict};

fn asked<'a>(tool: &'a str, subject: &'a Subject) -> Asked<'a> {
    Asked { tool, subject, effect: Effect::Some, lean: Lean::Neutral, grants: &[] }
}

fn rules(text: &str) -> Vec<Rule> {
    vec![Rule::parse(text).unwrap()]
}

fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Refer {} => "refer",
        Verdict::Deny { .. } => "deny",
    }
}

// spec: PERMISSIONS-01, PERMISSIONS-02
#[test]
fn a_hook_decides_only_what_the_rules_leave_open() {
    let cases = [
        ("", "", Lean::Neutral, "ask"),
        ("", "", Lean::Allow, "allow"),
        ("", "", Lean::Ask, "ask"),
        ("deny", "Mail", Lean::Allow, "deny"),
        ("ask", "Mail", Lean::Allow, "ask"),
        ("allow", "Mail", Lean::Neutral, "allow"),
        ("allow", "Mail", Lean::Ask, "ask"),
        ("deny", "Mail", Lean::Ask, "deny"),
    ];
    for (list, rule, lean, expected) in cases {
        let mut permissions = Permissions::default();
        match list {
            "deny" => permissions.deny = rules(rule),
            "ask" => permissions.ask = rules(rule),
            "allow" => permissions.allow = rules(rule),
            _ => {}
        }
        let call = Asked { lean, ..asked("Mail", &Subject::Nothing) };
        let verdict = permissions.decide(call);
        assert_eq!(name(&verdict), expected, "{list} {rule} {lean:?}: {verdict:?}");
    }
}

// spec: PERMISSIONS-06
#[test]
fn what_would_be_asked_is_denied_where_nobody_is_there() {
    let call = asked("Mail", &Subject::Nothing);
    let absent = Permissions { human: Human::Absent, ..Permissions::default() };
    assert_eq!(name(&absent.decide(call)), "deny");
    let by_rule = Permissions { ask: rules("Mail"), ..absent };
    assert_eq!(name(&by_rule.decide(call)), "deny");
}

// spec: PERMISSIONS-10
#[test]
fn in_auto_a_classifier_decides_what_is_open() {
    let auto = Permissions { mode: Mode::Auto, ..Permissions::default() };
    assert_eq!(name(&auto.decide(asked("Mail", &Subject::Nothing))), "refer");
    let held = Permissions { ask: rules("Mail"), ..auto };
    assert_eq!(name(&held.decide(asked("Mail", &Subject::Nothing))), "ask");
}

#[test]
fn the_default_is_a_setting() {
    let call = asked("Mail", &Subject::Nothing);
    let with = |otherwise| Permissions { otherwise, ..Permissions::default() };
    assert_eq!(name(&with(Otherwise::Allow).decide(call)), "allow");
    assert_eq!(name(&with(Otherwise::Deny).decide(call)), "deny");
}

#[test]
fn a_suggested_rule_covers_the_call_it_was_made_for() {
    let permissions = Permissions { root: Arc::from("/w"), ..Permissions::default() };
    let path = |path: &str, zone| {
        Subject::Paths(vec![PathUse { path: Arc::from(path), access: Access::Write, zone }])
    };
    let shell = |text: &str| {
        let commands = vec![SimpleCommand::of(text.split(' '))];
        Subject::Shell(Shell { commands, ..Shell::default() })
    };
    let cases = [
        ("Mail", Subject::Nothing, Some("Mail")),
        ("WebFetch", Subject::Domain(Arc::from("a.org")), Some("WebFetch(domain:a.org)")),
        ("Edit", path("/w/src/a.rs", Zone::Workspace), Some("Edit(src/a.rs)")),
        ("Edit", path("/w/a.rs", Zone::Workspace), Some("Edit(//w/a.rs)")),
        ("Edit", path("/x/a.rs", Zone::Outside), Some("Edit(//x/a.rs)")),
        ("Edit", path("/w/.git/hooks/a", Zone::Protected), None),
        ("Bash", shell("npm test"), Some("Bash(npm test)")),
        ("Bash", shell("python3 *"), Some("Bash(python3 \\*)")),
        ("Bash", shell("npm run:*"), Some("Bash(npm run:\\*)")),
        ("Edit", path("/w/src/*", Zone::Workspace), Some("Edit(src/\\*)")),
        ("Bash", shell("npm run "), None),
    ];
    for (tool, subject, expected) in cases {
        let rule = suggest(&permissions, asked(tool, &subject));
        assert_eq!(rule.as_ref().map(|rule| &**rule.text()), expected, "{subject:?}");
        let Some(rule) = rule else { continue };
        let granted = [rule.into()];
        let again = Asked { grants: &granted, ..asked(tool, &subject) };
        assert_eq!(name(&permissions.decide(again)), "allow");
    }
}

#[test]
fn a_command_of_several_parts_has_no_rule_to_suggest() {
    let commands = vec![SimpleCommand::of(["a"]), SimpleCommand::of(["b"])];
    let subject = Subject::Shell(Shell { commands, ..Shell::default() });
    assert_eq!(suggest(&Permissions::default(), asked("Bash", &subject)), None);
}

/// Whatever the command is made of, the rule that is offered for it covers no other one.
#[test]
fn a_suggested_rule_covers_no_other_command() {
    let words = ["a", "*", "?", "b*", "*b", ":*", "a:*", "\\*", "\\", "-x", "a b", "", "**", "a?"];
    let permissions = Permissions { root: Arc::from("/w"), ..Permissions::default() };
    let shell = |words: &[&str]| {
        let commands = vec![SimpleCommand::of(words)];
        Subject::Shell(Shell { commands, ..Shell::default() })
    };
    let all: Vec<Vec<&str>> = words
        .iter()
        .flat_map(|one| words.iter().map(move |two| vec!["tool", *one, *two]))
        .chain(words.iter().map(|one| vec!["tool", *one]))
        .chain([vec!["tool"], vec!["tool", "x", "y", "z"]])
        .collect();
    for words in &all {
        let subject = shell(words);
        let Some(rule) = suggest(&permissions, asked("Bash", &subject)) else { continue };
        let granted = [rule.into()];
        for other in &all {
            let subject = shell(other);
            let verdict = permissions.decide(Asked { grants: &granted, ..asked("Bash", &subject) });
            assert_eq!(name(&verdict) == "allow", words == other, "{granted:?} {other:?}");
        }
    }
}
