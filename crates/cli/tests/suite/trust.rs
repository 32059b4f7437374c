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
fn project(place: &TestHome, name: &str) {
    std::fs::create_dir_all(place.path(name).join(".claude")).unwrap();
    std::fs::write(place.path(name).join(".claude/settings.json"), SETTINGS).unwrap();
}

/// Runs a prompt there, and returns whether its settings had an effect.
fn counts(place: &TestHome, name: &str) -> bool {
    let folder = place.path(name);
    for left in ["new.txt", "hooked"] {
        drop(std::fs::remove_file(folder.join(left)));
    }
    let ran = place.run_prompt_unattended("go", &["--workspace", folder.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let (written, hooked) = (folder.join("new.txt").exists(), folder.join("hooked").exists());
    assert_eq!(written, hooked, "rules and hooks count together");
    assert_ne!(written, ran.err.contains("trusted"), "what is ignored is said: {}", ran.err);
    written
}

fn trust(place: &TestHome, args: &[&str], says: &str) {
    let ran = place.run_bare(&[&["trust"], args].concat());
    assert!(ran.code == 0 && ran.out.contains(says), "{args:?}: {}{}", ran.out, ran.err);
}

#[test]
fn trust_is_given_and_taken_back_and_says_nothing_of_other_folders() {
    let place = TestHome::new(WRITE);
    ["a", "a-b", "a/below", "other"].iter().for_each(|name| project(&place, name));
    assert!(!counts(&place, "a"));
    trust(&place, &["--revoke", "other"], "was not trusted");
    assert!(!counts(&place, "other") && !counts(&place, "a"), "revoking trusts nothing");
    trust(&place, &["a"], "is trusted");
    trust(&place, &["a"], "is already trusted");
    assert!(counts(&place, "a") && !counts(&place, "a-b") && !counts(&place, "a/below"));
    trust(&place, &["a", "--revoke"], "is no longer trusted");
    trust(&place, &["--revoke", "a"], "was not trusted");
    for name in ["a", "a-b", "a/below", "other"] {
        assert!(!counts(&place, name), "{name}");
    }
}

#[test]
fn odd_paths_are_the_folder_they_mean() {
    let place = TestHome::new(WRITE);
    ["a", "b\nc", "b", "d"].iter().for_each(|name| project(&place, name));
    std::os::unix::fs::symlink("d", place.path("link")).unwrap();
    trust(&place, &["a/"], "is trusted");
    trust(&place, &["./link/../a/."], "is already trusted");
    assert!(counts(&place, "a") && counts(&place, "a/"));
    trust(&place, &["b\nc"], "is trusted");
    assert!(counts(&place, "b\nc") && !counts(&place, "b"));
    trust(&place, &["link"], "is trusted");
    assert!(counts(&place, "d") && counts(&place, "link"));
    trust(&place, &["--revoke", "d/"], "is no longer trusted");
    assert!(!counts(&place, "link"));
    // The trust of a removed folder can still be revoked.
    std::fs::remove_dir_all(place.path("a")).unwrap();
    trust(&place, &["--revoke", "a/"], "is no longer trusted");
    let ran = place.run_bare(&["trust", "gone"]);
    assert!(ran.code != 0 && ran.err.contains("gone"), "{}", ran.err);
}

#[test]
fn without_a_home_folder_nothing_is_trusted_and_nothing_is_written_into_the_project() {
    let place = TestHome::new(WRITE);
    project(&place, "a");
    let store = place.path("w.db");
    for (name, value) in [("HOME", ""), ("HOME", "rel"), ("HOME", "/proc/nowhere")] {
        let run = |args: &[&str]| {
            let mut command = place.command(args);
            command.env_remove("WINDLASS_HOME").env(name, value);
            command.current_dir(place.path("a")).stdin(std::process::Stdio::null());
            crate::test_home::CommandOutput::from(command.output().unwrap())
        };
        let ran = run(&["trust"]);
        assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{value}: {}", ran.err);
        let script = ["--script", "../a.script", "--store", store.to_str().unwrap()];
        let ran = run(&[&["-p", "go"], &script[..]].concat());
        assert!(ran.code == 0 && ran.err.contains("is not trusted"), "{value}: {}", ran.err);
        let left: Vec<_> = std::fs::read_dir(place.path("a")).unwrap().collect();
        assert_eq!(left.len(), 1, "{value}: {left:?}");
    }
}

#[test]
fn the_file_is_private_and_one_that_is_damaged_is_an_error() {
    let place = TestHome::new(WRITE);
    project(&place, "a");
    trust(&place, &["a"], "is trusted");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let file = place.path("home/trust.json");
    assert_eq!((mode(&file), mode(&place.path("home"))), (0o600, 0o700));
    let good = std::fs::read_to_string(&file).unwrap();
    let folder = place.path("a").canonicalize().unwrap();
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
        let ran = place.run_prompt_unattended("go", &["--workspace", "a"]);
        assert!(ran.code != 0 && ran.err.contains(says), "{bad:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        let ran = place.run_bare(&["trust", "--revoke", "a"]);
        assert!(ran.code != 0 && ran.err.contains(says), "{bad:?}: {}", ran.err);
        assert!(!place.path("a/new.txt").exists() && !place.path("a/hooked").exists());
    }
    std::fs::write(&file, &good).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
    let ran = place.run_prompt_unattended("go", &["--workspace", "a"]);
    assert!(ran.code != 0 && ran.err.contains("writable by other users"), "{}", ran.err);
}

// spec: PERMISSIONS-14
#[test]
fn trust_is_of_what_was_there_and_a_change_ends_it() {
    let place = TestHome::new(WRITE);
    project(&place, "a");
    std::fs::create_dir_all(place.path("a/.claude/commands")).unwrap();
    std::fs::create_dir_all(place.path("a/.claude/hooks")).unwrap();
    place.write("a/.claude/hooks/check.sh", "true");
    trust(&place, &["a"], "SessionStart: echo ran >> hooked");
    assert!(counts(&place, "a"));
    // Text and restrictions may change.
    place.write("a/CLAUDE.md", "Be brief.");
    place.write("a/.claude/commands/plain.md", "Do it.");
    let deny = SETTINGS.replace("\"allow\"", "\"deny\": [\"Bash\"], \"allow\"");
    place.write("a/.claude/settings.json", &deny);
    assert!(counts(&place, "a"));
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
        let path = place.path("a").join(file);
        let before = std::fs::read(&path).ok();
        std::fs::write(&path, text).unwrap();
        let ran = place.run_prompt_unattended("go", &["--workspace", "a"]);
        assert!(ran.err.contains(&format!("since you trusted it ({says}")), "{file}: {}", ran.err);
        assert!(!counts(&place, "a"), "{file}");
        match before {
            Some(before) => std::fs::write(&path, before).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        assert!(counts(&place, "a"), "what was trusted is trusted: {file}");
    }
    place.write("a/.claude/settings.local.json", r#"{"env": {"A": "b"}}"#);
    trust(&place, &["a"], "environment variables");
    assert!(counts(&place, "a"));
}

#[test]
fn a_folder_without_settings_says_nothing() {
    let place = TestHome::new(WRITE);
    std::fs::create_dir_all(place.path(".claude")).unwrap();
    place.write("CLAUDE.md", "Be brief.");
    place.write(".claude/settings.json", r#"{"permissions": {"deny": ["Bash"]}}"#);
    let ran = place.run_prompt_unattended("go", &[]);
    assert!(!ran.err.contains("trust"), "{}", ran.err);
    // The home folder is not a project.
    project(&place, "user");
    let ran = place.run_prompt_unattended("go", &["--workspace", "user"]);
    assert!(!ran.err.contains("trust"), "{}", ran.err);
    assert!(place.path("user/new.txt").exists(), "the user's own rules count there");
}

#[test]
fn at_a_terminal_the_user_is_asked_once_and_sees_what_trust_enables() {
    let place = TestHome::new(WRITE);
    project(&place, ".");
    let mut seat = TerminalSession::start(&place, &["-p", "go"]);
    seat.wait_for_text("[n] continue without these settings:");
    for shown in ["SessionStart: echo ran >> hooked", "allow: Write"] {
        assert!(seat.screen_text().contains(shown), "{}", seat.screen_text());
    }
    seat.type_in("n\n");
    seat.wait_for_text("new.txt");
    seat.type_in("n\n");
    let (_, seen) = seat.end();
    assert!(!place.path("hooked").exists(), "{seen}");
    // The answer is stored, and a change leads to another question.
    let seat = TerminalSession::start(&place, &["-p", "go", "--when-asked", "deny"]);
    assert!(!seat.end().1.contains("[y] trust it"));
    place.write(".claude/settings.json", &SETTINGS.replace("echo", "echo it"));
    let mut seat = TerminalSession::start(&place, &["-p", "go"]);
    seat.wait_for_text("[n] continue without these settings:");
    seat.type_in("y\n");
    let (_, seen) = seat.end();
    assert!(place.path("hooked").exists() && place.path("new.txt").exists(), "{seen}");
    let (_, seen) = TerminalSession::start(&place, &["-p", "go"]).end();
    assert!(!seen.contains("trust"), "{seen}");
}

#[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let place = TestHome::new(WRITE);
    project(&place, ".");
    let mut seat = TerminalSession::start(&place, &["-p", "go"]);
    seat.type_in("y\ny\ny\n");
    seat.wait_for_text("[n] continue without these settings:");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!place.path("hooked").exists(), "{}", seat.screen_text());
    seat.type_in("n\n");
    seat.wait_for_text("[n] deny");
    seat.type_in("n\n");
    seat.end();
    assert!(!place.path("hooked").exists());
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
        let place = TestHome::new(&format!(
            "when results 0\n  call Read {read}\nwhen results 1\n  call Write {write}\n\
             when results 2\n  call Bash {{\"command\": \"ls\"}}\nwhen any\n  say \"done\"\n"
        ));
        std::fs::create_dir_all(place.path("a/.claude")).unwrap();
        std::fs::create_dir_all(place.path("a/scripts")).unwrap();
        place.write(&format!("a/{file}"), "#");
        let run = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path("a").join(file), run).unwrap();
        place.write(
            "a/.claude/settings.json",
            &format!(
                "{{\"hooks\": {{\"PreToolUse\": [{{\"matcher\": \"\", \"hooks\": \
                 [{{\"type\": \"command\", \"command\": \"{command}\"}}]}}]}}}}"
            ),
        );
        trust(&place, &["a"], "is trusted");
        let ran = place
            .run_prompt_unattended("go", &["--workspace", "a", "--permission-mode", "acceptEdits"]);
        assert!(!place.path("a/MODEL_CODE_RAN").exists(), "{command}");
        let text = std::fs::read_to_string(place.path("a").join(file)).unwrap();
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
        let place = TestHome::new(
            "when results 0\n  call Read {\"file_path\": \"tools/h.sh\"}\nwhen result of Read\n  \
             call Write {\"file_path\": \"tools/h.sh\", \"content\": \"evil\"}\n\
             when any\n  say \"done\"\n",
        );
        std::fs::create_dir_all(place.path("a/.claude")).unwrap();
        std::fs::create_dir_all(place.path("a/tools")).unwrap();
        place.write("a/tools/h.sh", "#");
        place.write("a/.claude/settings.json", settings);
        place.write("a/.mcp.json", servers);
        trust(&place, &["a"], "is trusted");
        let ran = place
            .run_prompt_unattended("go", &["--workspace", "a", "--permission-mode", "acceptEdits"]);
        let text = std::fs::read_to_string(place.path("a/tools/h.sh")).unwrap();
        assert_eq!(text, "#", "{settings} {servers}: {} {}", ran.out, ran.err);
    }
}

/// What would run is shown with all characters escaped.
#[test]
fn trust_shows_characters_that_nobody_could_see() {
    let place = TestHome::new(WRITE);
    std::fs::create_dir_all(place.path("a/.claude")).unwrap();
    let command = r"true #\r\u001b[2Kecho harmless\u200b two";
    place.write("a/.claude/settings.json", &SETTINGS.replace("echo ran >> hooked", command));
    let shown = r"true #\r\u001b[2Kecho harmless\u200b two";
    trust(&place, &["a"], shown);
}

#[test]
fn trust_ends_when_a_file_changes_that_a_hook_a_server_or_a_helper_runs() {
    let place = TestHome::new(WRITE);
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
        let folder = place.path(&name);
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
            let ran = place.run_prompt_unattended("go", &["--workspace", folder.to_str().unwrap()]);
            (folder.join("ran").exists(), ran.err.contains("changed since you trusted it (scripts)"))
        };
        let runs = nth < 2;
        script("");
        trust(&place, &[&name], "tools/check.sh");
        assert_eq!(run(), (runs, false), "{settings}");
        assert_eq!(run(), (runs, false), "what a hook writes is not what it runs: {settings}");
        // A change of one byte at the end of a large file counts as well.
        script(&format!("#{}\n", "x".repeat(2 << 20)));
        assert_eq!(run(), (false, true), "{settings}");
        trust(&place, &[&name], "tools/check.sh");
        assert_eq!(run(), (runs, false), "{settings}");
        script(&format!("#{}\n ", "x".repeat(2 << 20)));
        assert_eq!(run(), (false, true), "{settings}");
    }
}

#[test]
fn a_folder_that_runs_more_than_is_checked_cannot_be_trusted() {
    let place = TestHome::new(WRITE);
    project(&place, "a");
    std::fs::create_dir_all(place.path("a/.claude/hooks")).unwrap();
    let huge = std::fs::File::create(place.path("a/.claude/hooks/huge")).unwrap();
    huge.set_len(65 << 20).unwrap();
    let ran = place.run_bare(&["trust", "a"]);
    assert!(ran.code == 1 && ran.err.contains("cannot be trusted"), "{}{}", ran.out, ran.err);
    assert!(!counts(&place, "a"));
    std::fs::remove_file(place.path("a/.claude/hooks/huge")).unwrap();
    trust(&place, &["a"], "is trusted");
    assert!(counts(&place, "a"));
}
