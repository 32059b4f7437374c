//! The examples of `docs/scripted.md` do what the page says. Those in Python are run by
//! `tests/python/clients.py`.

use serde_json::{Value, json};
use windlass_scripted::Script;

use crate::test_server::TestServer;

const PAGE: &str = include_str!("../../../../docs/scripted.md");

/// A conversation with an example, and what the answer has in it.
struct DocumentedExample {
    /// A text that occurs in this example only.
    example: &'static str,
    messages: Value,
    answer: &'static str,
}

/// The text of every block that is fenced as a script.
fn scripts() -> Vec<&'static str> {
    // The name of a file may stand behind the language.
    let blocks = PAGE.split("```script").skip(1).map(|block| block.split_once('\n').unwrap().1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

fn user_message(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

/// Messages with a call of this tool and its result with this text.
fn tool_result_messages(prompt: &str, tool: &str, text: &str) -> Value {
    json!([{"role": "user", "content": prompt},
        {"role": "assistant",
         "content": [{"type": "tool_use", "id": "t", "name": tool, "input": {}}]},
        {"role": "user",
         "content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]}])
}

fn example(example: &'static str, messages: Value, answer: &'static str) -> DocumentedExample {
    DocumentedExample { example, messages, answer }
}

fn plays() -> Vec<DocumentedExample> {
    vec![
        example("Hello yourself.", user_message("hello there"), "Hello yourself."),
        example("Hello yourself.", user_message("Bye"), "You said: Bye"),
        example("matches \"fix *\"", user_message("fix it"), "\"name\":\"Bash\""),
        example(
            "matches \"fix *\"",
            tool_result_messages("fix it", "Read", "42"),
            "you asked: fix it",
        ),
        example("matches \"fix *\"", tool_result_messages("fix it", "Write", "ok"), "Done."),
        example("include Search", user_message("cats"), "{\"query\": \"cats\"}"),
        example("Dear reader", user_message("x"), "Dear reader,\\n  this is request 1."),
        example("Dear reader", user_message("x"), "echo ${HOME}"),
        example("pace 20ms", user_message("x"), "This comes word by word."),
        example(
            "a_reason_nobody_knows",
            user_message("too long"),
            "\"stop_reason\":\"max_tokens\"",
        ),
        example("a_reason_nobody_knows", user_message("forbidden"), "\"stop_reason\":\"refusal\""),
        example(
            "a_reason_nobody_knows",
            user_message("dialogue"),
            "\"stop_sequence\":\"\\nUser:\"",
        ),
        example("a_reason_nobody_knows", user_message("from the future"), "a_reason_nobody_knows"),
        example(
            "a_reason_nobody_knows",
            user_message("half a call"),
            "\"stop_reason\":\"max_tokens\"",
        ),
        example("fail connect", user_message("overloaded"), "529 retry-after: 2"),
        example(
            "fail connect",
            user_message("limited"),
            "429 retry-after: Wed, 21 Oct 2026 07:28:00 GMT",
        ),
        example("fail connect", user_message("broken in the middle"), "it broke"),
        example("fail connect", user_message("nobody there"), "closed"),
        example("fail connect", user_message("anything else"), "All is well."),
        example("An expensive answer", user_message("x"), "\"input_tokens\":120000"),
        example("An expensive answer", user_message("x"), "\"cache_read_input_tokens\":100000"),
        example(
            "a_block_of_tomorrow",
            user_message("x"),
            "{\"type\": \"a_block_of_tomorrow\", \"n\": 1.50}",
        ),
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
    for DocumentedExample { example, messages, answer } in plays {
        let mut found = scripts.iter().filter(|script| script.contains(example));
        let server = TestServer::new(found.next().unwrap()).await;
        assert!(found.next().is_none(), "{example} stands in two examples");
        let tools = json!([{"name": "Search", "input_schema": {"type": "object"}}]);
        let body = json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": messages});
        let output = match server.try_post("/v1/messages", &body).await {
            None => "closed".to_owned(),
            Some(response) => {
                let wait = response.header("retry-after").unwrap_or_default();
                format!("{} retry-after: {wait} {}", response.status, response.body)
            }
        };
        assert!(output.contains(answer), "{example}: {answer} is not in {output}");
        server.stop().await;
    }
}

/// The three requests of the page, one for each format.
#[tokio::test]
async fn every_request_of_the_page_is_answered() {
    let server = TestServer::new(scripts()[0]).await;
    let mut formats = Vec::new();
    for request in PAGE.split("curl -s http://127.0.0.1:8123").skip(1) {
        let (path, rest) = request.split_once(" -d '").unwrap();
        let body: Value = serde_json::from_str(rest.split('\'').next().unwrap()).unwrap();
        let response = server.post(path, &body).await;
        assert_eq!(response.status, 200, "{path}");
        assert!(response.body.contains("Hello yourself."), "{path}: {}", response.body);
        formats.push(path);
    }
    assert_eq!(formats, ["/v1/messages", "/v1/chat/completions", "/v1/responses"]);
    server.stop().await;
}
