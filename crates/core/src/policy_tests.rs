use std::sync::Arc;

use crate::policy::{Human, Otherwise, Rules, Verdict};

fn rules(deny: &[&str], ask: &[&str], allow: &[&str]) -> Rules {
    let list = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect();
    Rules { deny: list(deny), ask: list(ask), allow: list(allow), ..Rules::default() }
}

fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

#[test]
fn deny_beats_ask_beats_allow() {
    let rows = [
        (rules(&["x"], &["x"], &["x"]), "deny"),
        (rules(&[], &["x"], &["x"]), "ask"),
        (rules(&[], &[], &["x"]), "allow"),
        (rules(&["x*"], &[], &["x"]), "deny"),
        (rules(&["*"], &[], &["x"]), "deny"),
        (rules(&["y"], &["y"], &["y"]), "ask"),
        (rules(&[], &[], &["y*", "x*"]), "allow"),
        (rules(&["xx"], &[], &["x"]), "allow"),
        (rules(&["X"], &[], &["x"]), "allow"),
        (rules(&[""], &[], &["x"]), "allow"),
    ];
    for (rules, expected) in rows {
        assert_eq!(name(&rules.judge("x")), expected, "{rules:?}");
    }
}

#[test]
fn a_star_stands_for_any_ending() {
    let rules = rules(&[], &[], &["list_*"]);
    for (tool, expected) in
        [("list_", "allow"), ("list_files", "allow"), ("list", "ask"), ("my_list_x", "ask")]
    {
        assert_eq!(name(&rules.judge(tool)), expected, "{tool}");
    }
}

#[test]
fn the_default_is_to_ask() {
    for (otherwise, human, expected) in [
        (Otherwise::Ask, Human::Reachable, "ask"),
        (Otherwise::Ask, Human::Absent, "deny"),
        (Otherwise::Allow, Human::Absent, "allow"),
        (Otherwise::Deny, Human::Reachable, "deny"),
    ] {
        let rules = Rules { otherwise, human, ..Rules::default() };
        assert_eq!(name(&rules.judge("x")), expected, "{otherwise:?} {human:?}");
    }
    assert_eq!(name(&Rules::default().judge("x")), "ask");
    assert_eq!(name(&Rules::allow_all().judge("x")), "allow");
}

#[test]
fn a_verdict_names_its_rule() {
    let rules = rules(&["rm*"], &["de*"], &["read"]);
    let by = |verdict: Verdict| match verdict {
        Verdict::Allow { by } | Verdict::Ask { by } => by,
        Verdict::Deny { reason } => reason,
    };
    assert_eq!(&*by(rules.judge("rmdir")), "rmdir is denied by the rule rm*");
    assert_eq!(&*by(rules.judge("deploy")), "de*");
    assert_eq!(&*by(rules.judge("read")), "read");
    assert_eq!(&*by(rules.judge("other")), "default");
}

#[test]
fn rules_of_the_future_are_refused() {
    assert!(serde_json::from_str::<Rules>(r#"{"deny":["x"]}"#).is_ok());
    let error = serde_json::from_str::<Rules>(r#"{"maybe":["x"]}"#).unwrap_err();
    assert!(error.to_string().contains("`maybe`"), "{error}");
}
