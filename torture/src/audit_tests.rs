//! Every kind of fault is planted in a small log once, and must be found as what it is.

use serde_json::{Value, json};

use crate::audit::{Evidence, faults, was_surfaced};
use crate::fault::Kind;
use crate::plan::{Call, Effect, Plan, Step};
use crate::store::{Lane, Row};

fn plan() -> Plan {
    let effect =
        |line: &str| Call::Effect(Effect { line: line.to_owned(), before_ms: 0, after_ms: 0 });
    let steps = vec![Step::Calls(vec![effect("c 1.1"), effect("c 1.10")])];
    Plan { conversation: "c".to_owned(), steps }
}

fn call(index: u64) -> Value {
    json!({ "ask": 1, "index": index })
}

fn block(line: &str) -> Value {
    let command = format!("printf '%s\\n' '{line}' >> 'ledger'");
    json!({ "type": "tool_use", "id": "x", "name": "Bash", "input": { "command": command } })
}

/// A log of entries, one record list each; the first holds the reply with both calls.
fn lane(records: &[Vec<Value>]) -> Lane {
    let replied = json!({ "replied/1": { "ask": 1, "reply": {
        "blocks": [block("c 1.1"), block("c 1.10")] } } });
    let entries: Vec<Row> = (1_i64..)
        .zip(records)
        .map(|(seq, records)| Row {
            seq,
            epoch: 1,
            body: json!({ "seq": seq, "input": replied, "records": records }),
        })
        .collect();
    Lane { epoch: 9, head: entries.len() as i64, entries, waiting_mail: 0 }
}

fn whole() -> Vec<Vec<Value>> {
    vec![
        vec![json!({ "run_started/1": { "run": "r" } })],
        vec![json!({ "started/1": { "call": call(0) } })],
        vec![
            json!({ "completed/1": { "call": call(0) } }),
            json!({ "started/1": { "call": call(1) } }),
        ],
        vec![json!({ "completed/1": { "call": call(1) } })],
        vec![json!({ "finished/1": { "run": "r", "cause": "end_turn", "also": [] } })],
    ]
}

fn questioned(about: Value) -> Value {
    json!({ "questioned/1": { "question": { "id": 1, "about": about } } })
}

fn ledger(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn kinds(lane: &Lane, lines: &[&str]) -> Vec<Kind> {
    let (plan, ledger) = (plan(), ledger(lines));
    let evidence = Evidence { plan: &plan, lane, ledger: &ledger };
    faults(evidence).into_iter().map(|fault| fault.kind).collect()
}

#[test]
fn a_log_and_a_ledger_that_agree_have_no_faults() {
    assert_eq!(kinds(&lane(&whole()), &["c 1.1", "c 1.10"]), []);
}

#[test]
fn an_effect_that_happened_again_is_duplicated() {
    let twice = ["c 1.1", "c 1.10", "c 1.1", "c 1.1"];
    assert_eq!(kinds(&lane(&whole()), &twice), [Kind::Duplicated, Kind::Duplicated]);
}

#[test]
fn a_line_nobody_planned_is_duplicated() {
    assert_eq!(kinds(&lane(&whole()), &["c 1.1", "c 1.10", "d 7.7"]), [Kind::Duplicated]);
}

#[test]
fn an_effect_the_log_knows_and_the_ledger_does_not_is_lost() {
    let mut unfinished = whole();
    unfinished.pop();
    assert_eq!(kinds(&lane(&whole()), &["c 1.10"]), [Kind::Lost]);
    assert_eq!(kinds(&lane(&unfinished), &["c 1.10"]), [Kind::Lost, Kind::Lost]);
}

#[test]
fn a_run_has_one_end_and_the_one_that_was_planned() {
    let mut none = whole();
    none.pop();
    let mut two = whole();
    two.extend(two.last().cloned());
    let mut other = whole();
    other.pop();
    other.push(vec![json!({ "finished/1": { "cause": "provider_failed" } })]);
    for log in [none, two, other] {
        assert_eq!(kinds(&lane(&log), &["c 1.1", "c 1.10"]), [Kind::Lost]);
    }
}

#[test]
fn an_entry_of_an_older_epoch_is_a_stale_write() {
    let mut stale = lane(&whole());
    stale.entries[2].epoch = 3;
    assert_eq!(kinds(&stale, &["c 1.1", "c 1.10"]), [Kind::StaleWrite, Kind::StaleWrite]);
}

#[test]
fn an_entry_that_believes_to_stand_elsewhere_is_a_stale_write() {
    let mut misplaced = lane(&whole());
    misplaced.entries[3].body["seq"] = json!(3);
    assert_eq!(kinds(&misplaced, &["c 1.1", "c 1.10"]), [Kind::StaleWrite]);
}

#[test]
fn an_entry_of_an_epoch_to_come_is_a_stale_write() {
    let mut early = lane(&whole());
    early.epoch = 0;
    assert!(kinds(&early, &["c 1.1", "c 1.10"]).contains(&Kind::StaleWrite));
}

#[test]
fn a_gap_in_the_log_is_a_loss() {
    let mut gap = lane(&whole());
    gap.entries.remove(0);
    assert!(kinds(&gap, &["c 1.1", "c 1.10"]).contains(&Kind::Lost));
}

#[test]
fn a_question_about_a_call_that_was_in_the_air_is_not_needless() {
    let mut asked = whole();
    asked.insert(2, vec![questioned(json!({ "uncertain": { "call": call(0) } }))]);
    let asked = lane(&asked);
    assert!(was_surfaced(&asked));
    assert_eq!(kinds(&asked, &["c 1.1", "c 1.10"]), []);
}

#[test]
fn a_question_about_anything_else_is_needless() {
    let uncertain = |index: u64| questioned(json!({ "uncertain": { "call": call(index) } }));
    let approval = questioned(json!({ "approval": { "call": call(0) } }));
    for (place, question) in
        [(1, uncertain(0)), (4, uncertain(1)), (2, uncertain(1)), (2, approval)]
    {
        let mut asked = whole();
        asked.insert(place, vec![question]);
        assert_eq!(kinds(&lane(&asked), &["c 1.1", "c 1.10"]), [Kind::Needless], "{place}");
    }
}
