//! A human is asked only about a once-only call that was started and did not come back.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::fault::Fault;
use crate::log::{About, CallId, Question, call_of};
use crate::store::Lane;

pub(super) fn faults(lane: &Lane) -> Vec<Fault> {
    let mut in_the_air = BTreeSet::new();
    let mut asked = lane.questions().into_iter();
    let mut faults = Vec::new();
    for (_, tag, value) in lane.records() {
        match tag {
            "questioned/1" => faults.extend(asked.next().and_then(|it| needless(&it, &in_the_air))),
            _ => note(&mut in_the_air, tag, value),
        }
    }
    faults
}

fn note(in_the_air: &mut BTreeSet<CallId>, tag: &str, value: &Value) {
    let Some(call) = call_of(value) else { return };
    match tag {
        "started/1" => in_the_air.insert(call),
        "completed/1" | "settled/1" | "call_cleared/1" => in_the_air.remove(&call),
        _ => false,
    };
}

fn needless(question: &Question, in_the_air: &BTreeSet<CallId>) -> Option<Fault> {
    let what = match &question.about {
        About::Uncertain(call) if in_the_air.contains(call) => return None,
        About::Uncertain(call) => {
            format!("call {}.{} was not in the air", call.ask, call.index)
        }
        About::Other(name) => format!("nothing planned needs a question of kind `{name}`"),
    };
    Some(Fault::needless(format!("question {}: {what}", question.id)))
}
