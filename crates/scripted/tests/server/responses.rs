//! OpenAI Responses.

use serde_json::{Value, json};

use crate::events::{events, named};
use crate::test_server::TestServer;

const PATH: &str = "/v1/responses";

const SCRIPT: &str = r#"
when ask 2 and result of Read contains "42" and error of Bash
  say "It is 42."

when user is "look" and results 0 and tools include Read
  think "Two at once."
  say "Looking now."
  raw {"type": "odd"}
  call Read as call_a {"file_path": "a.txt"}
  call Bash as call_b {"command": "ls"}
  usage in 12 out 34 cache_read 5 cache_write 6

when user is "refuse"
  say "no"
  stop refusal

when user is "odd stop"
  stop never_heard_of

when user is "long"
  truncate call Write {"content": "abc
"#;

fn ask(text: &str, stream: bool) -> Value {
    json!({"model": "gpt-x", "stream": stream, "input": text, "instructions": "Be brief.",
        "tools": [{"type": "function", "name": "Read", "parameters": {}, "strict": null}]})
}

#[tokio::test]
async fn a_document_has_everything() {
    let server = TestServer::new(SCRIPT).await;
    let mut request = ask("look", false);
    request["include"] = json!(["reasoning.encrypted_content"]);
    let response = server.post(PATH, &request).await.json();
    assert_eq!(
        (&response["object"], &response["status"]),
        (&json!("response"), &json!("completed"))
    );
    assert_eq!(
        (&response["instructions"], &response["tools"]),
        (&json!("Be brief."), &request["tools"])
    );
    let output = response["output"].as_array().unwrap();
    assert_eq!(output.len(), 4);
    assert_eq!(output[0]["summary"], json!([{"type": "summary_text", "text": "Two at once."}]));
    assert_eq!(output[0]["encrypted_content"].as_str().unwrap().len(), 64);
    assert_eq!(output[1]["content"][0]["text"], "Looking now.");
    assert_eq!(
        (&output[2]["type"], &output[2]["call_id"]),
        (&json!("function_call"), &json!("call_a"))
    );
    assert_eq!(output[2]["arguments"], r#"{"file_path": "a.txt"}"#);
    assert_eq!((&output[3]["name"], &output[3]["status"]), (&json!("Bash"), &json!("completed")));
    let usage = &response["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"], &usage["total_tokens"]),
        (&json!(23), &json!(34), &json!(57))
    );
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 5);
    assert_eq!(usage["output_tokens_details"]["reasoning_tokens"], 3);
}

#[tokio::test]
async fn a_stream_adds_up_to_the_document() {
    let server = TestServer::new(SCRIPT).await;
    let events = events(&server.post(PATH, &ask("look", true)).await.body);
    assert!(events.iter().all(|(name, data)| data["type"] == **name));
    let numbers: Vec<u64> =
        events.iter().map(|(_, data)| data["sequence_number"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(0..events.len() as u64), "{numbers:?}");
    let all: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(all[..2], ["response.created", "response.in_progress"]);
    assert_eq!(named(&events, "response.output_item.added").len(), 4);
    let joined = |name: &str, index: u32| -> String {
        let deltas = named(&events, name).into_iter().filter(|data| data["output_index"] == index);
        deltas.map(|data| data["delta"].as_str().unwrap()).collect()
    };
    assert_eq!(joined("response.reasoning_summary_text.delta", 0), "Two at once.");
    assert_eq!(joined("response.output_text.delta", 1), "Looking now.");
    assert_eq!(joined("response.function_call_arguments.delta", 2), r#"{"file_path": "a.txt"}"#);
    let done = named(&events, "response.function_call_arguments.done");
    assert_eq!(
        (&done[1]["name"], &done[1]["arguments"]),
        (&json!("Bash"), &json!(r#"{"command": "ls"}"#))
    );
    let completed = &named(&events, "response.completed")[0]["response"];
    let items: Vec<Value> = named(&events, "response.output_item.done")
        .iter()
        .map(|data| data["item"].clone())
        .collect();
    assert_eq!(completed["output"], Value::from(items));
    assert_eq!(completed["usage"]["total_tokens"], 57);
}

#[tokio::test]
async fn results_are_read_with_their_tools() {
    let server = TestServer::new(SCRIPT).await;
    let first = ask("look", false);
    let reply = server.post(PATH, &first).await.json();
    let mut input =
        vec![json!({"role": "user", "content": [{"type": "input_text", "text": "look"}]})];
    input.extend(reply["output"].as_array().unwrap().iter().cloned());
    input.push(json!({"type": "function_call_output", "call_id": "call_b", "output": "Error: no"}));
    input.push(json!({"type": "function_call_output", "call_id": "call_a", "output": "it is 42"}));
    let mut request = first;
    request["input"] = Value::from(input);
    let reply = server.post(PATH, &request).await.json();
    assert_eq!(reply["output"][0]["content"][0]["text"], "It is 42.");
}

#[tokio::test]
async fn stops_become_states() {
    let server = TestServer::new(SCRIPT).await;
    let table = [
        ("refuse", "content_filter"),
        ("odd stop", "never_heard_of"),
        ("long", "max_output_tokens"),
    ];
    for (text, reason) in table {
        let whole = server.post(PATH, &ask(text, false)).await.json();
        assert_eq!(whole["status"], "incomplete", "{text}");
        assert_eq!(whole["incomplete_details"]["reason"], reason);
        let events = events(&server.post(PATH, &ask(text, true)).await.body);
        let (name, data) = events.last().unwrap();
        assert_eq!(name, "response.incomplete");
        assert_eq!(data["response"]["incomplete_details"]["reason"], reason);
    }
}

#[tokio::test]
async fn a_truncated_call_is_an_incomplete_item() {
    let server = TestServer::new(SCRIPT).await;
    let events = events(&server.post(PATH, &ask("long", true)).await.body);
    let item = &named(&events, "response.output_item.done")[0]["item"];
    assert_eq!(
        (&item["status"], &item["arguments"]),
        (&json!("incomplete"), &json!(r#"{"content": "abc"#))
    );
    assert!(named(&events, "response.function_call_arguments.done").is_empty());
}
