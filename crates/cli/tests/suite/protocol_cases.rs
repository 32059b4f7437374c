//! Attacks through what tools, servers and providers send: secrets that are printed, and calls that
//! read differently to two readers.

use serde_json::{Value, json};

use crate::recording_server::RecordingServer;
use crate::test_home::TestHome;

const KEY: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";

/// What a person or a program sees of a conversation beside its transcript.
fn views(home: &TestHome, conversation: &str) -> String {
    [
        &["explain", conversation][..],
        &["explain", conversation, "--json"],
        &["trace", conversation],
        &["logs"],
        &["logs", "--json"],
        &["runs", "--json"],
    ]
    .map(|args| home.run(args).out)
    .join("\n")
}

/// The tables of the store that contain a text, without the log and what it was made from: they are
/// sent to the model as they are.
fn tables_with(home: &TestHome, text: &str) -> Vec<String> {
    let tables = home.query("SELECT name FROM sqlite_master WHERE type = 'table'");
    let kept = tables.iter().filter(|name| !matches!(name.as_str(), "entry" | "inbox"));
    let holds = |table: &&String| {
        let columns = home.query(&format!("SELECT name FROM pragma_table_info('{table}')"));
        columns.iter().any(|column| {
            let sql = format!("SELECT CAST({column} AS TEXT) FROM {table}");
            let like = format!("{sql} WHERE instr(CAST({column} AS TEXT), '{text}') > 0");
            !home.query(&like).is_empty()
        })
    };
    kept.filter(holds).cloned().collect()
}

// Protocol case 90.
#[test]
fn a_key_that_a_tool_prints_is_in_no_view_and_no_row_for_people() {
    let (first, second) = KEY.split_at(20);
    let command = format!(
        "printf %s {first}; sleep 0.1; echo {second}; echo '{{\\\"k\\\":\\\"'{KEY}'\\\"}}'; env"
    );
    let home = TestHome::new(&format!(
        "when results 0\n  call Bash {{\"command\": {}}}\nwhen any\n  say \"done\"\n",
        json!(command.replace("\\\"", "\""))
    ));
    let store = home.path("w.db");
    let args = ["-p", "go", "--script", "a.script", "--store", store.to_str().unwrap()];
    let more = ["--allowedTools", "Bash", "--conversation", "c"];
    // The key of the provider is not handed to commands at all.
    let other = "sk-ant-api03-the-own-key-of-the-provider-0000";
    let ran = home.run_with_env(&[&args[..], &more].concat(), &[("ANTHROPIC_API_KEY", other)]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{}", ran.err);
    let log = home.query("SELECT body FROM entry").join("\n");
    assert!(log.contains(second) && !log.contains(other), "the transcript is kept as it is");
    let seen = views(&home, "c");
    assert!(!seen.contains(KEY) && !ran.err.contains(KEY), "{seen} {}", ran.err);
    assert_eq!(tables_with(&home, KEY), [] as [String; 0]);
}

// Protocol case 91.
#[test]
fn a_key_that_a_provider_echoes_is_redacted() {
    const ECHO: &str = "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\
         \"bad header x-api-key: sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\"}}";
    let provider = RecordingServer::start_failing(&[("401 Unauthorized", ECHO)]);
    let home = TestHome::new("");
    let store = home.path("w.db");
    let args = ["-p", "go", "--model", "claude-sonnet-4-5", "--conversation", "c", "--store"];
    let variables = [("ANTHROPIC_BASE_URL", provider.url.as_str()), ("ANTHROPIC_API_KEY", KEY)];
    let ran = home.run_with_env(&[&args[..], &[store.to_str().unwrap()]].concat(), &variables);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("bad header"), "{}", ran.err);
    let seen = views(&home, "c") + &ran.err + &ran.out;
    assert!(!seen.contains(KEY), "{seen}");
    assert_eq!(tables_with(&home, KEY), [] as [String; 0]);
    let log = home.query("SELECT body FROM entry").join("\n");
    assert!(!log.contains(KEY), "not even the log: the model never sees it");
}

// Protocol case 93.
#[test]
fn a_key_is_in_no_argument_and_no_environment_of_a_command() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"ulimit -c; env; cat /proc/[0-9]*/environ \
         /proc/[0-9]*/cmdline 2>/dev/null | tr '\\\\0' '\\\\n'\"}\nwhen any\n  say \"${result}\"\n",
    );
    let store = home.path("w.db");
    let args = ["-p", "go", "--script", "a.script", "--allowedTools", "Bash", "--store"];
    let args = [&args[..], &[store.to_str().unwrap(), "--sandbox", "workspace-write"]].concat();
    let ran = home.run_with_env(&args, &[("ANTHROPIC_API_KEY", KEY)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("PATH="), "{}", ran.out);
    assert!(!ran.out.contains(KEY), "{}", ran.out);
}

// Protocol case 97.
#[test]
fn arguments_that_two_readers_could_read_differently_are_rejected() {
    for (input, problem) in [
        (r#"{"command": "echo safe", "command": "touch evil"}"#, "duplicate field"),
        (r#"{"command": "touch evil", "command": "echo safe"}"#, "duplicate field"),
        (r#"{"command": "echo safe", "comm\u0061nd": "touch evil"}"#, "duplicate field"),
        (r#"{"__proto__": {"command": "touch evil"}, "command": "echo safe"}"#, "__proto__"),
        (r#"{"constructor": {}, "command": "echo safe"}"#, "constructor"),
    ] {
        let script = format!(
            "when results 0\n  call Bash {input}\nwhen any\n  say \"It said: ${{result}}\"\n"
        );
        let home = TestHome::new(&script);
        let ran = home.run_prompt_unattended("go", &["--allowedTools", "Bash(echo:*)"]);
        assert!(ran.out.contains(problem), "{input}: {} {}", ran.out, ran.err);
        assert!(!home.path("evil").exists(), "{input}");
    }
}

// Protocol case 97, for a tool of a server.
#[test]
fn a_server_gets_the_arguments_that_were_approved() {
    let home = crate::mcp::desk_home();
    let input = r#"{"text": "first", "text": "second"}"#;
    home.write(
        "a.script",
        &format!(
            "when results 0\n  call mcp__desk__echo {input}\nwhen any\n  say \"${{result}}\"\n"
        ),
    );
    let desk = json!({"command": "/bin/sh", "args": ["server.sh"]});
    let config = json!({"mcpServers": {"desk": desk}}).to_string();
    let flags = ["--mcp-config", &config, "--allowedTools", "mcp__desk"];
    home.run_prompt_unattended("go", &flags);
    let calls = std::fs::read_to_string(home.path("calls")).unwrap_or_default();
    for call in calls.lines() {
        assert_eq!(call.matches("\"text\"").count(), 1, "{call}");
        let call: Value = serde_json::from_str(call).unwrap();
        assert_eq!(call["params"]["arguments"], json!({"text": "second"}));
    }
}
