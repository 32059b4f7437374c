//! Where a conversation stands, by its JSON.

use serde_json::{Value, json};

use crate::log::{About, CallId, Question, Standing};
use crate::store::{Lane, Row};

fn lane(bodies: Vec<Value>) -> Lane {
    let row = |(seq, body)| Row { seq, epoch: 1, body };
    let entries: Vec<Row> = (1..).zip(bodies).map(row).collect();
    Lane { epoch: 1, head: entries.len() as i64, entries, waiting_mail: 0 }
}

fn asking() -> Value {
    let about = json!({ "uncertain": { "call": { "ask": 2, "index": 1 } } });
    json!({ "seq": 1, "input": { "adopted/1": {} },
            "records": [{ "adopted/1": {} }, { "questioned/1": { "question": { "id": 7, "about": about } } }] })
}

fn answering(question: u64) -> Value {
    let body = json!({ "answer/1": { "question": question, "answer": { "retry": {} } } });
    json!({ "seq": 2, "input": { "received/1": { "mail": [{ "id": 4, "body": body }] } },
            "records": [{ "answered/1": { "mail": 4 } }] })
}

#[test]
fn an_open_question_waits_for_its_answer() {
    let question = Question { id: 7, about: About::Uncertain(CallId { ask: 2, index: 1 }) };
    assert_eq!(lane(vec![asking()]).standing(), Standing::Asks(question.clone()));
    assert_eq!(lane(vec![asking(), answering(8)]).standing(), Standing::Asks(question));
    assert_eq!(lane(vec![asking(), answering(7)]).standing(), Standing::Open);
}

#[test]
fn an_answer_that_was_sent_and_not_read_is_not_sent_again() {
    let waiting = Lane { waiting_mail: 1, ..lane(vec![asking()]) };
    assert_eq!(waiting.standing(), Standing::Open);
}

#[test]
fn a_terminal_record_ends_it() {
    let finished = json!({ "seq": 2, "input": {}, "records": [{ "finished/1": {} }] });
    assert_eq!(lane(vec![asking(), finished]).standing(), Standing::Finished);
    assert_eq!(lane(Vec::new()).standing(), Standing::Open);
}

#[test]
fn a_call_is_found_by_reply_and_block() {
    let reply = json!({ "seq": 1, "records": [],
        "input": { "replied/1": { "ask": 2, "reply": { "blocks": ["text", "the call"] } } } });
    let lane = lane(vec![reply]);
    assert_eq!(lane.call(CallId { ask: 2, index: 1 }), Some(&json!("the call")));
    assert_eq!(lane.call(CallId { ask: 1, index: 1 }), None);
    assert_eq!(lane.call(CallId { ask: 2, index: 5 }), None);
}

#[test]
fn a_lane_that_was_only_made_and_looked_at_was_not_spoken_to() {
    let configured = json!({ "seq": 1, "input": {}, "records": [{ "configured/1": {} }] });
    let queued = json!({ "seq": 2, "input": {}, "records": [{ "queued/1": { "mail": 1 } }] });
    assert!(!lane(vec![configured.clone()]).was_spoken_to());
    assert!(Lane { waiting_mail: 1, ..lane(vec![configured.clone()]) }.was_spoken_to());
    assert!(lane(vec![configured, queued]).was_spoken_to());
}
