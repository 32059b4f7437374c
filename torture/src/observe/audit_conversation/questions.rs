//! Checks that a human is asked only about a once-only call that was started and did not return.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::observe::log_reader::{LoggedCallId, LoggedQuestion, LoggedQuestionKind, call_id_of};
use crate::observe::store::StoredLane;
use crate::observe::violation::Violation;

pub(super) fn find_violations(lane: &StoredLane) -> Vec<Violation> {
    let mut in_the_air = BTreeSet::new();
    let mut asked = lane.questions().into_iter();
    let mut faults = Vec::new();
    for (_, tag, value) in lane.records() {
        match tag {
            "question_asked/1" => {
                faults.extend(asked.next().and_then(|it| check_question(&it, &in_the_air)));
            }
            _ => track_call(&mut in_the_air, tag, value),
        }
    }
    faults
}

fn track_call(in_the_air: &mut BTreeSet<LoggedCallId>, tag: &str, value: &Value) {
    let Some(call) = call_id_of(value) else { return };
    match tag {
        "call_started/1" => in_the_air.insert(call),
        "call_returned/1" | "result_finalized/1" | "call_requeued/1" => in_the_air.remove(&call),
        _ => false,
    };
}

fn check_question(
    question: &LoggedQuestion,
    in_the_air: &BTreeSet<LoggedCallId>,
) -> Option<Violation> {
    let what = match &question.about {
        LoggedQuestionKind::Uncertain(call) if in_the_air.contains(call) => return None,
        LoggedQuestionKind::Uncertain(call) => {
            format!("call {}.{} was not in flight", call.ask, call.index)
        }
        LoggedQuestionKind::Other(name) => {
            format!("unexpected question of kind `{name}`")
        }
    };
    Some(Violation::needless_question(format!("question {}: {what}", question.id)))
}
