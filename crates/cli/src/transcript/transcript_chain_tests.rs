use serde_json::json;

use super::*;

fn user(uuid: &str, parent: Option<&str>, content: Value) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "isSidechain": false,
        "message": {"role": "user", "content": content}})
}

fn assistant(uuid: &str, parent: &str, block: Value) -> Value {
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "isSidechain": false,
        "message": {"role": "assistant", "id": "msg_1", "content": [block]}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {}})
}

fn result(id: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": "x"}])
}

fn read(lines: &[Value]) -> TranscriptChain {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text.push_str("{\"type\":\"user\",\"uu");
    std::fs::write(&path, text).unwrap();
    TranscriptChain::read(&path).unwrap().unwrap()
}

fn uuids(chain: &TranscriptChain) -> Vec<&str> {
    chain.lines.iter().filter_map(|line| text(line, "uuid")).collect()
}

#[test]
fn a_branch_that_was_left_is_not_in_the_chain() {
    let chain = read(&[
        user("1", None, json!("alpha")),
        assistant("2", "1", json!({"type": "text", "text": "one"})),
        user("3", Some("2"), json!("beta")),
        assistant("4", "3", json!({"type": "text", "text": "two"})),
        user("5", Some("2"), json!("gamma")),
        assistant("6", "5", json!({"type": "text", "text": "three"})),
    ]);
    assert_eq!(uuids(&chain), ["1", "2", "5", "6"]);
    assert_eq!(chain.history().unwrap().segments().len(), 4);
}

#[test]
fn results_of_parallel_calls_come_back() {
    let chain = read(&[
        user("1", None, json!("go")),
        assistant("2", "1", call("a")),
        assistant("3", "2", call("b")),
        user("4", Some("2"), result("a")),
        user("5", Some("3"), result("b")),
        assistant("6", "5", json!({"type": "text", "text": "done"})),
    ]);
    assert_eq!(uuids(&chain), ["1", "2", "3", "4", "5", "6"]);
    let segments = chain.history().unwrap();
    assert_eq!(segments.segments().len(), 4);
}

#[test]
fn a_cut_keeps_the_results_of_its_calls_and_names_the_next_prompt() {
    let lines = [
        user("1", None, json!("go")),
        assistant("2", "1", call("a")),
        user("3", Some("2"), result("a")),
        assistant("4", "3", json!({"type": "text", "text": "done"})),
        user("5", Some("4"), json!("again")),
    ];
    let mut chain = read(&lines);
    assert_eq!(chain.cut_after("2"), Some(Some("5".to_owned())));
    assert_eq!(uuids(&chain), ["1", "2", "3"]);
    assert_eq!(chain.last_message(), "3");
    assert_eq!(read(&lines).cut_after("9"), None);
}

#[test]
fn a_line_that_is_its_own_ancestor_ends_the_chain() {
    let chain = read(&[
        user("1", Some("2"), json!("go")),
        assistant("2", "1", json!({"type": "text", "text": "one"})),
        user("3", Some("2"), json!("more")),
    ]);
    assert_eq!(uuids(&chain), ["1", "2", "3"]);
}
