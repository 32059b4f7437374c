//! What was accepted comes to exactly one end, and it is the one that was planned.

use serde_json::Value;

use crate::fault::Fault;
use crate::store::Lane;

pub(super) fn faults(lane: &Lane) -> Vec<Fault> {
    let ends: Vec<&Value> = lane.with_tag("finished/1").map(|(_, _, value)| value).collect();
    let begins = lane.with_tag("run_started/1").count();
    let mut faults: Vec<Fault> = ends.iter().filter_map(|end| otherwise(end)).collect();
    if ends.len() != 1 {
        faults.push(Fault::lost(format!("it has {} ends instead of one", ends.len())));
    }
    if begins != 1 {
        faults.push(Fault::lost(format!("{begins} runs came of one prompt")));
    }
    faults
}

fn otherwise(end: &Value) -> Option<Fault> {
    let cause = end.get("cause").and_then(Value::as_str).unwrap_or("nothing");
    (cause != "end_turn").then(|| Fault::lost(format!("it ended with {cause}")))
}
