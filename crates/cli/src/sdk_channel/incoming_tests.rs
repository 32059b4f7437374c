use serde_json::json;

use super::*;

fn parse(value: &Value) -> Incoming {
    Incoming::parse(value.to_string().as_bytes()).unwrap()
}

fn prompt(value: &Value) -> UserPrompt {
    match parse(value) {
        Incoming::User(prompt) => *prompt,
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_sdks_send_prompts() {
    // Python sends a text, TypeScript a list with one block.
    let python = prompt(&json!({
        "type": "user", "message": {"role": "user", "content": "hello"},
        "parent_tool_use_id": null, "session_id": "default",
    }));
    let typescript = prompt(&json!({
        "type": "user", "session_id": "", "parent_tool_use_id": null,
        "message": {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    }));
    for prompt in [python, typescript] {
        assert_eq!(prompt.as_text().as_deref(), Some("hello"));
        assert_eq!((prompt.priority, prompt.is_verbatim), (PromptPriority::Next, false));
        assert!(prompt.asks_model && prompt.uuid.is_none() && prompt.origin.is_none());
    }
}

#[test]
fn the_options_of_a_prompt_are_read() {
    let prompt = prompt(&json!({
        "type": "user", "message": {"content": "x"}, "uuid": "u", "origin": {"kind": "human"},
        "priority": "now", "client_composed": true, "isSynthetic": true, "shouldQuery": false,
    }));
    assert_eq!(prompt.uuid.as_deref(), Some("u"));
    assert_eq!(prompt.origin, Some(json!({"kind": "human"})));
    assert_eq!(prompt.priority, PromptPriority::Now);
    assert!(prompt.is_verbatim && prompt.is_synthetic && !prompt.asks_model);
}

#[test]
fn a_prompt_without_usable_content_says_what_is_wrong() {
    let bad = [
        json!({"type": "user"}),
        json!({"type": "user", "message": "hello"}),
        json!({"type": "user", "message": {"content": 5}}),
        json!({"type": "user", "message": {"content": []}}),
        json!({"type": "user", "message": {"content": ["hello"]}}),
        json!({"type": "user", "message": {"content": [{"text": "hello"}]}}),
    ];
    for value in bad {
        assert!(prompt(&value).content.is_err(), "{value}");
    }
}

#[test]
fn requests_and_responses_are_told_apart() {
    let request = parse(&json!({
        "type": "control_request", "request_id": "r",
        "request": {"subtype": "set_model", "model": "opus"},
    }));
    let Incoming::Request(request) = request else { panic!("{request:?}") };
    assert_eq!((request.id.as_str(), request.subtype.as_str()), ("r", "set_model"));
    assert_eq!(request.text("model"), Some("opus"));

    let success = json!({"subtype": "success", "request_id": "r", "response": {"a": 1}});
    let failure = json!({"subtype": "error", "request_id": "r", "error": "no"});
    for (response, result) in [(success, Ok(json!({"a": 1}))), (failure, Err("no".to_owned()))] {
        let request_id = "r".to_owned();
        let expected = Incoming::Response(ControlResponse { request_id, result });
        assert_eq!(parse(&json!({"type": "control_response", "response": response})), expected);
    }
}

#[test]
fn what_has_no_meaning_here_is_ignored() {
    let ignored = [
        json!(null),
        json!(5),
        json!([{"type": "user"}]),
        json!({}),
        json!({"type": "keep_alive"}),
        json!({"type": "assistant", "message": {}}),
        json!({"type": 7}),
        json!({"type": "control_request", "request": {"subtype": "interrupt"}}),
        json!({"type": "control_response", "response": {}}),
    ];
    for value in ignored {
        assert_eq!(parse(&value), Incoming::Nothing, "{value}");
    }
}
