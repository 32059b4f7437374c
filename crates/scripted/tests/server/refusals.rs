//! Requests that the real services reject are rejected with their messages.

use serde_json::{Value, json};

use crate::test_server::TestServer;

const HELLO: &str = "when any\n  say \"hello\"\n";

async fn refuses(path: &str, table: &[(Value, &str)]) {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    for (request, expected) in table {
        let response = connection.post(path, &request.to_string()).await.unwrap();
        assert_eq!(response.status, 400, "{request}: {}", response.body);
        let error = response.json();
        let (message, kind) = (&error["error"]["message"], &error["error"]["type"]);
        assert!(message.as_str().unwrap().contains(expected), "{request}: {message}");
        assert_eq!(kind, "invalid_request_error");
    }
}

fn messages(messages: Value) -> Value {
    json!({"model": "m", "max_tokens": 1, "messages": messages})
}

fn tool_use(id: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {}}]})
}

fn tool_result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

#[tokio::test]
async fn by_anthropic() {
    let user = json!({"role": "user", "content": "hi"});
    let text = json!({"type": "text", "text": "first"});
    let table = [
        (json!([]), "Invalid request"),
        (json!({"max_tokens": 1, "messages": [user]}), "model: Field required"),
        (json!({"model": "m", "messages": [user]}), "max_tokens: Field required"),
        (json!({"model": "m", "max_tokens": 0, "messages": [user]}), "greater than or equal to 1"),
        (json!({"model": "m", "max_tokens": "many", "messages": [user]}), "invalid type"),
        (json!({"model": "m", "max_tokens": 1}), "messages: Field required"),
        (messages(json!([])), "at least one message is required"),
        (messages(json!([{"role": "system", "content": "x"}])), "top-level `system` parameter"),
        (messages(json!([{"role": "robot", "content": "x"}])), "Unexpected role \"robot\""),
        (
            messages(json!([{"role": "assistant", "content": "x"}])),
            "first message must use the \"user\" role",
        ),
        (
            messages(json!([{"role": "user", "content": ""}])),
            "text content blocks must be non-empty",
        ),
        (
            messages(json!([{"role": "user", "content": []}])),
            "messages.0: all messages must have non-empty content",
        ),
        (messages(json!([{"role": "user", "content": 7}])), "messages.0.content"),
        (
            messages(json!([user, tool_use("t1")])),
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1",
        ),
        (messages(json!([user, tool_use("t1"), user])), "without `tool_result` blocks"),
        (
            messages(
                json!([user, tool_use("t1"), {"role": "user", "content": [text, tool_result("t1")]}]),
            ),
            "without `tool_result` blocks",
        ),
        (
            messages(
                json!([user, tool_use("t1"), {"role": "user", "content": [tool_result("t2")]}]),
            ),
            "messages.2.content.0: unexpected `tool_use_id`",
        ),
        (
            messages(json!([{"role": "user", "content": [tool_result("t2")]}])),
            "unexpected `tool_use_id`",
        ),
        (
            messages(
                json!([user, {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}, user]),
            ),
            "messages.1.content.0.thinking.signature: Field required",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": [user], "tools": [{"name": "a b", "input_schema": {}}]}),
            "String should match pattern",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": [user], "tools": [{"name": "a"}]}),
            "tools.0.custom.input_schema: Field required",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": [user], "tools": [{"name": "a", "input_schema": {}}, {"name": "a", "input_schema": {}}]}),
            "Tool names must be unique",
        ),
    ];
    refuses("/v1/messages", &table).await;
}

#[tokio::test]
async fn by_chat() {
    let user = json!({"role": "user", "content": "hi"});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{}"}}]});
    let answer = json!({"role": "tool", "tool_call_id": "c1", "content": "x"});
    let chat = |messages: Value| json!({"model": "m", "messages": messages});
    let table = [
        (json!({"messages": [user]}), "you must provide a model parameter"),
        (json!({"model": "m"}), "Missing required parameter: 'messages'."),
        (chat(json!([])), "empty array"),
        (chat(json!([{"role": "robot", "content": "x"}])), "Invalid value: 'robot'."),
        (chat(json!([{"role": "user"}])), "messages[0].content"),
        (chat(json!([{"role": "user", "content": {}}])), "Invalid type for 'messages[0].content'"),
        (chat(json!([user, call])), "did not have response messages: c1"),
        (chat(json!([user, call, user])), "did not have response messages: c1"),
        (
            chat(json!([user, answer])),
            "must be a response to a preceeding message with 'tool_calls'",
        ),
        (
            chat(json!([user, call, answer, user, answer])),
            "must be a response to a preceeding message",
        ),
        (chat(json!([user, call, {"role": "tool", "content": "x"}])), "tool_call_id"),
    ];
    refuses("/v1/chat/completions", &table).await;
}

#[tokio::test]
async fn by_responses() {
    let user = json!({"role": "user", "content": "hi"});
    let call = json!({"type": "function_call", "call_id": "c1", "name": "Read", "arguments": "{}"});
    let answer = json!({"type": "function_call_output", "call_id": "c1", "output": "x"});
    let input = |input: Value| json!({"model": "m", "input": input});
    let table = [
        (json!({"input": "x"}), "Missing required parameter: 'model'."),
        (json!({"model": "m"}), "Missing required parameter: 'input'."),
        (input(json!([])), "empty array"),
        (input(json!(7)), "Invalid type for 'input'"),
        (input(json!([{"role": "robot", "content": "x"}])), "Invalid value: 'robot'."),
        (input(json!([user, call])), "No tool output found for function call c1."),
        (
            input(json!([user, answer])),
            "No tool call found for function call output with call_id c1.",
        ),
        (
            json!({"model": "m", "input": "x", "previous_response_id": "resp_1"}),
            "Previous response with id 'resp_1' not found.",
        ),
        (json!({"model": "m", "input": "x", "tools": 7}), "Invalid 'tools'"),
    ];
    refuses("/v1/responses", &table).await;
}

#[tokio::test]
async fn what_is_no_json_is_told_so() {
    let server = TestServer::new(HELLO).await;
    let mut connection = server.connect().await;
    for path in
        ["/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses"]
    {
        for body in ["", "{", "<html>", "{\"model\": \"\\ud800\"}"] {
            let response = connection.post(path, body).await.unwrap();
            assert_eq!(response.status, 400, "{path} {body}");
            let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains("JSON"), "{message}");
        }
    }
}
