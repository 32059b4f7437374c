//! Durability: which records wait for the disk.

use windlass_core::log::record::{Durability, Record, RecordedResult, entry_durability};
use windlass_core::settings::conversation_settings::DurabilityMode;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, settings, tag, text};

fn waits(lane: &Lane) -> Durability {
    entry_durability(&lane.last, DurabilityMode::Scheduled)
}

// spec: STORE-06
#[test]
fn steps_wait_as_the_schedule_says() {
    let asked = Lane::new().prompt("hi");
    assert_eq!(waits(&asked), Durability::Commit, "a prompt: its mail is durable already");
    let reads = asked.clone().reply(calls([call("t1", "read", "/a")]));
    assert_eq!(waits(&reads), Durability::Commit, "a reply with repeatable calls");
    let writes = asked.clone().reply(calls([call("t1", "write", "/a"), call("t2", "write", "/a")]));
    assert_eq!(waits(&writes), Durability::Barrier, "a reply with a call that is not");
    let wave = writes.clone().returns(0, "A");
    assert_eq!(waits(&wave), Durability::Barrier, "a later wave");
    let closed = wave.returns(1, "A");
    assert_eq!(waits(&closed), Durability::Commit, "a round closes");
    assert_eq!(waits(&writes.cancel()), Durability::Barrier, "cancel");
    assert_eq!(waits(&closed.reply(text("done"))), Durability::Barrier, "the end");
    let questioned = asked.clone().reply(calls([call("t1", "deploy", "x")]));
    assert_eq!(waits(&questioned.allow()), Durability::Barrier, "an answer");
    let early = asked.clone().streams(0, &call("t1", "read", "/a"));
    assert_eq!(waits(&early), Durability::Volatile, "an early start");
    assert_eq!(waits(&asked.steer("more")), Durability::Commit, "a steer: its mail is durable");
}

// spec: STORE-06
#[test]
fn strict_makes_every_commit_a_barrier() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "read", "/a")]));
    assert_eq!(entry_durability(&lane.last, DurabilityMode::Strict), Durability::Barrier);
    let early = Lane::new().prompt("hi").streams(0, &call("t1", "read", "/a"));
    assert_eq!(entry_durability(&early.last, DurabilityMode::Strict), Durability::Volatile);
    assert_eq!(entry_durability(&[], DurabilityMode::Strict), Durability::Volatile);
}

/// Records of every kind, from lanes that produce them.
fn records() -> Vec<Record> {
    let logs = crate::golden::stories().into_iter().map(|(_, lane)| lane.log.clone());
    logs.flatten().flat_map(|entry| entry.records).collect()
}

#[test]
fn each_kind_of_record_survives_what_it_must() {
    let barriers = [
        "call_started",
        "children_spawned",
        "call_classified",
        "question_answered",
        "cancel_requested",
        "run_finished",
    ];
    for record in records() {
        let expected = if barriers.contains(&&*tag(&record)) {
            Durability::Barrier
        } else {
            Durability::Commit
        };
        assert_eq!(record.durability(), expected, "{record:?}");
    }
    let call = windlass_core::log::ids::CallId { model_call: 1, index: 0 };
    assert_eq!(Record::RepeatableCallStarted { call }.durability(), Durability::Volatile);
    let start = windlass_core::log::record::EarlyStart::Held;
    assert_eq!(Record::EarlyCallDecided { call, start }.durability(), Durability::Volatile);
}

#[test]
fn a_settlement_has_its_outcome_as_name() {
    assert_eq!(RecordedResult::Unchanged {}.outcome_name(), "done");
    let result = windlass_core::call::outcome::CallResult::from_denial("no");
    assert_eq!(RecordedResult::Replaced(result).outcome_name(), "denied");
}

// spec: LOG-08
#[test]
fn the_prompt_is_stored_before_the_model_is_asked() {
    let lane = Lane::new().prompt("hi");
    let entry = lane.log.last().unwrap();
    assert!(entry.encode().contains("\"hi\""));
    assert_eq!(crate::kit::tags(&entry.records), "prompt_queued run_started model_call_started");
}

// spec: LOG-11
#[test]
fn a_run_records_the_limits_it_used() {
    let lane = Lane::with(|settings| settings.limits.tool_rounds = 7);
    let line = lane.log[0].encode();
    assert!(line.contains("\"tool_rounds\":7") && line.contains("\"cancel_wait_ms\":180000"));
    assert_ne!(settings().limits.tool_rounds, 7);
}

// spec: LOG-09
#[test]
fn a_run_has_exactly_one_end() {
    for (name, lane) in crate::golden::stories() {
        let records: Vec<Record> =
            lane.log.iter().flat_map(|entry| entry.records.clone()).collect();
        let mut open = std::collections::BTreeSet::new();
        let mut ended = std::collections::BTreeSet::new();
        for record in &records {
            match record {
                Record::RunStarted { run } => assert!(open.insert(run.clone()), "{name}"),
                Record::RunFinished { run, cause, .. } => {
                    open.remove(run);
                    assert!(ended.insert(run.clone()), "{name}: {run} ended twice");
                    assert!(!matches!(cause, StopCause::AskedHuman | StopCause::ResumeUnsafe));
                }
                Record::Forked { .. } => open.clear(),
                _ => {}
            }
        }
        assert_eq!(open.len(), usize::from(lane.live.run.is_some()), "{name}");
    }
}
