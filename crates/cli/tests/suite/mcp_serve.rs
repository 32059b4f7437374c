//! Windlass as an MCP server: other programs start, follow, answer, cancel and explain runs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::test_home::TestHome;

/// An MCP client of `windlass mcp serve`.
struct Client {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    /// What was received before the last answer.
    notifications: Vec<Value>,
}

impl Client {
    fn start(home: &TestHome, more: &[&str]) -> Self {
        let store = home.path("w.db");
        let fixed = ["mcp", "serve", "--script", "a.script", "--store", store.to_str().unwrap()];
        let mut command = home.command(&[&fixed[..], more].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut process = command.spawn().unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut client = Self { process, input, output, next_id: 0, notifications: Vec::new() };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
        let answer = client.request("initialize", hello);
        let version = answer.pointer("/result/protocolVersion");
        assert_eq!(version, Some(&json!("2025-06-18")), "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
        serde_json::from_str(&line).unwrap()
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.notifications.clear();
        loop {
            let message = self.read();
            if message.get("id") == Some(&json!(id)) {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Calls a tool and returns its structured result, or the text of its error.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let answer = self.request(
            "tools/call",
            json!({
                "name": tool, "arguments": arguments, "_meta": {"progressToken": "p"},
            }),
        );
        let part = |pointer: &str| answer.pointer(pointer).cloned().unwrap_or_default();
        match part("/result/isError") == json!(true) {
            true => Err(part("/result/content/0/text").as_str().unwrap().to_owned()),
            false => Ok(part("/result/structuredContent")),
        }
    }

    fn follow(&mut self, run: &Value) -> Value {
        self.call("follow_run", json!({"run_id": run, "wait_seconds": 60})).unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SCRIPT: &str = "when user contains \"ask\" and results 0\n  call Bash {\"command\": \"touch made\"}\n\
                      when user contains \"ask\"\n  say \"Made.\"\n\
                      when user contains \"wait\"\n  delay 60s\n  say \"Late.\"\n\
                      when any\n  say \"Done.\"\n";

fn start(client: &mut Client, prompt: &str, key: &str) -> Value {
    client.call("start_run", json!({"prompt": prompt, "idempotency_key": key})).unwrap()
}

#[test]
fn a_run_is_started_once_for_each_key_and_followed_to_its_answer() {
    let home = TestHome::new(SCRIPT);
    let mut client = Client::start(&home, &[]);
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["start_run", "follow_run", "answer_question", "cancel_run", "explain_run"]);
    let run = start(&mut client, "go", "order 1");
    assert_eq!(start(&mut client, "go", "order 1"), run);
    let ended = client.follow(&run["run_id"]);
    assert_eq!((&ended["state"], &ended["answer"]), (&json!("completed"), &json!("Done.")));
    let explained = client.call("explain_run", json!({"run_id": run["run_id"]})).unwrap();
    assert!(
        explained.to_string().contains("model_finished") || explained.is_object(),
        "{explained}"
    );
    // The key of another prompt is refused, and nothing was started for it.
    let reused = client.call("start_run", json!({"prompt": "other", "idempotency_key": "order 1"}));
    assert!(reused.unwrap_err().contains("use a new key"));
    let next = client.call(
        "start_run",
        json!({"prompt": "go on", "idempotency_key": "order 2", "conversation_id": run["conversation_id"]}),
    );
    let next = next.unwrap();
    assert_eq!(next["conversation_id"], run["conversation_id"]);
    assert_eq!(client.follow(&next["run_id"])["state"], "completed");
    assert_eq!(home.json(&["runs"]).len(), 2);
}

#[test]
fn the_key_of_a_windlass_client_is_taken_from_the_meta_data() {
    let home = TestHome::new(SCRIPT);
    let mut client = Client::start(&home, &[]);
    let call = json!({
        "name": "start_run", "arguments": {"prompt": "go"}, "_meta": {"windlass/idempotencyKey": "k"},
    });
    let first = client.request("tools/call", call.clone())["result"]["structuredContent"].clone();
    assert_eq!(client.request("tools/call", call)["result"]["structuredContent"], first);
    let without = client.call("start_run", json!({"prompt": "go"}));
    assert!(without.unwrap_err().contains("idempotency_key"));
}

#[test]
fn a_question_is_answered_with_the_hash_of_its_call() {
    let home = TestHome::new(SCRIPT);
    let mut client = Client::start(&home, &[]);
    let run = start(&mut client, "ask", "1");
    let waiting = client.follow(&run["run_id"]);
    assert_eq!(waiting["state"], "waiting_on_human", "{waiting}");
    // The reply that calls the tool was reported while it waited.
    let told = client.notifications.iter().any(|it| it["params"]["message"] == "calls Bash");
    assert!(told || waiting["questions"][0]["tool_name"] == "Bash", "{:?}", client.notifications);
    let question = waiting["questions"][0].clone();
    assert_eq!(question["input"], json!({"command": "touch made"}));
    let mut answer = json!({
        "run_id": run["run_id"], "question_id": question["question_id"], "answer": "allow",
    });
    assert!(client.call("answer_question", answer.clone()).unwrap_err().contains("input_hash"));
    answer["input_hash"] = json!("0000");
    assert!(client.call("answer_question", answer.clone()).unwrap_err().contains("another call"));
    answer["input_hash"] = question["input_hash"].clone();
    client.call("answer_question", answer.clone()).unwrap();
    assert_eq!(client.follow(&run["run_id"])["answer"], "Made.");
    assert!(home.path("made").exists());
    assert!(client.call("answer_question", answer).unwrap_err().contains("has an answer already"));
}

#[test]
fn a_run_is_cancelled_and_a_request_can_be_withdrawn() {
    let home = TestHome::new(SCRIPT);
    let mut client = Client::start(&home, &[]);
    let run = start(&mut client, "wait", "1");
    // Following is withdrawn; the run goes on, and other requests are answered meanwhile.
    let follow =
        json!({"name": "follow_run", "arguments": {"run_id": run["run_id"], "wait_seconds": 600}});
    client.send(&json!({"jsonrpc": "2.0", "id": "f", "method": "tools/call", "params": follow}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "f"}}));
    client.call("cancel_run", json!({"run_id": run["run_id"], "now": true})).unwrap();
    let ended = client.follow(&run["run_id"]);
    assert_eq!(ended["state"], "cancelled", "{ended}");
    assert!(client.notifications.iter().all(|it| it["id"] != "f"), "{:?}", client.notifications);
    let again = client.call("cancel_run", json!({"run_id": run["run_id"]}));
    assert!(again.unwrap_err().contains("nothing to cancel"));
    let asking = start(&mut client, "ask", "2");
    assert_eq!(client.follow(&asking["run_id"])["state"], "waiting_on_human");
    client.call("cancel_run", json!({"run_id": asking["run_id"]})).unwrap();
    assert_eq!(client.follow(&asking["run_id"])["state"], "cancelled");
}

#[test]
fn a_run_goes_on_after_its_server_was_killed() {
    let home = TestHome::new(SCRIPT);
    let mut client = Client::start(&home, &["--no-worker"]);
    let run = start(&mut client, "go", "1");
    let waiting = client.call("follow_run", json!({"run_id": run["run_id"], "wait_seconds": 0}));
    assert_eq!(waiting.unwrap()["state"], "queued");
    client.process.kill().unwrap();
    let mut next = Client::start(&home, &[]);
    assert_eq!(start(&mut next, "go", "1"), run);
    assert_eq!(next.follow(&run["run_id"])["answer"], "Done.");
    assert_eq!(home.json(&["runs"]).len(), 1);
}

#[test]
fn bad_messages_are_answered_and_the_end_of_the_input_ends_the_server() {
    let home = TestHome::new(SCRIPT);
    let mut client = Client::start(&home, &[]);
    for (line, says) in [
        ("{oops", "not JSON"),
        ("[]", "batches"),
        ("{\"jsonrpc\": \"2.0\", \"id\": 7}", "no `method`"),
        ("{\"jsonrpc\": \"2.0\", \"id\": 8, \"method\": \"x/y\"}", "there is no method `x/y`"),
    ] {
        writeln!(client.input.as_mut().unwrap(), "{line}").unwrap();
        let answer = client.read();
        assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
    }
    for (tool, arguments, says) in [
        ("start_run", json!({"prompt": " ", "idempotency_key": "a"}), "`prompt` is empty"),
        ("start_run", json!({"prompt": "x", "idempotency_key": ""}), "1 to 255 characters"),
        ("start_run", json!({"prompt": "x", "key": "a"}), "unknown field"),
        (
            "start_run",
            json!({"prompt": "x", "idempotency_key": "a", "conversation_id": "no"}),
            "no conversation",
        ),
        ("follow_run", json!({"run_id": "no"}), "no run with this id"),
        ("follow_run", json!({"run_id": "no", "wait_seconds": 9999}), "0 to 3600"),
        ("explain_run", json!({}), "missing field"),
    ] {
        let refused = client.call(tool, arguments).unwrap_err();
        assert!(refused.contains(says), "{tool}: {refused}");
    }
    let unknown = client.request("tools/call", json!({"name": "drop_tables"}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no tool"), "{unknown}");
    drop(client.input.take());
    assert!(client.process.wait().unwrap().success());
}
