//! What a model reads of a batch of calls, and what becomes of its answer.

use super::*;

fn call(name: &str, input: &str) -> ToolUse {
    ToolUse {
        id: Arc::from("toolu_1"),
        name: Arc::from(name),
        input: RawJson::parse(input).unwrap(),
    }
}

#[test]
fn the_answer_becomes_one_short_printable_line() {
    assert_eq!(first_line("\n  \"Read two files\"\nand more").as_deref(), Some("Read two files"));
    assert_eq!(first_line("a\u{1b}[31mred").as_deref(), Some("a[31mred"));
    assert_eq!(first_line(&"x".repeat(9_000)).unwrap().len(), MAX_LINE_CHARS);
    assert_eq!(first_line(" \n\u{7}\n"), None);
    assert_eq!(first_line("\"\""), None);
}

#[test]
fn long_calls_and_many_calls_are_cut() {
    let long = format!("{{\"command\":\"{}\"}}", "y".repeat(100_000));
    let result = RawJson::encode(&Value::String("z".repeat(100_000)));
    let calls = vec![(call("Bash", &long), Some(result)); 300];
    let text = describe_calls(&calls);
    assert!(text.len() < MAX_CALLS * 1_200, "{}", text.len());
    assert!(text.ends_with("… and 280 more calls\n"), "{text}");
}

#[test]
fn results_are_read_as_text() {
    let blocks = serde_json::json!([{"type": "text", "text": "found"}, {"type": "image"}]);
    let text = describe_calls(&[(call("Grep", "{}"), Some(RawJson::encode(&blocks)))]);
    assert_eq!(text, "Call: Grep {}\nResult: found\nimage\n\n");
}
