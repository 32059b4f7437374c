use std::sync::Arc;

use crate::message::normalise::{
    Error, HistoryRepair, MAX_HISTORY_BYTES, NormalisedHistory, normalise,
};
use crate::message::request::join_segments;
use crate::message::request_check::check_messages;
use crate::message::transcript::Role;

const CALL: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}"#;
const HI: &str = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"a","content":"A"}"#;

fn made(history: &str) -> NormalisedHistory {
    let made = normalise(history).unwrap();
    let messages = join_segments(made.transcript.segments().iter());
    if !messages.is_empty() {
        assert_eq!(check_messages(&messages), Ok(()), "{history}");
    }
    made
}

/// The messages as lines: role, then the raw blocks.
fn lines(history: &NormalisedHistory) -> Vec<String> {
    let messages = join_segments(history.transcript.segments().iter());
    let line = |message: &crate::message::request::RequestMessage<'_>| {
        let who = if message.role == Role::User { "user" } else { "assistant" };
        let blocks: Vec<&str> = message.blocks.iter().map(|block| block.raw().text()).collect();
        format!("{who} {}", blocks.join(" "))
    };
    messages.iter().map(line).collect()
}

fn id() -> Arc<str> {
    Arc::from("a")
}

#[test]
fn a_good_history_stays_as_it_is() {
    let answer =
        format!(r#"{{"role":"user","content":[{RESULT},{{"type":"text","text":"and?"}}]}}"#);
    let future = r#"{ "type" : "hologram", "x":1.50 }"#;
    let last = format!(r#"{{"role":"assistant","content":[{future}]}}"#);
    let history = made(&format!("[{HI},{CALL},{answer},{last}]"));
    assert_eq!(history.repairs, []);
    assert_eq!(lines(&history).len(), 4);
    assert_eq!(lines(&history)[3], format!("assistant {future}"));
}

#[test]
fn each_fault_is_repaired_and_told() {
    let user = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
    let said = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let rows = [
        (
            r#"[{"role":"user","content":"hi"}]"#.to_owned(),
            vec![HistoryRepair::TextMadeBlock { at: 0 }],
        ),
        (format!("[{HI},{HI}]"), vec![HistoryRepair::Joined { at: 1 }]),
        (format!("[{HI},{CALL}]"), vec![HistoryRepair::ResultAdded { at: 1, id: id() }]),
        (format!("[{HI},{CALL},{HI}]"), vec![HistoryRepair::ResultAdded { at: 1, id: id() }]),
        (format!("[{}]", user(RESULT)), vec![HistoryRepair::ResultMadeText { at: 0, id: id() }]),
        (
            format!("[{HI},{CALL},{}]", user(&format!("{},{RESULT}", said("x")))),
            vec![HistoryRepair::ResultsMoved { at: 2 }],
        ),
        (
            format!("[{HI},{CALL},{}]", user(&format!("{RESULT},{RESULT}"))),
            vec![HistoryRepair::ResultDropped { at: 2, id: id() }],
        ),
        (
            format!("[{HI},{}]", user(&said(" "))),
            vec![HistoryRepair::BlankDropped { at: 1 }, HistoryRepair::NoContent { at: 1 }],
        ),
        (
            r#"[{"role":"assistant","content":[{"type":"text","text":"hello"}]}]"#.to_owned(),
            vec![HistoryRepair::NoteInserted { at: 0 }],
        ),
        (
            format!(r#"[{{"role":"system","content":[{}]}}]"#, said("be kind")),
            vec![HistoryRepair::RoleMadeUser { at: 0, role: Arc::from("system") }],
        ),
        (format!("[{HI},42]"), vec![HistoryRepair::NotAMessage { at: 1 }]),
        (format!(r#"[{HI},{{"role":"user"}}]"#), vec![HistoryRepair::NoContent { at: 1 }]),
        (
            format!("[{HI},{}]", user(&format!("7,{}", said("x")))),
            vec![HistoryRepair::MalformedDropped { at: 1 }, HistoryRepair::Joined { at: 1 }],
        ),
        (
            format!("[{}]", user(r#"{"type":"tool_use","id":"a","name":"read","input":{}}"#)),
            vec![HistoryRepair::CallMadeText { at: 0, id: id() }],
        ),
    ];
    for (history, repairs) in rows {
        let made = made(&history);
        assert_eq!(made.repairs, repairs, "{history}");
        assert!(made.repairs.iter().all(|repair| repair.to_string().starts_with("message ")));
    }
}

#[test]
fn a_missing_result_says_that_nobody_knows() {
    let history = made(&format!("[{HI},{CALL}]"));
    assert!(lines(&history)[2].contains("interrupted; effects unknown"), "{:?}", lines(&history));
    assert!(lines(&history)[2].contains(r#""is_error":true"#));
}

#[test]
fn calls_and_results_are_brought_into_order() {
    let two = r#"{"role":"assistant","content":[
        {"type":"tool_use","id":"a","name":"x","input":{}},{"type":"tool_use","id":"b","name":"x","input":{}},
        {"type":"tool_use","id":"a","name":"y","input":{}},{"type":"thinking","thinking":"hm"}]}"#;
    let answers = r#"{"role":"user","content":[
        {"type":"tool_result","tool_use_id":"b","content":"B"},{"type":"tool_result","tool_use_id":"c","content":[1]},
        {"type":"tool_result","tool_use_id":"a","content":"A"}]}"#;
    let history = made(&format!("[{HI},{two},{answers}]"));
    let expected = [
        HistoryRepair::ThinkingDropped { at: 1 },
        HistoryRepair::CallDropped { at: 1, id: id() },
        HistoryRepair::ResultMadeText { at: 2, id: Arc::from("c") },
        HistoryRepair::ResultsMoved { at: 2 },
    ];
    assert_eq!(history.repairs, expected);
    let last = lines(&history).pop().unwrap();
    let places: Vec<usize> = ["\"A\"", "\"B\"", "[result of c: [1]]"]
        .iter()
        .map(|part| last.find(part).unwrap())
        .collect();
    assert!(places.is_sorted(), "{last}");
}

#[test]
fn an_envelope_of_an_sdk_is_opened() {
    let history = made(r#"[{"type":"user","uuid":"1","message":{"role":"user","content":"hi"}}]"#);
    assert_eq!(lines(&history), [r#"user {"type":"text","text":"hi"}"#]);
}

#[test]
fn strings_keep_their_spelling() {
    let history = made(r#"[{"role":"user","content":"\u05d0\ud800"}]"#);
    assert_eq!(lines(&history), [r#"user {"type":"text","text":"\u05d0\ud800"}"#]);
}

#[test]
fn what_cannot_be_used_is_refused_with_what_to_do() {
    let deep = format!("[{}{}]", "[".repeat(128), "]".repeat(128));
    let very_deep = "[".repeat(1_000_000);
    let rows = [
        ("", "give it as one JSON array"),
        ("[", "give it as one JSON array"),
        ("{}", "give it as one JSON array"),
        ("null", "give it as one JSON array"),
        (deep.as_str(), "more than 128 levels"),
        (very_deep.as_str(), "more than 128 levels"),
    ];
    for (history, words) in rows {
        let error = normalise(history).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let large = " ".repeat(MAX_HISTORY_BYTES + 1);
    assert_eq!(
        normalise(&large),
        Err(Error::TooLarge { bytes: MAX_HISTORY_BYTES + 1, limit: MAX_HISTORY_BYTES })
    );
}

#[test]
fn brackets_in_strings_are_not_depth() {
    let text = format!(r#"[{{"role":"user","content":"{}\" [[["}}]"#, "[".repeat(500));
    assert_eq!(made(&text).repairs, [HistoryRepair::TextMadeBlock { at: 0 }]);
    let most = format!("[{}1{}]", "[".repeat(127), "]".repeat(127));
    assert_eq!(made(&most).repairs, [HistoryRepair::NotAMessage { at: 0 }]);
    assert!(made("[]").transcript.segments().is_empty());
}
