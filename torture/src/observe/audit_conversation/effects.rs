//! Checks that every once-only call left exactly one line in the ledger. A human answers `retry`
//! only if there was none, so that does not change the count.

use serde_json::Value;

use super::AuditEvidence;
use crate::observe::log_reader::call_id_of;
use crate::observe::violation::Violation;
use crate::plan::conversation_plan::{EffectTool, PlannedEffect};

pub(super) fn find_violations(evidence: AuditEvidence<'_>) -> Vec<Violation> {
    let mut faults: Vec<Violation> =
        evidence.plan.effects().flat_map(|effect| check_effect_count(evidence, effect)).collect();
    faults.extend(find_unplanned(evidence));
    faults
}

fn check_effect_count(evidence: AuditEvidence<'_>, effect: &PlannedEffect) -> Vec<Violation> {
    let lines = evidence.ledger.iter().filter(|line| **line == effect.line).count();
    let again = (1..lines)
        .map(|_| Violation::duplicated_effect(format!("`{}` happened again", effect.line)));
    let lost = (lines == 0 && is_expected(evidence, effect)).then(|| {
        Violation::lost_data(format!(
            "`{}` is recorded as done but has no line in the ledger",
            effect.line
        ))
    });
    again.chain(lost).collect()
}

/// Returns whether the log says that the call returned, or that the run has ended.
fn is_expected(evidence: AuditEvidence<'_>, effect: &PlannedEffect) -> bool {
    let completed = || evidence.lane.with_tag("call_returned/1");
    let is_it = |value: &Value| {
        let block = call_id_of(value).and_then(|call| evidence.lane.find_call(call));
        block.is_some_and(|block| is_effect_block(block, effect))
    };
    evidence.lane.with_tag("run_finished/1").next().is_some()
        || completed().any(|(_, _, value)| is_it(value))
}

/// Returns whether a block of a reply is the call with this effect.
pub(crate) fn is_effect_block(block: &Value, effect: &PlannedEffect) -> bool {
    let field = |name: &str| block.get("input")?.get(name)?.as_str();
    // In quotes, because one line may be the prefix of another.
    let line = format!("'{}'", effect.line);
    match effect.tool {
        EffectTool::Bash => field("command").is_some_and(|command| command.contains(&line)),
        EffectTool::Mcp => field("line") == Some(effect.line.as_str()),
    }
}

fn find_unplanned(evidence: AuditEvidence<'_>) -> Vec<Violation> {
    let planned = |line: &&String| evidence.plan.effects().any(|effect| effect.line == **line);
    let strange = evidence.ledger.iter().filter(|line| !planned(line));
    strange.map(|line| Violation::duplicated_effect(format!("`{line}` was not planned"))).collect()
}
