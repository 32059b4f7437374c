//! Prompts and resources of MCP servers, and servers that are slow to start.

use serde_json::json;

use crate::test_home::{CommandOutput, TestHome};

const SERVER: &str = r#"#!/bin/sh
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
echo started >> starts
[ -n "$DELAY" ] && sleep "$DELAY"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^[^i]*"id":\([0-9]*\).*/\1/p')
  printf '%s\n' "$line" >> requests
  case "$line" in
    *'"method":"initialize"'*) reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"desk","version":"1"}}' ;;
    *'"method":"tools/list"'*) reply '{"tools":[{"name":"act","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      [ -n "$PLAYS" ] && { reply '{"content":[{"type":"audio","mimeType":"audio/mpeg","data":"c291bmQ="},{"type":"resource","resource":{"uri":"a://b","mimeType":"application/zip","blob":"emlw"}}]}'; continue; }
      reply '{"content":[{"type":"text","text":"acted"}]}' ;;
    *'"method":"prompts/list"'*) reply '{"prompts":[{"name":"review","description":"Reviews","arguments":[{"name":"file","required":true},{"name":"focus"}]}]}' ;;
    *'"method":"prompts/get"'*) reply '{"messages":[{"role":"user","content":{"type":"text","text":"Review it well."}},{"role":"assistant","content":{"type":"text","text":"I will."}}]}' ;;
    *'"method":"resources/list"'*) reply '{"resources":[{"uri":"desk://note","name":"note","mimeType":"text/plain"}]}' ;;
    *'"method":"resources/templates/list"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    *'"method":"resources/read"'*)
      case "$line" in
        *note*) reply '{"contents":[{"uri":"desk://note","mimeType":"text/plain","text":"buy milk"}]}' ;;
        *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no such note"}}\n' "$id" ;;
      esac ;;
  esac
done
"#;

fn home(script: &str) -> TestHome {
    let home = TestHome::new(script);
    home.write("server.sh", SERVER);
    home
}

fn config(delay: &str) -> String {
    let server = json!({"command": "/bin/sh", "args": ["server.sh"], "env": {"DELAY": delay}});
    json!({"mcpServers": {"desk": server}}).to_string()
}

fn run(home: &TestHome, prompt: &str, delay: &str) -> CommandOutput {
    let config = config(delay);
    home.run_prompt_unattended(prompt, &["--mcp-config", &config, "--allowedTools", "mcp__desk"])
}

#[test]
fn audio_and_other_data_are_kept_in_files_that_the_result_names() {
    let home = home("when results 0\n  call mcp__desk__act {}\nwhen any\n  say \"${result}\"\n");
    let server = json!({"command": "/bin/sh", "args": ["server.sh"], "env": {"PLAYS": "1"}});
    let config = json!({"mcpServers": {"desk": server}}).to_string();
    let flags = ["--mcp-config", &config, "--allowedTools", "mcp__desk"];
    let ran = home.run_prompt_unattended("go", &flags);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("[audio, audio/mpeg, 6 bytes: "), "{}", ran.out);
    for (ending, bytes) in [(".mp3", "sound"), (".zip", "zip")] {
        let end = ran.out.find(ending).unwrap_or_else(|| panic!("{ending}: {}", ran.out));
        let before = ran.out.get(..end + 4).unwrap();
        let path = before.get(before.rfind(": ").unwrap() + 2..).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), bytes, "{path}");
    }
}

#[test]
fn a_prompt_of_a_server_is_a_slash_command() {
    let script = "when user contains \"Review it well.\" and user contains \"You answered: I will.\"\n  say \"Reviewed.\"\n\
                  when any\n  say \"No.\"\n";
    let home = home(script);
    let ran = run(&home, "/mcp__desk__review main.rs all of its loops", "");
    assert_eq!(ran.out, "Reviewed.\n", "{}", ran.err);
    let requests = std::fs::read_to_string(home.path("requests")).unwrap();
    let wanted = r#""arguments":{"file":"main.rs","focus":"all of its loops"}"#;
    assert!(requests.contains(wanted), "{requests}");
    let config = config("");
    let shown = home.run_bare(&["mcp", "get", "desk", "--mcp-config", &config]).out;
    assert!(shown.contains("/mcp__desk__review: Reviews"), "{shown}");
    let missing = run(&home, "/mcp__desk__review", "");
    assert!(
        missing.code != 0 && missing.err.contains("the argument `file` is missing"),
        "{}",
        missing.err
    );
    let unknown = run(&home, "/mcp__desk__nothing", "");
    assert!(
        unknown.code != 0 && unknown.err.contains("available: /mcp__desk__review"),
        "{}",
        unknown.err
    );
}

#[test]
fn a_resource_is_mentioned_in_a_prompt() {
    let script = "when user contains \"buy milk\"\n  say \"Milk.\"\nwhen any\n  say \"No.\"\n";
    let home = home(script);
    assert_eq!(run(&home, "What is in @desk:desk://note?", "").out, "Milk.\n");
    let missing = run(&home, "What is in @desk:desk://other?", "");
    assert_eq!(missing.out, "No.\n");
    assert!(missing.err.contains("no such note"), "{}", missing.err);
    // A mention of nothing that is configured is text.
    assert_eq!(run(&home, "Mail @someone:else", "").out, "No.\n");
}

#[test]
fn the_model_lists_and_reads_resources() {
    let script = "when ask 1\n  call ListMcpResources {}\n\
                  when ask 2 and result contains \"desk://note\"\n  call ReadMcpResource {\"server\": \"desk\", \"uri\": \"desk://note\"}\n\
                  when ask 3\n  call ReadMcpResource {\"server\": \"nowhere\", \"uri\": \"x\"}\n\
                  when any\n  say \"It said: ${result}\"\n";
    let home = home(script);
    let ran = run(&home, "go", "");
    assert!(ran.out.contains("there is no server of this name"), "{} {}", ran.out, ran.err);
    let shown = home.run(&["show"]).out;
    assert!(shown.contains("buy milk"), "{shown}");
}

// spec: FAULT-56
#[test]
fn a_server_that_is_slow_to_start_delays_only_its_own_tools() {
    let script = "when user contains \"act\" and results 0\n  call mcp__desk__act {}\n\
                  when any\n  say \"It said: ${result}\"\n";
    let home = home(script);
    // What it offers is learned once.
    assert_eq!(run(&home, "act", "").out, "It said: acted\n");
    let config = config("6");
    let args = ["--mcp-config", config.as_str(), "--allowedTools", "mcp__desk"];
    // Another configuration is another server: it is waited for, for a while.
    let ran = home.run_prompt_unattended("hello", &args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("has not answered yet"), "{}", ran.err);
    let wait = ["mcp", "list", "--mcp-config", config.as_str()];
    assert!(home.run_bare(&wait).out.contains("connected, 1 tool"));
    // From then on a run waits for it only when its tool is called.
    let ran = home.run_prompt_unattended("hello", &args);
    assert!(ran.code == 0 && !ran.err.contains("has not answered yet"), "{}", ran.err);
    let ran = home.run_prompt_unattended("act", &args);
    assert_eq!(ran.out, "It said: acted\n", "{}", ran.err);
}
