//! `ToolSearch`: many tools of MCP servers stay out of the request until they are loaded.

use serde_json::{Value, json};

use crate::recording_server::{RecordedRequest, RecordingServer};
use crate::scripted::ScriptedServer;
use crate::test_home::TestHome;

/// A server that has its tools in a file and says which one was called.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^[^i]*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}' ;;
    *'"method":"tools/list"'*) result=$(cat tools.json) ;;
    *'"method":"tools/call"'*) result='{"content":[{"type":"text","text":"sold"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// Two hundred tools of the usual size.
fn tools() -> Value {
    let tool = |number: usize| {
        let argument = |name: &str| json!({"type": "string", "description": format!("The {name} of the order, as the shop knows it")});
        json!({
            "name": format!("sell_article_{number}"),
            "description": format!("Sells the article number {number} to a customer and returns the number of the order. Use it once for each article that was ordered, never for returns."),
            "inputSchema": {
                "type": "object",
                "properties": {"customer": argument("customer"), "address": argument("address"), "amount": {"type": "integer", "minimum": 1}},
                "required": ["customer"],
            },
        })
    };
    json!({"tools": (0..200).map(tool).collect::<Vec<_>>()})
}

fn shop_home(script: &str) -> TestHome {
    let home = TestHome::new(script);
    home.write("server.sh", SERVER);
    home.write("tools.json", &tools().to_string());
    home.write(
        "mcp.json",
        &json!({"mcpServers": {"shop": {"command": "/bin/sh", "args": ["server.sh"]}}}).to_string(),
    );
    home
}

const MCP: [&str; 4] = ["--mcp-config", "mcp.json", "--allowedTools", "mcp__shop"];

/// The model can call the tool only once it was loaded.
const SCRIPT: &str = "when tools include mcp__shop__sell_article_7 and result of mcp__shop__sell_article_7\n  say \"${result}\"\n\
    when tools include mcp__shop__sell_article_7\n  call mcp__shop__sell_article_7 {\"customer\": \"Ada\"}\n\
    when results 0\n  call ToolSearch {\"query\": \"select:sell_article_7\"}\n\
    when any\n  say \"the tool is missing: ${result}\"\n";

// spec: TOOLS-03
// spec: TOOLS-06
#[test]
fn a_deferred_tool_is_found_loaded_and_called() {
    let home = shop_home(SCRIPT);
    let more = [&MCP[..], &["--set", "tool_schema_percent=1"]].concat();
    let ran = home.run_prompt("sell it", &more);
    assert_eq!((ran.code, ran.out.as_str()), (0, "sold\n"), "{}", ran.err);
    assert!(ran.err.contains("ToolSearch query: select:sell_article_7"), "{}", ran.err);
}

/// The scripted server accepts deferred tools and references as Anthropic's service does.
// spec: TOOLS-03
#[test]
fn a_deferred_tool_is_loaded_by_reference_where_the_model_supports_it() {
    let home = shop_home(SCRIPT);
    let server = ScriptedServer::start(&home, &[]);
    let url = format!("http://{}", server.address);
    let variables = [
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("ENABLE_TOOL_SEARCH", "true"),
    ];
    for model in ["claude-sonnet-4-5", "claude-haiku-4-5"] {
        let prompt = ["-p", "sell it", "--model", model, "--store", "w.db"];
        let ran = home.run_with_env(&[&prompt[..], &MCP].concat(), &variables);
        assert_eq!((ran.code, ran.out.as_str()), (0, "sold\n"), "{model}: {}", ran.err);
    }
}

fn first_request(model: &str, percent: &str) -> RecordedRequest {
    let home = shop_home("");
    let wire = RecordingServer::start();
    let limit = format!("tool_schema_percent={percent}");
    let more = [&MCP[..], &["--model", model, "--set", &limit]].concat();
    wire.run_prompt(&home, &more).0
}

fn tool_names(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().unwrap();
    let named = tools.iter().map(|tool| tool.get("function").unwrap_or(tool));
    named.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

// spec: TOOLS-03
#[test]
fn the_first_request_with_two_hundred_tools_is_small_when_they_are_deferred() {
    let all = first_request("openai-chat:gpt-4o", "100").body;
    let deferred = first_request("openai-chat:gpt-4o", "10").body;
    assert_eq!(tool_names(&all).iter().filter(|name| name.starts_with("mcp__")).count(), 200);
    let names = tool_names(&deferred);
    assert!(!names.iter().any(|name| name.starts_with("mcp__")), "{names:?}");
    assert!(names.iter().any(|name| name == "ToolSearch"), "{names:?}");
    let (large, small) = (all["tools"].to_string().len(), deferred["tools"].to_string().len());
    eprintln!("bytes of the tools: {large} at once, {small} deferred");
    assert!(small * 4 < large, "{small} of {large}");
}

#[test]
fn a_model_with_references_gets_deferred_tools_behind_the_others_without_cache_marker() {
    let sent = first_request("claude-sonnet-4-5", "10");
    let tools = sent.body["tools"].as_array().unwrap();
    let deferred: Vec<&Value> = tools.iter().filter(|tool| tool["defer_loading"] == true).collect();
    assert_eq!(deferred.len(), 200);
    assert!(deferred.iter().all(|tool| tool.get("cache_control").is_none()));
    let visible = &tools[..tools.len() - 200];
    assert!(visible.iter().all(|tool| tool.get("defer_loading").is_none()));
    assert!(visible.last().unwrap().get("cache_control").is_some());
    assert!(sent.head.contains("advanced-tool-use-2025-11-20"), "{}", sent.head);
    // Few tools are not deferred.
    let sent = first_request("claude-sonnet-4-5", "100");
    assert!(!sent.body["tools"].to_string().contains("defer_loading"));
    assert!(!tool_names(&sent.body).iter().any(|name| name == "ToolSearch"));
    assert!(!sent.head.contains("advanced-tool-use"), "{}", sent.head);
}

#[test]
fn a_misspelled_variable_and_an_impossible_share_are_errors() {
    let home = shop_home(SCRIPT);
    let prompt = ["-p", "sell it", "--script", "a.script", "--store", "w.db"];
    let ran = home.run_with_env(&prompt, &[("ENABLE_TOOL_SEARCH", "ture")]);
    assert!(ran.code != 0 && ran.err.contains("ENABLE_TOOL_SEARCH is \"ture\""), "{}", ran.err);
    let ran = home.run_prompt("sell it", &["--set", "tool_schema_percent=101"]);
    assert!(ran.code != 0 && ran.err.contains("tool_schema_percent"), "{}", ran.err);
}

/// A conversation goes on with the tools that it has loaded, also in another process.
#[test]
fn loaded_tools_stay_loaded_in_the_next_process() {
    let home = shop_home(&format!(
        "when user is \"again\" and tools include mcp__shop__sell_article_7 and results 0\n  say \"still there\"\n{SCRIPT}"
    ));
    let more = [&MCP[..], &["--set", "tool_schema_percent=0"]].concat();
    assert_eq!(home.run_prompt("sell it", &more).code, 0);
    let ran = home.run_prompt("again", &[&more[..], &["--continue"]].concat());
    assert_eq!(ran.out, "still there\n", "{}", ran.err);
}
