//! The examples of `docs/scripted.md` do what the page says. Those in Python are run by
//! `tests/python/clients.py`.

use serde_json::{Value, json};
use windlass_providers::scripted::Script;

use crate::place::Place;

const PAGE: &str = include_str!("../../../../docs/scripted.md");

/// A conversation with an example, and what the answer has in it.
struct Play {
    /// Words that stand in this example alone.
    example: &'static str,
    messages: Value,
    answer: &'static str,
}

/// The text of every block that is fenced as a script.
fn scripts() -> Vec<&'static str> {
    let blocks = PAGE.split("```script\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

fn said(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

/// A call of this tool that came back with this text.
fn returned(prompt: &str, tool: &str, text: &str) -> Value {
    json!([{"role": "user", "content": prompt},
        {"role": "assistant",
         "content": [{"type": "tool_use", "id": "t", "name": tool, "input": {}}]},
        {"role": "user",
         "content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]}])
}

fn play(example: &'static str, messages: Value, answer: &'static str) -> Play {
    Play { example, messages, answer }
}

fn plays() -> Vec<Play> {
    vec![
        play("hello.script", said("hello there"), "Hello yourself."),
        play("hello.script", said("Bye"), "You said: Bye"),
        play("matches \"fix *\"", said("fix it"), "\"name\":\"Bash\""),
        play("matches \"fix *\"", returned("fix it", "Read", "42"), "you asked: fix it"),
        play("matches \"fix *\"", returned("fix it", "Write", "ok"), "Done."),
        play("include Search", said("cats"), "{\"query\": \"cats\"}"),
        play("Dear reader", said("x"), "Dear reader,\\n  this is request 1."),
        play("Dear reader", said("x"), "echo ${HOME}"),
        play("pace 20ms", said("x"), "This comes word by word."),
        play("a_reason_nobody_knows", said("too long"), "\"stop_reason\":\"max_tokens\""),
        play("a_reason_nobody_knows", said("forbidden"), "\"stop_reason\":\"refusal\""),
        play("a_reason_nobody_knows", said("dialogue"), "\"stop_sequence\":\"\\nUser:\""),
        play("a_reason_nobody_knows", said("from the future"), "a_reason_nobody_knows"),
        play("a_reason_nobody_knows", said("half a call"), "\"stop_reason\":\"max_tokens\""),
        play("fail connect", said("overloaded"), "529 retry-after: 2"),
        play("fail connect", said("limited"), "429 retry-after: Wed, 21 Oct 2026 07:28:00 GMT"),
        play("fail connect", said("broken in the middle"), "it broke"),
        play("fail connect", said("nobody there"), "closed"),
        play("fail connect", said("anything else"), "All is well."),
        play("An expensive answer", said("x"), "\"input_tokens\":120000"),
        play("An expensive answer", said("x"), "\"cache_read_input_tokens\":100000"),
        play("a_block_of_tomorrow", said("x"), "{\"type\": \"a_block_of_tomorrow\", \"n\": 1.50}"),
    ]
}

#[test]
fn every_example_is_a_script_with_rules() {
    for script in scripts() {
        let read = Script::parse(script).unwrap_or_else(|error| panic!("{error} in\n{script}"));
        assert!(!read.rules.is_empty(), "{script}");
    }
}

#[tokio::test]
async fn every_example_answers_as_the_page_says() {
    let (scripts, plays) = (scripts(), plays());
    for script in &scripts {
        assert!(plays.iter().any(|play| script.contains(play.example)), "not played:\n{script}");
    }
    for Play { example, messages, answer } in plays {
        let mut found = scripts.iter().filter(|script| script.contains(example));
        let place = Place::new(found.next().unwrap()).await;
        assert!(found.next().is_none(), "{example} stands in two examples");
        let tools = json!([{"name": "Search", "input_schema": {"type": "object"}}]);
        let body = json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": messages});
        let shown = match place.try_post("/v1/messages", &body).await {
            None => "closed".to_owned(),
            Some(response) => {
                let wait = response.header("retry-after").unwrap_or_default();
                format!("{} retry-after: {wait} {}", response.status, response.body)
            }
        };
        assert!(shown.contains(answer), "{example}: {answer} is not in {shown}");
        place.stop().await;
    }
}

/// The three requests of the page, one for each format.
#[tokio::test]
async fn every_request_of_the_page_is_answered() {
    let place = Place::new(scripts()[0]).await;
    let mut formats = Vec::new();
    for request in PAGE.split("curl -s http://127.0.0.1:8123").skip(1) {
        let (path, rest) = request.split_once(" -d '").unwrap();
        let body: Value = serde_json::from_str(rest.split('\'').next().unwrap()).unwrap();
        let response = place.post(path, &body).await;
        assert_eq!(response.status, 200, "{path}");
        assert!(response.body.contains("Hello yourself."), "{path}: {}", response.body);
        formats.push(path);
    }
    assert_eq!(formats, ["/v1/messages", "/v1/chat/completions", "/v1/responses"]);
    place.stop().await;
}
