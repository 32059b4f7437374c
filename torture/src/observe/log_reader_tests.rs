//! The state of a conversation, read from its JSON.

use serde_json::{Value, json};

use crate::observe::log_reader::{LaneProgress, LoggedCallId, LoggedQuestion, LoggedQuestionKind};
use crate::observe::store::{StoredEntry, StoredLane};

fn lane(bodies: Vec<Value>) -> StoredLane {
    let row = |(seq, body)| StoredEntry { seq, epoch: 1, body };
    let entries: Vec<StoredEntry> = (1..).zip(bodies).map(row).collect();
    StoredLane { epoch: 1, head: entries.len() as i64, entries, waiting_mail: 0 }
}

fn asking() -> Value {
    let about = json!({ "uncertain": { "call": { "model_call": 2, "index": 1 } } });
    json!({ "seq": 1, "input": { "owner_changed/1": {} },
            "records": [{ "owner_changed/1": {} }, { "question_asked/1": { "question": { "id": 7, "kind": about } } }] })
}

fn answering(question: u64) -> Value {
    let body = json!({ "answer/1": { "question": question, "answer": { "retry": {} } } });
    json!({ "seq": 2, "input": { "commands_received/1": { "messages": [{ "id": 4, "body": body }] } },
            "records": [{ "question_answered/1": { "message": 4 } }] })
}

#[test]
fn an_open_question_waits_for_its_answer() {
    let question = LoggedQuestion {
        id: 7,
        about: LoggedQuestionKind::Uncertain(LoggedCallId { ask: 2, index: 1 }),
    };
    assert_eq!(lane(vec![asking()]).lane_progress(), LaneProgress::NeedsAnswer(question.clone()));
    assert_eq!(
        lane(vec![asking(), answering(8)]).lane_progress(),
        LaneProgress::NeedsAnswer(question)
    );
    assert_eq!(lane(vec![asking(), answering(7)]).lane_progress(), LaneProgress::Open);
}

#[test]
fn an_answer_that_was_sent_and_not_read_is_not_sent_again() {
    let waiting = StoredLane { waiting_mail: 1, ..lane(vec![asking()]) };
    assert_eq!(waiting.lane_progress(), LaneProgress::Open);
}

#[test]
fn a_terminal_record_ends_it() {
    let finished = json!({ "seq": 2, "input": {}, "records": [{ "run_finished/1": {} }] });
    assert_eq!(lane(vec![asking(), finished]).lane_progress(), LaneProgress::Finished);
    assert_eq!(lane(Vec::new()).lane_progress(), LaneProgress::Open);
}

#[test]
fn a_call_is_found_by_reply_and_block() {
    let reply = json!({ "seq": 1, "records": [],
        "input": { "model_replied/1": { "model_call": 2, "reply": { "blocks": ["text", "the call"] } } } });
    let lane = lane(vec![reply]);
    assert_eq!(lane.find_call(LoggedCallId { ask: 2, index: 1 }), Some(&json!("the call")));
    assert_eq!(lane.find_call(LoggedCallId { ask: 1, index: 1 }), None);
    assert_eq!(lane.find_call(LoggedCallId { ask: 2, index: 5 }), None);
}

#[test]
fn a_lane_that_was_only_made_and_looked_at_was_not_spoken_to() {
    let configured = json!({ "seq": 1, "input": {}, "records": [{ "configured/1": {} }] });
    let queued =
        json!({ "seq": 2, "input": {}, "records": [{ "prompt_queued/1": { "message": 1 } }] });
    assert!(!lane(vec![configured.clone()]).has_prompt());
    assert!(StoredLane { waiting_mail: 1, ..lane(vec![configured.clone()]) }.has_prompt());
    assert!(lane(vec![configured, queued]).has_prompt());
}
