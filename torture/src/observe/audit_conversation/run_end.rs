//! Checks that an accepted prompt has exactly one end, and that it is the planned one.

use serde_json::Value;

use crate::observe::store::StoredLane;
use crate::observe::violation::Violation;

pub(super) fn find_violations(lane: &StoredLane) -> Vec<Violation> {
    let ends: Vec<&Value> = lane.with_tag("run_finished/1").map(|(_, _, value)| value).collect();
    let begins = lane.with_tag("run_started/1").count();
    let mut faults: Vec<Violation> = ends.iter().filter_map(|end| check_end(end)).collect();
    if ends.len() != 1 {
        faults
            .push(Violation::lost_data(format!("{} terminal records instead of one", ends.len())));
    }
    if begins != 1 {
        faults.push(Violation::lost_data(format!("one prompt started {begins} runs")));
    }
    faults
}

fn check_end(end: &Value) -> Option<Violation> {
    let cause = end.get("cause").and_then(Value::as_str).unwrap_or("nothing");
    (cause != "end_turn").then(|| Violation::lost_data(format!("it ended with {cause}")))
}
