//! Every kind of violation is planted in a small log once, and must be found with its kind.

use serde_json::{Value, json};

use crate::observe::audit_conversation::{AuditEvidence, find_violations, was_human_asked};
use crate::observe::store::{StoredEntry, StoredLane};
use crate::observe::violation::ViolationKind;
use crate::plan::conversation_plan::{
    ConversationPlan, EffectTool, PlanStep, PlannedCall, PlannedEffect,
};

fn plan() -> ConversationPlan {
    let effect = |line: &str| {
        PlannedCall::Effect(PlannedEffect {
            line: line.to_owned(),
            before_ms: 0,
            after_ms: 0,
            tool: EffectTool::Bash,
        })
    };
    let steps = vec![PlanStep::Calls(vec![effect("c 1.1"), effect("c 1.10")])];
    ConversationPlan { conversation: "c".to_owned(), steps }
}

fn call(index: u64) -> Value {
    json!({ "model_call": 1, "index": index })
}

fn block(line: &str) -> Value {
    let command = format!("printf '%s\\n' '{line}' >> 'ledger'");
    json!({ "type": "tool_use", "id": "x", "name": "Bash", "input": { "command": command } })
}

/// A log of entries, with one list of records each; the first has the reply with both calls.
fn lane(records: &[Vec<Value>]) -> StoredLane {
    let replied = json!({ "model_replied/1": { "model_call": 1, "reply": {
        "blocks": [block("c 1.1"), block("c 1.10")] } } });
    let entries: Vec<StoredEntry> = (1_i64..)
        .zip(records)
        .map(|(seq, records)| StoredEntry {
            seq,
            epoch: 1,
            body: json!({ "seq": seq, "input": replied, "records": records }),
        })
        .collect();
    StoredLane { epoch: 9, head: entries.len() as i64, entries, waiting_mail: 0 }
}

fn whole() -> Vec<Vec<Value>> {
    vec![
        vec![json!({ "run_started/1": { "run": "r" } })],
        vec![json!({ "call_started/1": { "call": call(0) } })],
        vec![
            json!({ "call_returned/1": { "call": call(0) } }),
            json!({ "call_started/1": { "call": call(1) } }),
        ],
        vec![json!({ "call_returned/1": { "call": call(1) } })],
        vec![json!({ "run_finished/1": { "run": "r", "cause": "end_turn", "also": [] } })],
    ]
}

fn questioned(about: Value) -> Value {
    json!({ "question_asked/1": { "question": { "id": 1, "kind": about } } })
}

fn ledger(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn kinds(lane: &StoredLane, lines: &[&str]) -> Vec<ViolationKind> {
    let (plan, ledger) = (plan(), ledger(lines));
    let evidence = AuditEvidence { plan: &plan, lane, ledger: &ledger };
    find_violations(evidence).into_iter().map(|fault| fault.kind).collect()
}

#[test]
fn a_log_and_a_ledger_that_agree_have_no_faults() {
    assert_eq!(kinds(&lane(&whole()), &["c 1.1", "c 1.10"]), []);
}

#[test]
fn an_effect_that_happened_again_is_duplicated() {
    let twice = ["c 1.1", "c 1.10", "c 1.1", "c 1.1"];
    assert_eq!(
        kinds(&lane(&whole()), &twice),
        [ViolationKind::DuplicatedEffect, ViolationKind::DuplicatedEffect]
    );
}

#[test]
fn an_unplanned_line_is_a_duplicated_effect() {
    assert_eq!(
        kinds(&lane(&whole()), &["c 1.1", "c 1.10", "d 7.7"]),
        [ViolationKind::DuplicatedEffect]
    );
}

#[test]
fn an_effect_the_log_knows_and_the_ledger_does_not_is_lost() {
    let mut unfinished = whole();
    unfinished.pop();
    assert_eq!(kinds(&lane(&whole()), &["c 1.10"]), [ViolationKind::LostData]);
    assert_eq!(
        kinds(&lane(&unfinished), &["c 1.10"]),
        [ViolationKind::LostData, ViolationKind::LostData]
    );
}

#[test]
fn a_run_has_one_end_and_the_one_that_was_planned() {
    let mut none = whole();
    none.pop();
    let mut two = whole();
    two.extend(two.last().cloned());
    let mut other = whole();
    other.pop();
    other.push(vec![json!({ "run_finished/1": { "cause": "provider_failed" } })]);
    for log in [none, two, other] {
        assert_eq!(kinds(&lane(&log), &["c 1.1", "c 1.10"]), [ViolationKind::LostData]);
    }
}

#[test]
fn an_entry_of_an_older_epoch_is_a_stale_write() {
    let mut stale = lane(&whole());
    stale.entries[2].epoch = 3;
    assert_eq!(
        kinds(&stale, &["c 1.1", "c 1.10"]),
        [ViolationKind::StaleWrite, ViolationKind::StaleWrite]
    );
}

#[test]
fn an_entry_that_believes_to_stand_elsewhere_is_a_stale_write() {
    let mut misplaced = lane(&whole());
    misplaced.entries[3].body["seq"] = json!(3);
    assert_eq!(kinds(&misplaced, &["c 1.1", "c 1.10"]), [ViolationKind::StaleWrite]);
}

#[test]
fn an_entry_of_an_epoch_to_come_is_a_stale_write() {
    let mut early = lane(&whole());
    early.epoch = 0;
    assert!(kinds(&early, &["c 1.1", "c 1.10"]).contains(&ViolationKind::StaleWrite));
}

#[test]
fn a_gap_in_the_log_is_a_loss() {
    let mut gap = lane(&whole());
    gap.entries.remove(0);
    assert!(kinds(&gap, &["c 1.1", "c 1.10"]).contains(&ViolationKind::LostData));
}

#[test]
fn a_question_about_a_call_that_was_in_the_air_is_not_needless() {
    let mut asked = whole();
    asked.insert(2, vec![questioned(json!({ "uncertain": { "call": call(0) } }))]);
    let asked = lane(&asked);
    assert!(was_human_asked(&asked));
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
        assert_eq!(
            kinds(&lane(&asked), &["c 1.1", "c 1.10"]),
            [ViolationKind::NeedlessQuestion],
            "{place}"
        );
    }
}
