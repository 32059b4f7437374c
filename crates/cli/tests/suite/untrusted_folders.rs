//! What an untrusted folder contributes: text, if its settings source is in use, and nothing that
//! runs or grants.

use serde_json::{Value, json};

use crate::recording_server::RecordingServer;
use crate::test_home::TestHome;

const SAY: &str = "when any\n  say \"Hi.\"\n";
const STREAM: &[&str] = &["--output-format", "stream-json", "--verbose"];

/// A project with every kind of file.
fn full_project(script: &str) -> TestHome {
    let home = TestHome::new(script);
    for folder in ["agents", "commands", "output-styles"] {
        std::fs::create_dir_all(home.path(".claude").join(folder)).unwrap();
    }
    home.write(
        ".claude/agents/eager.md",
        "---\nname: eager\ndescription: Eager\ntools: Bash, Read\nmodel: haiku\n\
         permissionMode: acceptEdits\neffort: max\nmaxTurns: 9000\n---\nBe eager.",
    );
    home.write(".claude/commands/go.md", "---\nallowed-tools: Bash(touch:*)\n---\nGo on.");
    home.write(".claude/output-styles/loud.md", "SHOUT.");
    home.write("CLAUDE.md", "Speak like a pirate.");
    home.write("CLAUDE.local.md", "Call me captain.");
    home.write(
        ".claude/settings.json",
        r#"{"outputStyle": "loud", "model": "haiku", "env": {"A": "b"}, "apiKeyHelper": "./helper",
            "permissions": {"allow": ["Bash(touch:*)"], "deny": ["Read(.env)"],
                            "defaultMode": "acceptEdits", "additionalDirectories": ["/"]},
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch hooked"}]}]}}"#,
    );
    home.write(".mcp.json", r#"{"mcpServers": {"x": {"command": "touch", "args": ["served"]}}}"#);
    home
}

fn init_of(home: &TestHome, flags: &[&str]) -> Value {
    let ran = home.run_prompt_unattended("hi", &[STREAM, flags].concat());
    let first = ran.out.lines().next().ok_or(ran.err).unwrap();
    serde_json::from_str(first).unwrap()
}

// spec: SDK-33
#[test]
fn text_is_loaded_and_what_runs_or_grants_is_not() {
    let home = full_project(SAY);
    let init = init_of(&home, &[]);
    assert_eq!(init["output_style"], "loud");
    assert_eq!(init["agents"], json!(["general-purpose", "eager"]));
    assert!(init["slash_commands"].as_array().unwrap().contains(&json!("go")));
    assert_eq!(init["permissionMode"], "default");
    assert!(!home.path("hooked").exists() && !home.path("served").exists());
    // What is ignored is a value, too.
    let ignored = &init["ignored_settings"];
    let kinds: Vec<&str> =
        ignored["kinds"].as_array().unwrap().iter().filter_map(|k| k["kind"].as_str()).collect();
    let all = [
        "hooks",
        "allow rules",
        "environment variables",
        "MCP servers",
        "scripts",
        "other settings",
        "agents",
    ];
    for kind in kinds.iter().filter(|kind| **kind != "scripts") {
        assert!(all.contains(kind), "{kind}");
    }
    assert!(kinds.contains(&"hooks") && kinds.contains(&"agents"), "{ignored}");
    assert!(ignored["message"].as_str().unwrap().contains("is not trusted"), "{ignored}");
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let init = init_of(&home, &[]);
    assert_eq!(
        (&init["permissionMode"], &init["ignored_settings"]),
        (&json!("acceptEdits"), &Value::Null)
    );
    assert!(home.path("hooked").exists());
}

// spec: SDK-33
#[test]
fn an_agent_of_an_untrusted_folder_has_no_model_and_no_mode_of_its_own() {
    let script = r#"
when user is "touch it" and results 0
  call Bash {"command": "touch made"}
when user is "touch it"
  say "Tried."
when results 0
  call Agent {"description": "x", "prompt": "touch it", "subagent_type": "eager"}
when any
  say "Done."
"#;
    let home = full_project(script);
    home.write(".claude/settings.json", "{}");
    std::fs::remove_file(home.path(".mcp.json")).unwrap();
    let flags = ["-p", "go", "--script", "a.script", "--store", "w.db"];
    let ran = home.run_bare(&flags);
    assert_eq!((ran.code, home.path("made").exists()), (0, false), "{}", ran.err);
    assert!(ran.err.contains("1 agent"), "{}", ran.err);
    let children = home.json(&["runs", "--agent", "eager"]);
    assert_eq!(children.len(), 1, "{children:?}");
    // Trust shows what the agent would bring.
    let trusted = home.run_bare(&["trust", "."]);
    let grants = "eager: model haiku, effort max, maxTurns 9000, permissionMode acceptEdits";
    assert!(trusted.out.contains(grants), "{}", trusted.out);
}

// spec: SDK-33
#[test]
fn memory_files_follow_their_settings_source() {
    let home = full_project(SAY);
    let server = RecordingServer::start();
    std::fs::create_dir_all(home.path("user/.claude")).unwrap();
    home.write("user/.claude/CLAUDE.md", "Be brief.");
    let seen = |flags: &[&str]| {
        let (sent, _) = server.run_prompt(&home, &[&["--model", "sonnet"], flags].concat());
        let text = sent.body.to_string();
        ["Be brief.", "pirate", "captain"].map(|words| text.contains(words))
    };
    assert_eq!(seen(&[]), [true, true, true]);
    assert_eq!(seen(&["--setting-sources", "user"]), [true, false, false]);
    assert_eq!(seen(&["--setting-sources=project"]), [false, true, false]);
    assert_eq!(seen(&["--setting-sources=local"]), [false, false, true]);
    assert_eq!(seen(&["--setting-sources="]), [false, false, false]);
    assert_eq!(seen(&["--bare"]), [false, false, false]);
}

// spec: SDK-33
#[test]
fn memory_of_deeper_folders_follows_its_settings_source() {
    let script =
        "when results 0\n  call Read {\"file_path\": \"sub/a.txt\"}\nwhen any\n  say \"Read.\"\n";
    let home = TestHome::new(script);
    std::fs::create_dir_all(home.path("sub")).unwrap();
    home.write("sub/a.txt", "x");
    home.write("sub/CLAUDE.md", "Speak like a pirate.");
    let is_stored = |flags: &[&str]| {
        assert_eq!(home.run_prompt("go", flags).out, "Read.\n");
        home.query("SELECT CAST(count(*) AS TEXT) FROM entry WHERE body LIKE '%pirate%'") != ["0"]
    };
    assert!(!is_stored(&["--setting-sources", "user"]));
    assert!(is_stored(&[]));
}

// spec: SDK-33
#[test]
fn the_folder_of_the_environment_replaces_the_users_settings_folder() {
    let home = TestHome::new(SAY);
    for (root, name) in [("user/.claude", "usual"), ("temporary", "special")] {
        for folder in ["agents", "commands"] {
            std::fs::create_dir_all(home.path(root).join(folder)).unwrap();
        }
        let agent = format!("---\nname: {name}\ndescription: x\n---\nDo it.");
        home.write(&format!("{root}/agents/a.md"), &agent);
        home.write(&format!("{root}/commands/{name}.md"), "Do it.");
        let mode = if name == "usual" { "plan" } else { "acceptEdits" };
        let settings = json!({"permissions": {"defaultMode": mode}}).to_string();
        home.write(&format!("{root}/settings.json"), &settings);
    }
    let init = |variables: &[(&str, &str)]| {
        let flags = ["-p", "hi", "--script", "a.script", "--store", "w.db"];
        let ran = home.run_with_env(&[&flags[..], STREAM].concat(), variables);
        let init: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
        let commands = init["slash_commands"].as_array().unwrap().last().cloned().unwrap();
        (init["agents"][1].clone(), commands, init["permissionMode"].clone())
    };
    assert_eq!(init(&[]), (json!("usual"), json!("usual"), json!("plan")));
    let folder = home.path("temporary");
    let variables = [("CLAUDE_CONFIG_DIR", folder.to_str().unwrap())];
    assert_eq!(init(&variables), (json!("special"), json!("special"), json!("acceptEdits")));
}
