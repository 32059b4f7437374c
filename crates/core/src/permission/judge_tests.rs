use std::sync::Arc;

use super::bounded::MAX_RULES;
use super::judge::{Asked, Effect, Permissions, Ruling};
use super::mode::Mode;
use super::rule::Rule;
use super::subject::{Access, PathUse, Scan, Seen, Shell, SimpleCommand, Subject, Zone};
use super::verdict::Lean;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Allow,
    Ask,
    Open,
    Deny,
}

use Says::{Allow, Ask, Deny, Open};

fn says(ruling: &Ruling) -> Says {
    match ruling {
        Ruling::Allow(_) => Allow,
        Ruling::Ask(_) => Ask,
        Ruling::Open => Open,
        Ruling::Deny(_) => Deny,
    }
}

fn rules(list: &[&str]) -> Vec<Rule> {
    list.iter().map(|rule| Rule::parse(rule).unwrap()).collect()
}

fn permissions(mode: Mode) -> Permissions {
    Permissions { mode, root: Arc::from("/w"), ..Permissions::default() }
}

fn paths(path: &str, access: Access, zone: Zone) -> Subject {
    Subject::Paths(vec![PathUse { path: Arc::from(path), access, zone }])
}

fn shell(commands: &[&str]) -> Shell {
    let commands = commands.iter().map(|text| SimpleCommand::of(text.split(' '))).collect();
    Shell { commands, ..Shell::default() }
}

fn judged(permissions: &Permissions, tool: &str, subject: &Subject, effect: Effect) -> Says {
    says(&permissions.judge(Asked { tool, subject, effect, lean: Lean::Neutral, grants: &[] }))
}

fn write(path: &str, zone: Zone) -> PathUse {
    PathUse { path: Arc::from(path), access: Access::Write, zone }
}

// spec: PERMISSIONS-07, PERMISSIONS-08, PERMISSIONS-09
#[test]
fn every_mode_for_every_kind_of_call() {
    let read = paths("/w/a", Access::Read, Zone::Workspace);
    let far = paths("/x/a", Access::Read, Zone::Outside);
    let edit = paths("/w/a", Access::Write, Zone::Workspace);
    let far_edit = paths("/x/a", Access::Write, Zone::Outside);
    let protected = paths("/w/.git/config", Access::Write, Zone::Protected);
    let look = Subject::Shell(shell(&["cat a"]));
    let run = Subject::Shell(shell(&["npm test"]));
    let arrange = Subject::Shell(Shell {
        writes: vec![write("/w/x", Zone::Workspace)],
        ..shell(&["mkdir x", "touch x/y", "mv a b", "cp a b", "ls"])
    });
    let arrange_far =
        Subject::Shell(Shell { writes: vec![write("/x", Zone::Outside)], ..shell(&["mkdir /x"]) });
    let host = Subject::Domain(Arc::from("a.com"));
    let nothing = Subject::Nothing;
    let modes = [
        Mode::Default,
        Mode::AcceptEdits,
        Mode::Plan,
        Mode::PlanNone,
        Mode::DontAsk,
        Mode::Auto,
        Mode::BypassPermissions,
    ];
    #[rustfmt::skip]
    let rows: [(&str, &str, &Subject, Effect, [Says; 7]); 12] = [
        ("read", "Read", &read, Effect::None, [Allow, Allow, Allow, Deny, Allow, Allow, Allow]),
        ("read far", "Read", &far, Effect::None, [Open, Open, Open, Deny, Deny, Open, Allow]),
        ("edit", "Edit", &edit, Effect::Some, [Open, Allow, Deny, Deny, Deny, Open, Allow]),
        ("edit far", "Edit", &far_edit, Effect::Some, [Open, Open, Deny, Deny, Deny, Open, Allow]),
        ("protected", "Edit", &protected, Effect::Some, [Deny; 7]),
        ("look", "Bash", &look, Effect::Some, [Allow, Allow, Allow, Deny, Allow, Allow, Allow]),
        ("run", "Bash", &run, Effect::Some, [Open, Open, Deny, Deny, Deny, Open, Allow]),
        ("arrange", "Bash", &arrange, Effect::Some, [Open, Allow, Deny, Deny, Deny, Open, Allow]),
        ("arrange far", "Bash", &arrange_far, Effect::Some, [Open, Open, Deny, Deny, Deny, Open, Allow]),
        ("host", "WebFetch", &host, Effect::None, [Open, Open, Open, Deny, Deny, Open, Allow]),
        ("nothing", "Note", &nothing, Effect::None, [Allow, Allow, Allow, Deny, Allow, Allow, Allow]),
        ("something", "Deploy", &nothing, Effect::Some, [Open, Open, Deny, Deny, Deny, Open, Allow]),
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
    let run = Subject::Shell(shell(&["npm test"]));
    let judge = |p: &Permissions| judged(p, "Bash", &run, Effect::Some);
    let mut all = permissions(Mode::BypassPermissions);
    all.allow = rules(&["Bash"]);
    all.ask = rules(&["Bash(npm:*)"]);
    all.deny = rules(&["Bash(npm test)"]);
    assert_eq!(judge(&all), Deny);
    all.deny.clear();
    assert_eq!(judge(&all), Ask);
    all.ask.clear();
    assert_eq!(judge(&all), Allow);
    all.mode = Mode::Plan;
    assert_eq!(judge(&all), Deny, "the mode is heard before the allow rule");
    all.mode = Mode::DontAsk;
    assert_eq!(judge(&all), Allow);
    all.disallowed = rules(&["Bash"]);
    all.mode = Mode::BypassPermissions;
    assert_eq!(judge(&all), Deny, "what is disallowed never runs");
}

// spec: PERMISSIONS-04
#[test]
fn one_part_is_enough_to_deny_and_none_may_be_missing_to_allow() {
    let mut p = permissions(Mode::Default);
    p.allow = rules(&["Bash(npm test:*)", "Bash(echo:*)"]);
    p.deny = rules(&["Bash(curl:*)"]);
    let judge = |shell: Shell| judged(&p, "Bash", &Subject::Shell(shell), Effect::Some);
    assert_eq!(judge(shell(&["npm test", "echo x", "cat y"])), Allow);
    assert_eq!(judge(shell(&["npm test", "rm x"])), Open);
    assert_eq!(judge(shell(&["npm test", "curl x"])), Deny);
    assert_eq!(judge(shell(&[])), Open);
    let doubted = Shell { doubts: vec![Arc::from("?")], ..shell(&["npm test"]) };
    assert_eq!(judge(doubted.clone()), Ask, "a rule that denies may be about it");
    assert_eq!(judge(Shell { seen: Seen::Part, ..doubted }), Deny);
    let redirected = |zone| Shell { writes: vec![write("/w/o", zone)], ..shell(&["echo x"]) };
    assert_eq!(judge(redirected(Zone::Workspace)), Allow, "the command's own write");
    assert_eq!(judge(redirected(Zone::Outside)), Open);
    assert_eq!(judge(redirected(Zone::Protected)), Deny);
}

/// A rule for a command, or its being read-only, says nothing of where its output goes.
// spec: PERMISSIONS-15
#[test]
fn an_output_redirection_is_an_edit_of_its_own() {
    let to = |zone| {
        let redirects = vec![write("/w/o", zone)];
        Subject::Shell(Shell { redirects, ..shell(&["cat y"]) })
    };
    let judge = |p: &Permissions, zone| judged(p, "Bash", &to(zone), Effect::Some);
    let with = |mode, list: &[&str]| Permissions { allow: rules(list), ..permissions(mode) };
    for list in [&[][..], &["Bash(cat:*)"], &["Bash(cat y)"], &["Read"], &["Edit(src/**)"]] {
        for zone in [Zone::Workspace, Zone::Outside] {
            assert_eq!(judge(&with(Mode::Default, list), zone), Open, "{list:?}");
            assert_eq!(judge(&with(Mode::DontAsk, list), zone), Deny, "{list:?}");
            assert_eq!(judge(&with(Mode::Plan, list), zone), Deny, "{list:?}");
        }
        assert_eq!(judge(&with(Mode::AcceptEdits, list), Zone::Workspace), Allow, "{list:?}");
        assert_eq!(judge(&with(Mode::AcceptEdits, list), Zone::Outside), Open, "{list:?}");
        for mode in [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions] {
            assert_eq!(judge(&with(mode, list), Zone::Protected), Deny, "{list:?}");
        }
    }
    for list in [&["Edit"][..], &["Write"], &["Edit(/o)"], &["Edit(o)"], &["Bash"]] {
        assert_eq!(judge(&with(Mode::Default, list), Zone::Workspace), Allow, "{list:?}");
    }
    // A redirection is held back by the rules about edits.
    for held in ["Edit(o)", "Write(o)", "Edit(*)", "Edit", "Write"] {
        for mode in [Mode::BypassPermissions, Mode::AcceptEdits, Mode::Default] {
            let mut p = with(mode, &["Bash"]);
            p.ask = rules(&[held]);
            assert_eq!(judge(&p, Zone::Workspace), Ask, "{held} {mode:?}");
            p.deny = rules(&[held]);
            assert_eq!(judge(&p, Zone::Workspace), Deny, "{held} {mode:?}");
        }
    }
}

/// What a command may do without showing it is not covered by a rule that lets go.
// spec: PERMISSIONS-15
#[test]
fn what_a_held_back_file_or_program_may_hide_in_is_asked_about() {
    let scan = |scan: &str, command: &str| {
        let scans = vec![Scan { path: Arc::from(scan), access: Access::Read }];
        Subject::Shell(Shell { scans, ..shell(&[command]) })
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
        for (mode, list) in [(Mode::Default, "Bash"), (Mode::AcceptEdits, "Bash(cp:*)")] {
            let allow = rules(&[list, "Bash(cat:*)"]);
            for which in 0..3 {
                let mut p = Permissions { allow: allow.clone(), ..permissions(mode) };
                *[&mut p.deny, &mut p.ask, &mut p.disallowed][which] = rules(&[held]);
                let found = judged(&p, "Bash", &scan(path, "cat x"), Effect::Some);
                assert_eq!(found, if expected { Ask } else { Allow }, "{held} {path} {which}");
            }
        }
    }
    let mut p = Permissions { allow: rules(&["Bash"]), ..permissions(Mode::Default) };
    p.deny = rules(&["Bash(rm:*)"]);
    let hides = ["unknown rm f", "unknown -x /bin/rm", "unknown sh;rm", "unknown -Srm", "u A=b;rm"];
    for command in hides {
        let subject = Subject::Shell(shell(&[command]));
        assert_eq!(judged(&p, "Bash", &subject, Effect::Some), Ask, "{command}");
    }
    for command in ["echo rm", "git rm x", "cat rm", "unknown farm", "unknown form"] {
        let subject = Subject::Shell(shell(&[command]));
        assert_eq!(judged(&p, "Bash", &subject, Effect::Some), Allow, "{command}");
    }
}

// spec: PERMISSIONS-15
#[test]
fn a_protected_place_named_by_a_command_that_may_write_is_covered_by_no_rule() {
    let reads = vec![PathUse { access: Access::Read, ..write("/w/.git/x", Zone::Protected) }];
    let subject = Subject::Shell(Shell { reads, ..shell(&["tool .git/x"]) });
    for list in [&["Bash"][..], &["Bash(*)"], &["*"], &["Bash(tool:*)"], &["Bash(tool .git/x)"]] {
        let p = Permissions { allow: rules(list), ..permissions(Mode::Default) };
        assert_eq!(judged(&p, "Bash", &subject, Effect::Some), Ask, "{list:?}");
    }
    assert_eq!(
        judged(&permissions(Mode::BypassPermissions), "Bash", &subject, Effect::Some),
        Allow
    );
}

// spec: PERMISSIONS-04
#[test]
fn what_cannot_be_parsed_is_covered_only_by_a_rule_for_every_command() {
    let doubted = Subject::Shell(Shell { doubts: vec![Arc::from("?")], ..shell(&["ls"]) });
    let mut p = permissions(Mode::Default);
    p.allow = rules(&["Bash(ls)", "Bash(ls:*)", "Bash(l*)"]);
    assert_eq!(judged(&p, "Bash", &doubted, Effect::Some), Open);
    for every in ["Bash", "Bash(*)", "*"] {
        p.allow = rules(&[every]);
        assert_eq!(judged(&p, "Bash", &doubted, Effect::Some), Allow, "{every}");
    }
    // A rule that holds back may be about the part that cannot be seen.
    for held in ["Bash(rm:*)", "Read(.env)", "Edit(src/**)"] {
        for which in 0..3 {
            let mut p = p.clone();
            *[&mut p.deny, &mut p.ask, &mut p.disallowed][which] = rules(&[held]);
            assert_eq!(judged(&p, "Bash", &doubted, Effect::Some), Ask, "{held} {which}");
        }
    }
    p.deny = rules(&["WebFetch(domain:a.org)"]);
    assert_eq!(judged(&p, "Bash", &doubted, Effect::Some), Allow);
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
        vec![SimpleCommand::of(["tool9999x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]); 100];
    let long = Subject::Shell(Shell { commands, ..Shell::default() });
    assert_eq!(judged(&most, "Bash", &long, Effect::Some), Open);
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
    let json = serde_json::to_string(&permissions(Mode::Plan)).unwrap();
    assert_eq!(serde_json::from_str::<Permissions>(&json).unwrap(), permissions(Mode::Plan));
}

/// What a machine may decide is what nothing is held back of.
// spec: PERMISSIONS-15, PERMISSIONS-17
#[test]
fn neither_hook_nor_classifier_lets_go_what_may_be_held_back() {
    use super::verdict::Verdict;
    let scans = vec![Scan { path: Arc::from("/w/.en?"), access: Access::Read }];
    let hidden = Subject::Shell(Shell { scans, ..shell(&["cat .en?"]) });
    let reads = vec![PathUse { access: Access::Read, ..write("/w/.git/x", Zone::Protected) }];
    let protected = Subject::Shell(Shell { reads, ..shell(&["tool .git/x"]) });
    let doubted = Subject::Shell(Shell { doubts: vec![Arc::from("?")], ..shell(&["ls"]) });
    for subject in [&hidden, &protected, &doubted] {
        for (mode, lean) in [(Mode::Auto, Lean::Neutral), (Mode::Default, Lean::Allow)] {
            let mut p = Permissions { deny: rules(&["Read(.env)"]), ..permissions(mode) };
            p.allow = rules(&["Bash"]);
            let (tool, effect) = ("Bash", Effect::Some);
            let verdict = p.decide(Asked { tool, subject, effect, lean, grants: &[] });
            assert!(matches!(verdict, Verdict::Ask { .. }), "{mode:?} {verdict:?} {subject:?}");
        }
        let p = Permissions { deny: rules(&["Read(.env)"]), ..permissions(Mode::DontAsk) };
        assert_eq!(judged(&p, "Bash", subject, Effect::Some), Deny);
    }
}
