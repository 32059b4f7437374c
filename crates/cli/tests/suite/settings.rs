//! Mistakes in settings are reported, by a run and by `doctor` alike.

use crate::test_home::TestHome;

const HELLO: &str = "when any\n  say \"hello\"\n";

fn new_home(settings: &str) -> TestHome {
    let home = TestHome::new(HELLO);
    std::fs::create_dir(home.path(".claude")).unwrap();
    home.write(".claude/settings.json", settings);
    home
}

const HOOK: &str = r#"[{"hooks": [{"type": "command", "command": "true"}]}]"#;

// spec: PERMISSIONS-22
#[test]
fn slips_are_errors_for_a_run_and_for_doctor() {
    let hooks = |hooks: &str| format!(r#"{{"hooks": {hooks}}}"#);
    for (settings, says) in [
        ("[]".to_owned(), "must be a JSON object"),
        ("7".to_owned(), "must be a JSON object"),
        (r#"{"permissionss": {}}"#.to_owned(), "did you mean `permissions`?"),
        (r#"{"Env": {}}"#.to_owned(), "did you mean `env`?"),
        (r#"{"permissions": []}"#.to_owned(), "`permissions` must be an object"),
        (r#"{"permissions": {"deny": "Bash"}}"#.to_owned(), "`permissions.deny` must be a list of"),
        (r#"{"permissions": {"alow": []}}"#.to_owned(), "did you mean `allow`?"),
        (r#"{"permissions": {"deny": ["bash(ls)"]}}"#.to_owned(), "did you mean `Bash`?"),
        (r#"{"permissions": {"deny": ["Nope(x)"]}}"#.to_owned(), "unknown tool `Nope`"),
        (r#"{"permissions": {"ask": ["Nope"]}}"#.to_owned(), "deny nothing"),
        (r#"{"permissions": {"allow": ["Reed"]}}"#.to_owned(), "did you mean `Read`?"),
        (r#"{"permissions": {"allow": ["Bash(x"]}}"#.to_owned(), "closing bracket is missing"),
        (r#"{"permissions": {"defaultMode": "foo"}}"#.to_owned(), "unknown permission mode `foo`"),
        (r#"{"env": {"A": 1}}"#.to_owned(), "`env.A` must be a text"),
        (r#"{"model": 7}"#.to_owned(), "`model` must be a text"),
        (hooks("[]"), "object of events"),
        (hooks(&format!(r#"{{"PreToolUsee": {HOOK}}}"#)), "did you mean `PreToolUse`?"),
        (hooks(&format!(r#"{{"WorktreeCreat": {HOOK}}}"#)), "did you mean `WorktreeCreate`?"),
        (
            hooks(&format!(r#"{{"Stop": {}}}"#, HOOK.replace("command\"", "comand\""))),
            "did you mean `command`?",
        ),
        (
            hooks(&format!(
                r#"{{"Stop": {}}}"#,
                HOOK.replace("\"hooks\"", "\"matcherr\": \"\", \"hooks\"")
            )),
            "did you mean `matcher`?",
        ),
        (hooks(r#"{"Stop": [{"hooks": [{"command": "x"}]}]}"#), "has no `type`"),
        (
            hooks(r#"{"PreToolUse": [{"matcher": "bash", "hooks": []}]}"#),
            "unknown tool in the matcher of a hook: `bash`; did you mean `Bash`?",
        ),
        (
            hooks(r#"{"PostToolUse": [{"matcher": "Edit|Wrte", "hooks": []}]}"#),
            "did you mean `Write`?",
        ),
        (
            hooks(r#"{"SessionStart": [{"matcher": "startupp", "hooks": []}]}"#),
            "unknown matcher of SessionStart `startupp`; did you mean `startup`?",
        ),
        (r#"{"permissions": {"deny": ["B*sh(touch *)"]}}"#.to_owned(), "would cover nothing"),
        (r#"{"permissions": {"allow": ["*(rm *)"]}}"#.to_owned(), "would cover nothing"),
        (
            r#"{"permissions": {"deny": ["Bash"], "deny": []}}"#.to_owned(),
            "`deny` occurs twice in one object",
        ),
        (r#"{"hooks": {}, "hooks": {}}"#.to_owned(), "`hooks` occurs twice in one object"),
        (
            r#"{"permissions": {"disableBypassPermissionsMode": "disabled"}}"#.to_owned(),
            "`permissions.disableBypassPermissionsMode` must be `disable`",
        ),
        (r#"{"disableAllHooks": "yes"}"#.to_owned(), "`disableAllHooks` must be true or false"),
    ] {
        let home = new_home(&settings);
        let ran = home.run_prompt_unattended("go", &[]);
        assert!(ran.code != 0 && ran.err.contains(says), "{settings}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{settings}: {}", ran.err);
        let doctor = home.run(&["doctor"]);
        assert!(doctor.code != 0 && doctor.out.contains(says), "{settings}: {}", doctor.out);
        // The same rule as a flag.
        std::fs::remove_file(home.path(".claude/settings.json")).unwrap();
        if settings.starts_with('{') {
            let ran = home.run_prompt_unattended("go", &["--settings", &settings]);
            assert!(ran.code != 0 && ran.err.contains(says), "{settings}: {}", ran.err);
        }
    }
}

// spec: PERMISSIONS-22
#[test]
fn names_of_claude_code_are_accepted_and_listed_and_others_are_warned_of() {
    let known = r#"{"$schema": "x", "statusLine": {}, "sandbox": {"enabled": true},
        "permissions": {"allow": ["WebFetch(domain:example.com)", "mcp__git", "Task"],
            "deny": ["mcp__x__y", "WebSearch", "NotebookEdit"], "disableAutoMode": "disable"},
        "hooks": {"ConfigChange": [], "PreToolUse": [{"matcher": "Task|CronList|mcp__git", "hooks": []}],
            "SessionEnd": [{"matcher": "logout", "hooks": []}], "Stop": [{"hooks": [{"type": "agent", "prompt": "x"}]}]}}"#;
    let home = new_home(known);
    let ran = home.run_prompt_unattended("go", &["--strict-settings"]);
    assert_eq!((ran.code, ran.err.contains("unknown")), (0, false), "{}", ran.err);
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{}", doctor.out);
    for listed in [
        "accepted without effect",
        "setting statusLine",
        "permissions setting disableAutoMode",
        "rule NotebookEdit",
        "hook event `ConfigChange`",
        "type of hook `agent`",
        "tool in the matcher of a hook: CronList",
        "matcher of SessionEnd `logout`",
    ] {
        assert!(doctor.out.contains(listed), "{listed}: {}", doctor.out);
    }
    let unknown = r#"{"colourOfTheSky": "blue", "permissions": {"allow": ["Teleport"]},
        "hooks": {"PreToolUse": [{"matcher": "Levitate", "hooks": []}]}}"#;
    home.write(".claude/settings.json", unknown);
    let ran = home.run_prompt_unattended("go", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "hello\n"), "{}", ran.err);
    let matcher = "unknown tool in the matcher of a hook: `Levitate`";
    for expected in ["unknown setting `colourOfTheSky`", "unknown tool `Teleport`", matcher] {
        assert_eq!(ran.err.matches(expected).count(), 1, "{}", ran.err);
        assert!(home.run(&["doctor"]).out.contains(expected));
    }
    let ran = home.run_prompt_unattended("go", &["--strict-settings"]);
    assert!(ran.code != 0 && ran.err.contains("colourOfTheSky"), "{}", ran.err);
}

// spec: PERMISSIONS-22
#[test]
fn slips_in_flags_are_errors() {
    let home = TestHome::new(HELLO);
    for (flags, says) in [
        (["--allow", "bash"], "did you mean `Bash`?"),
        (["--deny", "Nope"], "unknown tool `Nope`"),
        (["--deny", "bash(ls)"], "did you mean `Bash`?"),
        (["--setting-sources", "foo"], "unknown settings source `foo`"),
        (["--setting-sources", "user,projekt"], "unknown settings source `projekt`"),
    ] {
        let ran = home.run_prompt_unattended("go", &flags);
        assert!(ran.code != 0 && ran.err.contains(says), "{flags:?}: {}", ran.err);
    }
    assert_eq!(home.run_prompt_unattended("go", &["--setting-sources", ""]).code, 0);
    let ran = home.run_prompt_unattended("go", &["--allow", "Teleport"]);
    assert!(ran.code == 0 && ran.err.contains("unknown tool `Teleport`"), "{}", ran.err);
    let ran = home.run_prompt_unattended("go", &["--allow", "Teleport", "--strict-settings"]);
    assert!(ran.code != 0 && ran.err.contains("Teleport"), "{}", ran.err);
}

#[test]
fn settings_can_forbid_to_bypass_permissions() {
    let home = new_home(r#"{"permissions": {"disableBypassPermissionsMode": "disable"}}"#);
    let store = home.path("w.db");
    let go = ["-p", "go", "--script", "a.script", "--dangerously-skip-permissions", "--store"];
    let go = [&go[..], &[store.to_str().unwrap()]].concat();
    let ran = home.run_with_env(&go, &[("IS_SANDBOX", "1")]);
    assert!(ran.code != 0 && ran.err.contains("forbid bypassPermissions"), "{}", ran.err);
}

/// Creates what is not a regular file, as a repository may bring it.
fn make_trap(home: &TestHome, name: &str) {
    let path = home.path(name);
    drop(std::fs::remove_file(&path));
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &path, pipe, rustix::fs::Mode::from(0o600), 0).unwrap();
}

#[test]
fn settings_that_are_no_file_of_ones_own_are_told_and_nothing_hangs() {
    let home = new_home("{}");
    let said = |says: &str| {
        let ran = home.run_prompt_unattended("go", &[]);
        assert!(ran.code != 0 && ran.err.contains(says), "{says}: {}", ran.err);
        assert!(ran.err.contains("settings.json") && ran.err.lines().count() == 1, "{}", ran.err);
        let doctor = home.run(&["doctor"]);
        assert!(doctor.code != 0 && doctor.out.contains(says), "{says}: {}", doctor.out);
        // If the source is left out, it does not stop the run.
        let ran = home.run_prompt_unattended("go", &["--setting-sources", "user"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "hello\n"), "{}", ran.err);
    };
    let file = ".claude/settings.json";
    make_trap(&home, file);
    said("not a regular file");
    for target in ["/dev/zero", "/etc/shadow", "../elsewhere.json"] {
        std::fs::remove_file(home.path(file)).unwrap();
        std::os::unix::fs::symlink(target, home.path(file)).unwrap();
        said("symbolic link");
    }
    std::fs::remove_file(home.path(file)).unwrap();
    home.write(file, &" ".repeat((4 << 20) + 1));
    said("is larger than 4096 KiB");
    std::fs::remove_dir_all(home.path(".claude")).unwrap();
    std::fs::create_dir(home.path("there")).unwrap();
    home.write("there/settings.json", "{}");
    std::os::unix::fs::symlink("there", home.path(".claude")).unwrap();
    said("symbolic link");
}

#[test]
fn memory_that_is_no_file_of_ones_own_never_reaches_the_model() {
    let home = TestHome::new(HELLO);
    home.write("secret.txt", "the secret of the house");
    std::os::unix::fs::symlink(home.path("secret.txt"), home.path("CLAUDE.md")).unwrap();
    make_trap(&home, "AGENTS.md");
    std::os::unix::fs::symlink("/dev/zero", home.path("CLAUDE.local.md")).unwrap();
    let ran = home.run_prompt_unattended("go", &["--conversation", "c"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "hello\n"), "{}", ran.err);
    for name in ["CLAUDE.md", "AGENTS.md", "CLAUDE.local.md"] {
        assert!(ran.err.contains(&format!("{name} are ignored")), "{name}: {}", ran.err);
    }
    let store = std::fs::read(home.path("w.db")).unwrap();
    assert!(!String::from_utf8_lossy(&store).contains("the secret of the house"));
}

#[test]
fn the_users_own_files_may_be_links_of_the_users_own() {
    let place = TestHome::new("when any\n  call Bash {\"command\": \"true\"}\n");
    for folder in ["user/.claude", "dotfiles", "home"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("dotfiles/settings.json", r#"{"permissions": {"deny": ["Nope"]}}"#);
    let link = place.path("user/.claude/settings.json");
    std::os::unix::fs::symlink(place.path("dotfiles/settings.json"), link).unwrap();
    let ran = place.run_prompt_unattended("go", &[]);
    assert!(ran.err.contains("unknown tool `Nope`"), "{}", ran.err);
    place.write("dotfiles/settings.json", "{}");
    make_trap(&place, "home/config.toml");
    let ran = place.run_prompt_unattended("go", &[]);
    assert!(ran.err.contains("config.toml is not a regular file"), "{}", ran.err);
}

#[test]
fn imports_need_trust_and_a_long_file_is_told() {
    let home = TestHome::new(HELLO);
    home.write("CLAUDE.md", &format!("@more.md\n{}", "x ".repeat(40 << 10)));
    home.write("more.md", "words of another page");
    let stored = || {
        let store = std::fs::read(home.path("w.db")).unwrap();
        String::from_utf8_lossy(&store).contains("words of another page")
    };
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.err.contains("imports work only in trusted folders"), "{}", ran.err);
    assert!(ran.err.contains("longer than 64 KiB") && !stored(), "{}", ran.err);
    assert_eq!(home.run_bare(&["trust"]).code, 0);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(!ran.err.contains("imports") && stored(), "{}", ran.err);
}
