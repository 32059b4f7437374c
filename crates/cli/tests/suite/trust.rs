//! Folder trust: what it applies to, what it is bound to, and how it is revoked.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::terminal::TerminalSession;
use crate::test_home::TestHome;

const WRITE: &str = "when results 0\n  call Write {\"file_path\": \"new.txt\", \"content\": \"x\"}\n\
                     when any\n  say \"done\"\n";

const SETTINGS: &str = r#"{"permissions": {"allow": ["Write"]},
    "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo ran >> hooked"}]}]}}"#;

/// Creates a project in a folder of the test home.
fn project(home: &TestHome, name: &str) {
    std::fs::create_dir_all(home.path(name).join(".claude")).unwrap();
    std::fs::write(home.path(name).join(".claude/settings.json"), SETTINGS).unwrap();
}

/// Runs a prompt there, and returns whether its settings had an effect.
fn counts(home: &TestHome, name: &str) -> bool {
    let folder = home.path(name);
    for left in ["new.txt", "hooked"] {
        drop(std::fs::remove_file(folder.join(left)));
    }
    let ran = home.run_prompt_unattended("go", &["--workspace", folder.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (written, hooked) = (folder.join("new.txt").exists(), folder.join("hooked").exists());
    assert_eq!(written, hooked, "rules and hooks count together");
    assert_ne!(written, ran.err.contains("trusted"), "what is ignored is said: {}", ran.err);
    written
}

fn trust(home: &TestHome, args: &[&str], says: &str) {
    let ran = home.run_bare(&[&["trust"], args].concat());
    assert!(ran.code == 0 && ran.out.contains(says), "{args:?}: {}{}", ran.out, ran.err);
}

#[test]
fn trust_is_given_and_taken_back_and_says_nothing_of_other_folders() {
    let home = TestHome::new(WRITE);
    ["a", "a-b", "a/below", "other"].iter().for_each(|name| project(&home, name));
    assert!(!counts(&home, "a"));
    trust(&home, &["--revoke", "other"], "was not trusted");
    assert!(!counts(&home, "other") && !counts(&home, "a"), "revoking trusts nothing");
    trust(&home, &["a"], "is trusted");
    trust(&home, &["a"], "is already trusted");
    assert!(counts(&home, "a") && !counts(&home, "a-b") && !counts(&home, "a/below"));
    trust(&home, &["a", "--revoke"], "is no longer trusted");
    trust(&home, &["--revoke", "a"], "was not trusted");
    for name in ["a", "a-b", "a/below", "other"] {
        assert!(!counts(&home, name), "{name}");
    }
}

#[test]
fn odd_paths_are_the_folder_they_mean() {
    let home = TestHome::new(WRITE);
    ["a", "b\nc", "b", "d"].iter().for_each(|name| project(&home, name));
    std::os::unix::fs::symlink("d", home.path("link")).unwrap();
    trust(&home, &["a/"], "is trusted");
    trust(&home, &["./link/../a/."], "is already trusted");
    assert!(counts(&home, "a") && counts(&home, "a/"));
    trust(&home, &["b\nc"], "b\\nc is trusted");
    assert!(counts(&home, "b\nc") && !counts(&home, "b"));
    trust(&home, &["link"], "is trusted");
    assert!(counts(&home, "d") && counts(&home, "link"));
    trust(&home, &["--revoke", "d/"], "is no longer trusted");
    assert!(!counts(&home, "link"));
    // The trust of a removed folder can still be revoked.
    std::fs::remove_dir_all(home.path("a")).unwrap();
    trust(&home, &["--revoke", "a/"], "is no longer trusted");
    let ran = home.run_bare(&["trust", "gone"]);
    assert!(ran.code != 0 && ran.err.contains("gone"), "{}", ran.err);
}

#[test]
fn without_a_home_folder_nothing_is_trusted_and_nothing_is_written_into_the_project() {
    let home = TestHome::new(WRITE);
    project(&home, "a");
    let store = home.path("w.db");
    for (name, value) in [("HOME", ""), ("HOME", "rel"), ("HOME", "/proc/nowhere")] {
        let run = |args: &[&str]| {
            let mut command = home.command(args);
            command.env_remove("WINDLASS_HOME").env(name, value);
            command.current_dir(home.path("a")).stdin(std::process::Stdio::null());
            crate::test_home::CommandOutput::from(command.output().unwrap())
        };
        let ran = run(&["trust"]);
        assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{value}: {}", ran.err);
        let script = ["--script", "../a.script", "--store", store.to_str().unwrap()];
        let ran = run(&[&["-p", "go"], &script[..]].concat());
        assert!(ran.code == 0 && ran.err.contains("is not trusted"), "{value}: {}", ran.err);
        let left: Vec<_> = std::fs::read_dir(home.path("a")).unwrap().collect();
        assert_eq!(left.len(), 1, "{value}: {left:?}");
    }
}

#[test]
fn the_file_is_private_and_one_that_is_damaged_is_an_error() {
    let home = TestHome::new(WRITE);
    project(&home, "a");
    trust(&home, &["a"], "is trusted");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let file = home.path("home/trust.json");
    assert_eq!((mode(&file), mode(&home.path("home"))), (0o600, 0o700));
    let good = std::fs::read_to_string(&file).unwrap();
    let folder = home.path("a").canonicalize().unwrap();
    let entry = |path: &str| good.replace(folder.to_str().unwrap(), path);
    for (bad, says) in [
        ("", "is not valid"),
        ("\n", "is not valid"),
        ("[]", "is not valid"),
        (&entry(""), "relative path"),
        (&entry("a"), "relative path"),
        (&good.replace("\"version\": 1", "\"version\": 2"), "version 2"),
        (&good.replace("\"decision\"", "\"decided\""), "is not valid"),
    ] {
        std::fs::write(&file, bad).unwrap();
        let ran = home.run_prompt_unattended("go", &["--workspace", "a"]);
        assert!(ran.code != 0 && ran.err.contains(says), "{bad:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        let ran = home.run_bare(&["trust", "--revoke", "a"]);
        assert!(ran.code != 0 && ran.err.contains(says), "{bad:?}: {}", ran.err);
        assert!(!home.path("a/new.txt").exists() && !home.path("a/hooked").exists());
    }
    std::fs::write(&file, &good).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    let ran = home.run_prompt_unattended("go", &["--workspace", "a"]);
    assert!(ran.code != 0 && ran.err.contains("writable by other users"), "{}", ran.err);
}

// spec: PERMISSIONS-14
#[test]
fn trust_is_of_what_was_there_and_a_change_ends_it() {
    let home = TestHome::new(WRITE);
    project(&home, "a");
    std::fs::create_dir_all(home.path("a/.claude/commands")).unwrap();
    std::fs::create_dir_all(home.path("a/.claude/hooks")).unwrap();
    home.write("a/.claude/hooks/check.sh", "true");
    trust(&home, &["a"], "SessionStart: echo ran >> hooked");
    assert!(counts(&home, "a"));
    // Text and restrictions may change.
    home.write("a/CLAUDE.md", "Be brief.");
    home.write("a/.claude/commands/plain.md", "Do it.");
    let deny = SETTINGS.replace("\"allow\"", "\"deny\": [\"Bash\"], \"allow\"");
    home.write("a/.claude/settings.json", &deny);
    assert!(counts(&home, "a"));
    for (file, text, says) in [
        (".claude/settings.json", SETTINGS.replace("echo", "true; echo"), "hooks"),
        (
            ".claude/settings.json",
            SETTINGS.replace("[\"Write", "[\"Bash\", \"Write"),
            "allow rules",
        ),
        (".claude/settings.local.json", r#"{"env": {"A": "b"}}"#.to_owned(), "environment"),
        (".claude/settings.local.json", r#"{"apiKeyHelper": "x"}"#.to_owned(), "other settings"),
        (".mcp.json", r#"{"mcpServers": {"s": {"command": "x"}}}"#.to_owned(), "MCP servers"),
        (".claude/hooks/check.sh", "rm -rf x".to_owned(), "scripts"),
        (
            ".claude/commands/grants.md",
            "---\nallowed-tools: Bash\n---\nGo.".to_owned(),
            "command rules",
        ),
    ] {
        let path = home.path("a").join(file);
        let before = std::fs::read(&path).ok();
        std::fs::write(&path, text).unwrap();
        let ran = home.run_prompt_unattended("go", &["--workspace", "a"]);
        assert!(ran.err.contains(&format!("since you trusted it ({says}")), "{file}: {}", ran.err);
        assert!(!counts(&home, "a"), "{file}");
        match before {
            Some(before) => std::fs::write(&path, before).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        assert!(counts(&home, "a"), "what was trusted is trusted: {file}");
    }
    home.write("a/.claude/settings.local.json", r#"{"env": {"A": "b"}}"#);
    trust(&home, &["a"], "environment variables");
    assert!(counts(&home, "a"));
}

#[test]
fn a_folder_without_settings_says_nothing() {
    let home = TestHome::new(WRITE);
    std::fs::create_dir_all(home.path(".claude")).unwrap();
    home.write("CLAUDE.md", "Be brief.");
    home.write(".claude/settings.json", r#"{"permissions": {"deny": ["Bash"]}}"#);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(!ran.err.contains("trust"), "{}", ran.err);
    // The home folder is not a project.
    project(&home, "user");
    let ran = home.run_prompt_unattended("go", &["--workspace", "user"]);
    assert!(!ran.err.contains("trust"), "{}", ran.err);
    assert!(home.path("user/new.txt").exists(), "the user's own rules count there");
}

#[test]
fn at_a_terminal_the_user_is_asked_once_and_sees_what_trust_enables() {
    let home = TestHome::new(WRITE);
    project(&home, ".");
    let mut seat = TerminalSession::start(&home, &["-p", "go"]);
    seat.wait_for_text("[n] continue without these settings:");
    for expected in ["SessionStart: echo ran >> hooked", "allow: Write"] {
        assert!(seat.screen_text().contains(expected), "{}", seat.screen_text());
    }
    seat.type_in("n\n");
    seat.wait_for_text("[n] deny");
    seat.type_in("n\n");
    let (_, seen) = seat.end();
    assert!(!home.path("hooked").exists(), "{seen}");
    // The answer is stored, and a change leads to another question.
    let seat = TerminalSession::start(&home, &["-p", "go", "--when-asked", "deny"]);
    assert!(!seat.end().1.contains("[y] trust it"));
    home.write(".claude/settings.json", &SETTINGS.replace("echo", "echo it"));
    let mut seat = TerminalSession::start(&home, &["-p", "go"]);
    seat.wait_for_text("[n] continue without these settings:");
    seat.type_in("y\n");
    let (_, seen) = seat.end();
    assert!(home.path("hooked").exists() && home.path("new.txt").exists(), "{seen}");
    let (_, seen) = TerminalSession::start(&home, &["-p", "go"]).end();
    assert!(!seen.contains("trust"), "{seen}");
}

#[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let home = TestHome::new(WRITE);
    project(&home, ".");
    let mut seat = TerminalSession::start(&home, &["-p", "go"]);
    seat.type_in("y\ny\ny\n");
    seat.wait_for_text("[n] continue without these settings:");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!home.path("hooked").exists(), "{}", seat.screen_text());
    seat.type_in("n\n");
    seat.wait_for_text("[n] deny");
    seat.type_in("n\n");
    seat.end();
    assert!(!home.path("hooked").exists());
}

/// A model that may edit files cannot write a script that a hook runs at its next call.
// spec: PERMISSIONS-15
#[test]
fn a_script_that_a_hook_runs_is_not_for_the_model_to_write() {
    for (command, file) in [
        ("sh scripts/h.sh", "scripts/h.sh"),
        ("./scripts/h.sh || true", "scripts/h.sh"),
        ("\\\"$CLAUDE_PROJECT_DIR\\\"/scripts/h.sh", "scripts/h.sh"),
        ("true && python3 h.py", "h.py"),
    ] {
        let content = "touch MODEL_CODE_RAN # open('MODEL_CODE_RAN','w')";
        let read = serde_json::json!({ "file_path": file });
        let write = serde_json::json!({ "file_path": file, "content": content });
        let home = TestHome::new(&format!(
            "when results 0\n  call Read {read}\nwhen results 1\n  call Write {write}\n\
             when results 2\n  call Bash {{\"command\": \"ls\"}}\nwhen any\n  say \"done\"\n"
        ));
        std::fs::create_dir_all(home.path("a/.claude")).unwrap();
        std::fs::create_dir_all(home.path("a/scripts")).unwrap();
        home.write(&format!("a/{file}"), "#");
        let run = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(home.path("a").join(file), run).unwrap();
        home.write(
            "a/.claude/settings.json",
            &format!(
                "{{\"hooks\": {{\"PreToolUse\": [{{\"matcher\": \"\", \"hooks\": \
                 [{{\"type\": \"command\", \"command\": \"{command}\"}}]}}]}}}}"
            ),
        );
        trust(&home, &["a"], "is trusted");
        let ran = home
            .run_prompt_unattended("go", &["--workspace", "a", "--permission-mode", "acceptEdits"]);
        assert!(!home.path("a/MODEL_CODE_RAN").exists(), "{command}");
        let text = std::fs::read_to_string(home.path("a").join(file)).unwrap();
        assert_eq!(text, "#", "{command}: {} {}", ran.out, ran.err);
    }
}

/// Nor scripts that other agents run which use the same files.
// spec: PERMISSIONS-15
#[test]
fn a_script_that_a_helper_or_a_server_runs_is_not_for_the_model_to_write() {
    for (settings, servers) in [
        (r#"{"apiKeyHelper": "sh tools/h.sh"}"#, "{}"),
        (r#"{"statusLine": {"type": "command", "command": "cd tools && ./h.sh"}}"#, "{}"),
        ("{}", r#"{"mcpServers": {"x": {"command": "sh", "args": ["tools/h.sh"]}}}"#),
        ("{}", r#"{"mcpServers": {"x": {"command": "./h.sh", "cwd": "tools"}}}"#),
    ] {
        let home = TestHome::new(
            "when results 0\n  call Read {\"file_path\": \"tools/h.sh\"}\nwhen result of Read\n  \
             call Write {\"file_path\": \"tools/h.sh\", \"content\": \"evil\"}\n\
             when any\n  say \"done\"\n",
        );
        std::fs::create_dir_all(home.path("a/.claude")).unwrap();
        std::fs::create_dir_all(home.path("a/tools")).unwrap();
        home.write("a/tools/h.sh", "#");
        home.write("a/.claude/settings.json", settings);
        home.write("a/.mcp.json", servers);
        trust(&home, &["a"], "is trusted");
        let ran = home
            .run_prompt_unattended("go", &["--workspace", "a", "--permission-mode", "acceptEdits"]);
        let text = std::fs::read_to_string(home.path("a/tools/h.sh")).unwrap();
        assert_eq!(text, "#", "{settings} {servers}: {} {}", ran.out, ran.err);
    }
}

/// What would run is shown with all characters escaped.
#[test]
fn trust_shows_characters_that_nobody_could_see() {
    let home = TestHome::new(WRITE);
    std::fs::create_dir_all(home.path("a/.claude")).unwrap();
    let command = r"true #\r\u001b[2Kecho harmless\u200b two";
    home.write("a/.claude/settings.json", &SETTINGS.replace("echo ran >> hooked", command));
    let output = r"true #\r\u001b[2Kecho harmless\u200b two";
    trust(&home, &["a"], output);
}

#[test]
fn trust_ends_when_a_file_changes_that_a_hook_a_server_or_a_helper_runs() {
    let home = TestHome::new(WRITE);
    for (nth, settings) in [
        r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "sh tools/check.sh"}]}]}}"#,
        r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "cd tools && ./check.sh >> log"}]}]}}"#,
        r#"{"apiKeyHelper": "$CLAUDE_PROJECT_DIR/tools/check.sh"}"#,
        r#"{"mcp": true}"#,
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("p{nth}");
        let folder = home.path(&name);
        std::fs::create_dir_all(folder.join("tools")).unwrap();
        std::fs::create_dir_all(folder.join(".claude")).unwrap();
        let settings = match settings {
            r#"{"mcp": true}"# => {
                let servers = r#"{"mcpServers": {"x": {"command": "sh", "args": ["tools/check.sh"]}}}"#;
                std::fs::write(folder.join(".mcp.json"), servers).unwrap();
                "{}"
            }
            other => other,
        };
        std::fs::write(folder.join(".claude/settings.json"), settings).unwrap();
        let script = |more: &str| {
            let text = format!("#!/bin/sh\ntouch $CLAUDE_PROJECT_DIR/ran\n{more}");
            std::fs::write(folder.join("tools/check.sh"), text).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(folder.join("tools/check.sh"), mode).unwrap();
        };
        let run = || {
            drop(std::fs::remove_file(folder.join("ran")));
            let ran = home.run_prompt_unattended("go", &["--workspace", folder.to_str().unwrap()]);
            (folder.join("ran").exists(), ran.err.contains("changed since you trusted it (scripts)"))
        };
        let runs = nth != 2;
        script("");
        trust(&home, &[&name], "tools/check.sh");
        assert_eq!(run(), (runs, false), "{settings}");
        assert_eq!(run(), (runs, false), "what a hook writes is not what it runs: {settings}");
        // A change of one byte at the end of a large file counts as well.
        script(&format!("#{}\n", "x".repeat(2 << 20)));
        assert_eq!(run(), (false, true), "{settings}");
        trust(&home, &[&name], "tools/check.sh");
        assert_eq!(run(), (runs, false), "{settings}");
        script(&format!("#{}\n ", "x".repeat(2 << 20)));
        assert_eq!(run(), (false, true), "{settings}");
    }
}

/// A file of data whose name occurs in the settings may change; what a variable makes programs run
/// may not.
#[test]
fn a_variable_ends_trust_only_with_a_file_that_is_run() {
    let home = TestHome::new(WRITE);
    let hook = r#""hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "HOOK", "statusMessage": "see data.json"}]}]}"#;
    for (nth, (env, command, changed)) in [
        (r#"{"APP_DATA": "data.json"}"#, "touch ran", false),
        (r#"{"BASH_ENV": "data.json"}"#, "touch ran", true),
        (r#"{"APP_DATA": "data.json"}"#, "touch ran; sh $APP_DATA", true),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = home.path(&format!("v{nth}"));
        std::fs::create_dir_all(folder.join(".claude")).unwrap();
        std::fs::write(folder.join("data.json"), "").unwrap();
        let settings = format!("{{\"env\": {env}, {}}}", hook.replace("HOOK", command));
        std::fs::write(folder.join(".claude/settings.json"), settings).unwrap();
        trust(&home, &[folder.to_str().unwrap()], "is trusted");
        std::fs::write(folder.join("data.json"), "# new").unwrap();
        let ran = home.run_prompt_unattended("go", &["--workspace", folder.to_str().unwrap()]);
        assert_eq!(folder.join("ran").exists(), !changed, "{env} {command}: {}", ran.err);
        assert_eq!(
            ran.err.contains("changed since you trusted it (scripts)"),
            changed,
            "{}",
            ran.err
        );
    }
}

#[test]
fn a_folder_that_runs_more_than_is_checked_cannot_be_trusted() {
    let home = TestHome::new(WRITE);
    project(&home, "a");
    std::fs::create_dir_all(home.path("a/.claude/hooks")).unwrap();
    let huge = std::fs::File::create(home.path("a/.claude/hooks/huge")).unwrap();
    huge.set_len(65 << 20).unwrap();
    let ran = home.run_bare(&["trust", "a"]);
    assert!(ran.code == 1 && ran.err.contains("cannot be trusted"), "{}{}", ran.out, ran.err);
    assert!(!counts(&home, "a"));
    std::fs::remove_file(home.path("a/.claude/hooks/huge")).unwrap();
    trust(&home, &["a"], "is trusted");
    assert!(counts(&home, "a"));
}
