//! Every once-only call left exactly one line in the ledger. A human said `retry` only where there
//! was none, so that changes nothing about the count.

use serde_json::Value;

use super::Evidence;
use crate::fault::Fault;
use crate::log::call_of;
use crate::plan::Effect;

pub(super) fn faults(evidence: Evidence<'_>) -> Vec<Fault> {
    let mut faults: Vec<Fault> =
        evidence.plan.effects().flat_map(|effect| miscounted(evidence, effect)).collect();
    faults.extend(unplanned(evidence));
    faults
}

fn miscounted(evidence: Evidence<'_>, effect: &Effect) -> Vec<Fault> {
    let lines = evidence.ledger.iter().filter(|line| **line == effect.line).count();
    let again = (1..lines).map(|_| Fault::duplicated(format!("`{}` happened again", effect.line)));
    let lost = (lines == 0 && is_due(evidence, effect))
        .then(|| Fault::lost(format!("`{}` counts as done and never happened", effect.line)));
    again.chain(lost).collect()
}

/// Whether the log says that the call came back, or that the run is over.
fn is_due(evidence: Evidence<'_>, effect: &Effect) -> bool {
    let completed = || evidence.lane.with_tag("completed/1");
    let is_it = |value: &Value| {
        let block = call_of(value).and_then(|call| evidence.lane.call(call));
        block.is_some_and(|block| is_block_of(block, effect))
    };
    evidence.lane.with_tag("finished/1").next().is_some()
        || completed().any(|(_, _, value)| is_it(value))
}

/// Whether a block of a reply is the call with this effect.
pub(crate) fn is_block_of(block: &Value, effect: &Effect) -> bool {
    let command = block.get("input").and_then(|input| input.get("command"));
    // In quotes, because one line may be the beginning of another.
    let line = format!("'{}'", effect.line);
    command.and_then(Value::as_str).is_some_and(|command| command.contains(&line))
}

fn unplanned(evidence: Evidence<'_>) -> Vec<Fault> {
    let planned = |line: &&String| evidence.plan.effects().any(|effect| effect.line == **line);
    let strange = evidence.ledger.iter().filter(|line| !planned(line));
    strange.map(|line| Fault::duplicated(format!("`{line}` was never planned"))).collect()
}
