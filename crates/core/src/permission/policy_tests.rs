use std::sync::Arc;

use super::decision::HookPreference;
use super::mode::PermissionMode;
use super::policy::{CallEffect, PermissionQuery, Permissions, RuleDecision};
use super::rule::PermissionRule;
use super::rule_list::MAX_RULES;
use super::subject::{
    CallSubject, FileScan, ParseCoverage, PathAccess, PathUse, PathZone, ShellCommand,
    SimpleCommand,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Allow,
    Ask,
    Open,
    Deny,
}

use Says::{Allow, Ask, Deny, Open};

fn says(ruling: &RuleDecision) -> Says {
    match ruling {
        RuleDecision::Allow(_) => Allow,
        RuleDecision::Ask(_) => Ask,
        RuleDecision::Undecided => Open,
        RuleDecision::Deny(..) => Deny,
    }
}

fn rules(list: &[&str]) -> Vec<PermissionRule> {
    list.iter().map(|rule| PermissionRule::parse(rule).unwrap()).collect()
}

fn permissions(mode: PermissionMode) -> Permissions {
    Permissions { mode, root: Arc::from("/w"), ..Permissions::default() }
}

fn paths(path: &str, access: PathAccess, zone: PathZone) -> CallSubject {
    CallSubject::Paths(vec![PathUse { path: Arc::from(path), access, zone }])
}

fn shell(commands: &[&str]) -> ShellCommand {
    let commands = commands.iter().map(|text| SimpleCommand::from_words(text.split(' '))).collect();
    ShellCommand { commands, ..ShellCommand::default() }
}

fn judged(
    permissions: &Permissions,
    tool: &str,
    subject: &CallSubject,
    effect: CallEffect,
) -> Says {
    says(&permissions.evaluate_rules(PermissionQuery {
        tool,
        subject,
        effect,
        preference: HookPreference::Neutral,
        grants: &[],
    }))
}

fn write(path: &str, zone: PathZone) -> PathUse {
    PathUse { path: Arc::from(path), access: PathAccess::Write, zone }
}

// spec: PERMISSIONS-07, PERMISSIONS-08, PERMISSIONS-09
#[test]
fn every_mode_for_every_kind_of_call() {
    let read = paths("/w/a", PathAccess::Read, PathZone::Workspace);
    let far = paths("/x/a", PathAccess::Read, PathZone::Outside);
    let edit = paths("/w/a", PathAccess::Write, PathZone::Workspace);
    let far_edit = paths("/x/a", PathAccess::Write, PathZone::Outside);
    let protected = paths("/w/.git/config", PathAccess::Write, PathZone::Protected);
    let look = CallSubject::from(shell(&["cat a"]));
    let run = CallSubject::from(shell(&["npm test"]));
    let arrange = CallSubject::from(ShellCommand {
        writes: vec![write("/w/x", PathZone::Workspace)],
        ..shell(&["mkdir x", "touch x/y", "mv a b", "cp a b", "ls"])
    });
    let arrange_far = CallSubject::from(ShellCommand {
        writes: vec![write("/x", PathZone::Outside)],
        ..shell(&["mkdir /x"])
    });
    let host = CallSubject::Domain(Arc::from("a.com"));
    let nothing = CallSubject::Nothing;
    let modes = [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::PlanNone,
        PermissionMode::DontAsk,
        PermissionMode::Auto,
        PermissionMode::BypassPermissions,
    ];
    #[rustfmt::skip]
    let rows: [(&str, &str, &CallSubject, CallEffect, [Says; 7]); 12] = [
        ("read", "Read", &read, CallEffect::ReadOnly, [Allow, Allow, Allow, Deny, Allow, Allow, Allow]),
        ("read far", "Read", &far, CallEffect::ReadOnly, [Open, Open, Open, Deny, Deny, Open, Allow]),
        ("edit", "Edit", &edit, CallEffect::MayChange, [Open, Allow, Deny, Deny, Deny, Open, Allow]),
        ("edit far", "Edit", &far_edit, CallEffect::MayChange, [Open, Open, Deny, Deny, Deny, Open, Allow]),
        ("protected", "Edit", &protected, CallEffect::MayChange, [Deny; 7]),
        ("look", "Bash", &look, CallEffect::MayChange, [Allow, Allow, Allow, Deny, Allow, Allow, Allow]),
        ("run", "Bash", &run, CallEffect::MayChange, [Open, Open, Deny, Deny, Deny, Open, Allow]),
        ("arrange", "Bash", &arrange, CallEffect::MayChange, [Open, Allow, Deny, Deny, Deny, Open, Allow]),
        ("arrange far", "Bash", &arrange_far, CallEffect::MayChange, [Open, Open, Deny, Deny, Deny, Open, Allow]),
        ("host", "WebFetch", &host, CallEffect::ReadOnly, [Open, Open, Open, Deny, Deny, Open, Allow]),
        ("nothing", "Note", &nothing, CallEffect::ReadOnly, [Allow, Allow, Allow, Deny, Allow, Allow, Allow]),
        ("something", "Deploy", &nothing, CallEffect::MayChange, [Open, Open, Deny, Deny, Deny, Open, Allow]),
    ];
    for (name, tool, subject, effect, expected) in rows {
        for (mode, expected) in modes.into_iter().zip(expected) {
            assert_eq!(
                judged(&permissions(mode), tool, subject, effect),
                expected,
                "{name} {mode:?}"
            );
        }
    }
}

// spec: PERMISSIONS-01, PERMISSIONS-03, PERMISSIONS-11
#[test]
fn deny_then_ask_then_mode_then_allow() {
    let run = CallSubject::from(shell(&["npm test"]));
    let judge = |p: &Permissions| judged(p, "Bash", &run, CallEffect::MayChange);
    let mut all = permissions(PermissionMode::BypassPermissions);
    all.allow = rules(&["Bash"]);
    all.ask = rules(&["Bash(npm:*)"]);
    all.deny = rules(&["Bash(npm test)"]);
    assert_eq!(judge(&all), Deny);
    all.deny.clear();
    assert_eq!(judge(&all), Ask);
    all.ask.clear();
    assert_eq!(judge(&all), Allow);
    all.mode = PermissionMode::Plan;
    assert_eq!(judge(&all), Deny, "the mode is heard before the allow rule");
    all.mode = PermissionMode::DontAsk;
    assert_eq!(judge(&all), Allow);
    all.disallowed = rules(&["Bash"]);
    all.mode = PermissionMode::BypassPermissions;
    assert_eq!(judge(&all), Deny, "what is disallowed never runs");
}

// spec: PERMISSIONS-04
#[test]
fn one_part_is_enough_to_deny_and_none_may_be_missing_to_allow() {
    let mut p = permissions(PermissionMode::Default);
    p.allow = rules(&["Bash(npm test:*)", "Bash(echo:*)"]);
    p.deny = rules(&["Bash(curl:*)"]);
    let judge =
        |shell: ShellCommand| judged(&p, "Bash", &CallSubject::from(shell), CallEffect::MayChange);
    assert_eq!(judge(shell(&["npm test", "echo x", "cat y"])), Allow);
    assert_eq!(judge(shell(&["npm test", "rm x"])), Open);
    assert_eq!(judge(shell(&["npm test", "curl x"])), Deny);
    assert_eq!(judge(shell(&[])), Open);
    let doubted = ShellCommand { unsupported: vec![Arc::from("?")], ..shell(&["npm test"]) };
    assert_eq!(judge(doubted.clone()), Ask, "a rule that denies may be about it");
    assert_eq!(judge(ShellCommand { coverage: ParseCoverage::Partial, ..doubted }), Deny);
    let redirected =
        |zone| ShellCommand { writes: vec![write("/w/o", zone)], ..shell(&["echo x"]) };
    assert_eq!(judge(redirected(PathZone::Workspace)), Allow, "the command's own write");
    assert_eq!(judge(redirected(PathZone::Outside)), Open);
    assert_eq!(judge(redirected(PathZone::Protected)), Deny);
}

/// A rule for a command, or its being read-only, does not cover where its output goes.
// spec: PERMISSIONS-15
#[test]
fn an_output_redirection_is_an_edit_of_its_own() {
    let to = |zone| {
        let redirects = vec![write("/w/o", zone)];
        CallSubject::from(ShellCommand { redirects, ..shell(&["cat y"]) })
    };
    let judge = |p: &Permissions, zone| judged(p, "Bash", &to(zone), CallEffect::MayChange);
    let with = |mode, list: &[&str]| Permissions { allow: rules(list), ..permissions(mode) };
    for list in [&[][..], &["Bash(cat:*)"], &["Bash(cat y)"], &["Read"], &["Edit(src/**)"]] {
        for zone in [PathZone::Workspace, PathZone::Outside] {
            assert_eq!(judge(&with(PermissionMode::Default, list), zone), Open, "{list:?}");
            assert_eq!(judge(&with(PermissionMode::DontAsk, list), zone), Deny, "{list:?}");
            assert_eq!(judge(&with(PermissionMode::Plan, list), zone), Deny, "{list:?}");
        }
        assert_eq!(
            judge(&with(PermissionMode::AcceptEdits, list), PathZone::Workspace),
            Allow,
            "{list:?}"
        );
        assert_eq!(
            judge(&with(PermissionMode::AcceptEdits, list), PathZone::Outside),
            Open,
            "{list:?}"
        );
        for mode in [
            PermissionMode::Default,
            PermissionMode::AcceptEdits,
            PermissionMode::BypassPermissions,
        ] {
            assert_eq!(judge(&with(mode, list), PathZone::Protected), Deny, "{list:?}");
        }
    }
    for list in [&["Edit"][..], &["Write"], &["Edit(/o)"], &["Edit(o)"], &["Bash"]] {
        assert_eq!(
            judge(&with(PermissionMode::Default, list), PathZone::Workspace),
            Allow,
            "{list:?}"
        );
    }
    // A redirection is restricted by the rules about edits.
    for held in ["Edit(o)", "Write(o)", "Edit(*)", "Edit", "Write"] {
        for mode in [
            PermissionMode::BypassPermissions,
            PermissionMode::AcceptEdits,
            PermissionMode::Default,
        ] {
            let mut p = with(mode, &["Bash"]);
            p.ask = rules(&[held]);
            assert_eq!(judge(&p, PathZone::Workspace), Ask, "{held} {mode:?}");
            p.deny = rules(&[held]);
            assert_eq!(judge(&p, PathZone::Workspace), Deny, "{held} {mode:?}");
        }
    }
}

/// What a command may do without showing it is not covered by an allow rule.
// spec: PERMISSIONS-15
#[test]
fn what_a_held_back_file_or_program_may_hide_in_is_asked_about() {
    let scan = |scan: &str, command: &str| {
        let scans = vec![FileScan { path: Arc::from(scan), access: PathAccess::Read }];
        CallSubject::from(ShellCommand { scans, ..shell(&[command]) })
    };
    let rows = [
        ("Read(.env)", "/w", true),
        ("Read(.env)", "/w/src", true),
        ("Read(.env)", "/", true),
        ("Read(.env)", "/w/.en?", true),
        ("Read(.env)", "/w/.EN?", true),
        ("Read(.env)", "/w/*", true),
        ("Read(.env)", "/w/[.]env", true),
        ("Read(.env)", "/w/*/x", true),
        ("Read(.env)", "/w/src/*.rs", false),
        ("Read(.env)", "/x", false),
        ("Read(secrets/**)", "/w/src", false),
        ("Read(secrets/**)", "/w/src/*", false),
        ("Read(secrets/**)", "/w/secrets/*.pem", true),
        ("Read(secrets)", "/w/secrets/*.pem", true),
        ("Read(/secrets/a/b)", "/w/secrets", true),
        ("Read(//etc/**)", "/w", false),
        ("Read(//etc/**)", "/etc/ssh", true),
        ("Edit(.env)", "/w", false),
    ];
    for (held, path, expected) in rows {
        for (mode, list) in
            [(PermissionMode::Default, "Bash"), (PermissionMode::AcceptEdits, "Bash(cp:*)")]
        {
            let allow = rules(&[list, "Bash(cat:*)"]);
            for which in 0..3 {
                let mut p = Permissions { allow: allow.clone(), ..permissions(mode) };
                *[&mut p.deny, &mut p.ask, &mut p.disallowed][which] = rules(&[held]);
                let found = judged(&p, "Bash", &scan(path, "cat x"), CallEffect::MayChange);
                assert_eq!(found, if expected { Ask } else { Allow }, "{held} {path} {which}");
            }
        }
    }
    let mut p = Permissions { allow: rules(&["Bash"]), ..permissions(PermissionMode::Default) };
    p.deny = rules(&["Bash(rm:*)"]);
    let hides = ["unknown rm f", "unknown -x /bin/rm", "unknown sh;rm", "unknown -Srm", "u A=b;rm"];
    for command in hides {
        let subject = CallSubject::from(shell(&[command]));
        assert_eq!(judged(&p, "Bash", &subject, CallEffect::MayChange), Ask, "{command}");
    }
    for command in ["echo rm", "git rm x", "cat rm", "unknown farm", "unknown form"] {
        let subject = CallSubject::from(shell(&[command]));
        assert_eq!(judged(&p, "Bash", &subject, CallEffect::MayChange), Allow, "{command}");
    }
}

// spec: PERMISSIONS-15
#[test]
fn a_protected_place_named_by_a_command_that_may_write_is_covered_by_no_rule() {
    let reads =
        vec![PathUse { access: PathAccess::Read, ..write("/w/.git/x", PathZone::Protected) }];
    let subject = CallSubject::from(ShellCommand { reads, ..shell(&["tool .git/x"]) });
    for list in [&["Bash"][..], &["Bash(*)"], &["*"], &["Bash(tool:*)"], &["Bash(tool .git/x)"]] {
        let p = Permissions { allow: rules(list), ..permissions(PermissionMode::Default) };
        assert_eq!(judged(&p, "Bash", &subject, CallEffect::MayChange), Ask, "{list:?}");
    }
    assert_eq!(
        judged(
            &permissions(PermissionMode::BypassPermissions),
            "Bash",
            &subject,
            CallEffect::MayChange
        ),
        Allow
    );
}

// spec: PERMISSIONS-04
#[test]
fn what_cannot_be_parsed_is_covered_only_by_a_rule_for_every_command() {
    let doubted =
        CallSubject::from(ShellCommand { unsupported: vec![Arc::from("?")], ..shell(&["ls"]) });
    let mut p = permissions(PermissionMode::Default);
    p.allow = rules(&["Bash(ls)", "Bash(ls:*)", "Bash(l*)"]);
    assert_eq!(judged(&p, "Bash", &doubted, CallEffect::MayChange), Open);
    for every in ["Bash", "Bash(*)", "*"] {
        p.allow = rules(&[every]);
        assert_eq!(judged(&p, "Bash", &doubted, CallEffect::MayChange), Allow, "{every}");
    }
    // A deny or ask rule may be about the part that cannot be seen.
    for held in ["Bash(rm:*)", "Read(.env)", "Edit(src/**)"] {
        for which in 0..3 {
            let mut p = p.clone();
            *[&mut p.deny, &mut p.ask, &mut p.disallowed][which] = rules(&[held]);
            assert_eq!(judged(&p, "Bash", &doubted, CallEffect::MayChange), Ask, "{held} {which}");
        }
    }
    p.deny = rules(&["WebFetch(domain:a.org)"]);
    assert_eq!(judged(&p, "Bash", &doubted, CallEffect::MayChange), Allow);
}

#[test]
fn too_many_rules_are_refused_and_many_are_judged_quickly() {
    let json = |count: usize| {
        let rules: Vec<String> =
            (0..count).map(|n| format!("\"Bash(tool{n} *a*a*a*:*)\"")).collect();
        format!("{{\"allow\": [{}]}}", rules.join(","))
    };
    let error = serde_json::from_str::<Permissions>(&json(1_000_000)).unwrap_err().to_string();
    assert!(error.contains("more than 10000 permission rules in one list"), "{error}");
    let most: Permissions = serde_json::from_str(&json(MAX_RULES)).unwrap();
    let commands =
        vec![
            SimpleCommand::from_words(["tool9999x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]);
            100
        ];
    let long = CallSubject::from(ShellCommand { commands, ..ShellCommand::default() });
    assert_eq!(judged(&most, "Bash", &long, CallEffect::MayChange), Open);
}

#[test]
fn settings_with_a_bad_rule_or_an_unknown_key_are_refused() {
    for bad in [
        r#"{"deny": ["Bash("]}"#,
        r#"{"denied": []}"#,
        r#"{"deny": [1]}"#,
        r#"{"deny": [], "deny": []}"#,
    ] {
        assert!(serde_json::from_str::<Permissions>(bad).is_err(), "{bad}");
    }
    let none: Permissions = serde_json::from_str("{}").unwrap();
    assert_eq!(none, Permissions::default());
    let json = serde_json::to_string(&permissions(PermissionMode::Plan)).unwrap();
    assert_eq!(
        serde_json::from_str::<Permissions>(&json).unwrap(),
        permissions(PermissionMode::Plan)
    );
}

/// A classifier may decide only about calls that no deny or ask rule could concern.
// spec: PERMISSIONS-15, PERMISSIONS-17
#[test]
fn neither_hook_nor_classifier_lets_go_what_may_be_held_back() {
    use super::decision::PermissionDecision;
    let scans = vec![FileScan { path: Arc::from("/w/.en?"), access: PathAccess::Read }];
    let hidden = CallSubject::from(ShellCommand { scans, ..shell(&["cat .en?"]) });
    let reads =
        vec![PathUse { access: PathAccess::Read, ..write("/w/.git/x", PathZone::Protected) }];
    let protected = CallSubject::from(ShellCommand { reads, ..shell(&["tool .git/x"]) });
    let doubted =
        CallSubject::from(ShellCommand { unsupported: vec![Arc::from("?")], ..shell(&["ls"]) });
    for subject in [&hidden, &protected, &doubted] {
        for (mode, preference) in [
            (PermissionMode::Auto, HookPreference::Neutral),
            (PermissionMode::Default, HookPreference::Allow),
        ] {
            let mut p = Permissions { deny: rules(&["Read(.env)"]), ..permissions(mode) };
            p.allow = rules(&["Bash"]);
            let (tool, effect) = ("Bash", CallEffect::MayChange);
            let verdict =
                p.decide(PermissionQuery { tool, subject, effect, preference, grants: &[] });
            assert!(
                matches!(verdict, PermissionDecision::Ask { .. }),
                "{mode:?} {verdict:?} {subject:?}"
            );
        }
        let p =
            Permissions { deny: rules(&["Read(.env)"]), ..permissions(PermissionMode::DontAsk) };
        assert_eq!(judged(&p, "Bash", subject, CallEffect::MayChange), Deny);
    }
}
