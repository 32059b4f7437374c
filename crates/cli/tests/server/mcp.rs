//! `windlass mcp serve` over HTTP: the same tools, for the runs of a tenant.

use serde_json::{Value, json};

use crate::server_process::{ServerHome, ServerProcess};

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

fn rpc(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn send(server: &ServerProcess, message: &Value) -> Value {
    let answered = server.post("/mcp", message);
    assert_eq!(answered.status, 200, "{}", answered.body);
    answered.json()["result"].clone()
}

fn call(server: &ServerProcess, tool: &str, arguments: &Value) -> Value {
    send(server, &rpc("tools/call", &json!({"name": tool, "arguments": arguments})))
}

#[test]
fn programs_start_and_follow_runs_over_mcp() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let started = send(&server, &rpc("initialize", &hello));
    assert_eq!(started["protocolVersion"], "2025-06-18");
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.request("POST", "/mcp", Some(&told)).status, 202);
    assert_eq!(send(&server, &rpc("ping", &json!({}))), json!({}));
    assert!(!send(&server, &rpc("tools/list", &json!({})))["tools"].as_array().unwrap().is_empty());
    let prompt = json!({"prompt": "hello", "idempotency_key": "a"});
    let run = call(&server, "start_run", &prompt)["structuredContent"].clone();
    assert_eq!(call(&server, "start_run", &prompt)["structuredContent"], run);
    let followed = call(&server, "follow_run", &json!({"run_id": run["run_id"]}));
    assert!(followed.to_string().contains("You said: hello"), "{followed}");
    // Neither a version nor a page that is not known is let in.
    let ping = rpc("ping", &json!({}));
    let wrong = [("mcp-protocol-version", "1999-01-01")];
    assert_eq!(server.request_with("POST", "/mcp", &wrong, Some(&ping)).status, 400);
    let foreign = [("origin", "http://evil.com")];
    assert_eq!(server.request_with("POST", "/mcp", &foreign, Some(&ping)).status, 403);
    assert_eq!(server.get("/mcp").status, 405);
    // Another tenant knows nothing of the run, and a token without the scope answers nothing.
    let made = home.run(&[
        "token", "add", "x", "--tenant", "b", "--scope", "prompt", "--scope", "read", "--json",
        "--store", "w.db",
    ]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let token = made["token"].as_str().unwrap();
    for tool in ["follow_run", "explain_run", "cancel_run"] {
        let message =
            rpc("tools/call", &json!({"name": tool, "arguments": {"run_id": run["run_id"]}}));
        let refused = server.request_as(token, "POST", "/mcp", Some(&message)).json();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
    }
    let answer = rpc("tools/call", &json!({"name": "answer_question", "arguments": {}}));
    assert_eq!(server.request_as(token, "POST", "/mcp", Some(&answer)).status, 403);
}
