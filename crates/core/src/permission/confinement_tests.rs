use std::sync::Arc;

use super::CommandConfinement::{self, AutoAllowed, Confined, Disregarded, Missing};
use super::decision::HookPreference;
use super::mode::PermissionMode;
use super::policy::{CallEffect, PermissionQuery, Permissions, RuleDecision};
use super::rule::PermissionRule;
use super::subject::{CallSubject, PathAccess, PathUse, PathZone, ShellCommand, SimpleCommand};

const MODES: [PermissionMode; 4] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Auto,
    PermissionMode::BypassPermissions,
];

fn permissions(confinement: CommandConfinement, mode: PermissionMode) -> Permissions {
    Permissions { mode, confinement, root: Arc::from("/w"), ..Permissions::default() }
}

fn command(text: &str) -> ShellCommand {
    let commands = vec![SimpleCommand::from_words(text.split(' '))];
    ShellCommand { commands, ..ShellCommand::default() }
}

fn decide(permissions: &Permissions, shell: ShellCommand) -> RuleDecision {
    permissions.evaluate_rules(PermissionQuery {
        tool: "Bash",
        subject: &CallSubject::from(shell),
        effect: CallEffect::MayChange,
        preference: HookPreference::Neutral,
        grants: &[],
    })
}

fn is_allowed(decision: &RuleDecision) -> bool {
    matches!(decision, RuleDecision::Allow(_))
}

#[test]
fn without_the_sandbox_that_should_be_there_every_command_asks() {
    for mode in MODES {
        let mut rules = permissions(Missing, mode);
        rules.allow.push(PermissionRule::parse("Bash").unwrap());
        for text in ["ls", "git status", "make all"] {
            let decision = decide(&rules, command(text));
            assert!(matches!(decision, RuleDecision::Ask(_)), "{mode:?} {text}: {decision:?}");
        }
    }
    let asks_no_one = decide(&permissions(Missing, PermissionMode::DontAsk), command("ls"));
    assert!(matches!(asks_no_one, RuleDecision::Deny(..)), "{asks_no_one:?}");
    let planning = decide(&permissions(Missing, PermissionMode::Plan), command("make all"));
    assert!(matches!(planning, RuleDecision::Deny(..)), "{planning:?}");
}

#[test]
fn a_deny_rule_counts_before_the_missing_sandbox() {
    let mut rules = permissions(Missing, PermissionMode::Default);
    rules.deny.push(PermissionRule::parse("Bash(make:*)").unwrap());
    let decision = decide(&rules, command("make all"));
    assert!(matches!(decision, RuleDecision::Deny(..)), "{decision:?}");
}

#[test]
fn a_confined_command_runs_where_that_was_chosen_and_where_edits_are_accepted() {
    let cases = [
        (Disregarded, PermissionMode::Default, false),
        (Disregarded, PermissionMode::AcceptEdits, false),
        (Confined, PermissionMode::Default, false),
        (Confined, PermissionMode::AcceptEdits, true),
        (AutoAllowed, PermissionMode::Default, true),
        (AutoAllowed, PermissionMode::DontAsk, true),
        (AutoAllowed, PermissionMode::Plan, false),
    ];
    for (confinement, mode, allowed) in cases {
        let decision = decide(&permissions(confinement, mode), command("make all"));
        assert_eq!(is_allowed(&decision), allowed, "{confinement:?} {mode:?}: {decision:?}");
    }
}

#[test]
fn a_confined_command_still_asks_where_a_rule_says_so_and_for_files_outside() {
    let mut rules = permissions(AutoAllowed, PermissionMode::Default);
    let outside = PathUse {
        path: Arc::from("/etc/hosts"),
        access: PathAccess::Write,
        zone: PathZone::Outside,
    };
    let writes = ShellCommand { writes: vec![outside], ..command("tee /etc/hosts") };
    assert_eq!(decide(&rules, writes), RuleDecision::Undecided);
    rules.ask.push(PermissionRule::parse("Bash(make:*)").unwrap());
    assert!(matches!(decide(&rules, command("make all")), RuleDecision::Ask(_)));
    // A command that cannot be read completely may be the one that the rule is about.
    let unread = ShellCommand { unsupported: vec!["a loop".into()], ..command("x") };
    assert!(matches!(decide(&rules, unread), RuleDecision::Ask(_)));
}

#[test]
fn git_that_only_reads_asks_no_one_in_the_sandbox() {
    let reads = ["git status", "git log --oneline -3", "git diff --stat", "git show HEAD"];
    for text in reads {
        for mode in [PermissionMode::Default, PermissionMode::DontAsk] {
            let decision = decide(&permissions(Confined, mode), command(text));
            assert!(is_allowed(&decision), "{mode:?} {text}: {decision:?}");
        }
        let without = decide(&permissions(Disregarded, PermissionMode::Default), command(text));
        assert_eq!(without, RuleDecision::Undecided, "{text}");
        let mut hides = permissions(Confined, PermissionMode::Default);
        hides.deny.push(PermissionRule::parse("Read(.env)").unwrap());
        assert!(!is_allowed(&decide(&hides, command(text))), "{text}");
    }
    let others =
        ["git push", "git commit -m x", "git diff --output=x", "git foo", "git -c a=b log"];
    for text in others {
        let decision = decide(&permissions(Confined, PermissionMode::Default), command(text));
        assert!(!is_allowed(&decision), "{text}: {decision:?}");
    }
}

#[test]
fn a_home_folder_that_was_added_is_not_left_to_the_kernel() {
    for (folder, asks) in
        [("/people/p", true), ("/people/p/", true), ("/", true), ("/people/pa", false)]
    {
        for confinement in [Confined, AutoAllowed] {
            let mut rules = permissions(confinement, PermissionMode::AcceptEdits);
            rules.home = Arc::from("/people/p");
            rules.folders.push(Arc::from(folder));
            let decision = decide(&rules, command("make all"));
            assert_eq!(is_allowed(&decision), !asks, "{folder} {confinement:?}: {decision:?}");
        }
    }
}
