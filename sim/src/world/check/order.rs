//! Checks of the call order: calls that conflict have the outcome of running in the order listed.

use windlass_core::log::input::Input;
use windlass_core::log::record::Record;

use super::{CheckedWorld, ensure};
use crate::world::observation_log::{ExecutionEnd, Observations, ToolExecution};

/// Returns pairs of conflicting effects of one lane, the one that started first in front.
fn conflicts(seen: &Observations) -> impl Iterator<Item = (&ToolExecution, &ToolExecution)> {
    (1..).zip(&seen.effects).flat_map(|(next, first)| {
        let later = seen.effects.iter().skip(next);
        later.filter(move |second| conflict(first, second)).map(move |second| (first, second))
    })
}

fn conflict(first: &ToolExecution, second: &ToolExecution) -> bool {
    first.lane == second.lane && first.facts.touches.conflicts_with(&second.facts.touches)
}

/// Effects that a process had in flight when it lost its lane may continue until it notices.
fn is_left_over(seen: &Observations, first: &ToolExecution, second: &ToolExecution) -> bool {
    let fenced = seen.lost_lane_at(&first.lane, first.process, first.started);
    first.process != second.process && fenced.is_some_and(|tick| tick < second.started)
}

pub(super) fn no_overlap(case: &CheckedWorld<'_>) -> Result<(), String> {
    let seen = &case.evidence.seen;
    for (first, second) in conflicts(seen) {
        let over = first.ended.as_ref().is_some_and(|(tick, _)| *tick < second.started);
        ensure(over || is_left_over(seen, first, second), || {
            format!("{} {} and {} {}", first.lane, first.key, second.tool, second.key)
        })?;
    }
    Ok(())
}

pub(super) fn in_call_order(case: &CheckedWorld<'_>) -> Result<(), String> {
    for (first, second) in conflicts(&case.evidence.seen) {
        let same_reply = first.call.model_call == second.call.model_call;
        let turned = same_reply && first.call.index > second.call.index;
        let apart = power_cut_between(case, first, second)
            || is_void(case, first)
            || is_changed_by_answer(case, second);
        ensure(!turned || apart, || {
            format!("{}: {} before {}", first.lane, first.key, second.key)
        })?;
    }
    Ok(())
}

/// An early call whose reply then came differently: its result was not used.
fn is_void(case: &CheckedWorld<'_>, effect: &ToolExecution) -> bool {
    let history = case.histories.iter().find(|history| *history.lane() == effect.lane);
    let mut steps = history.into_iter().flat_map(|history| &history.steps);
    let counted = steps.any(|step| match (step.input(), &effect.ended) {
        (
            Input::ToolReturned { call, outcome, .. },
            Some((_, ExecutionEnd::Returned(returned))),
        ) => *call == effect.call && outcome == returned,
        _ => false,
    });
    effect.facts.touches.is_read() && !counted
}

/// A person approved the call with other arguments: later calls may have run meanwhile, because the
/// call that waited did not conflict with them.
fn is_changed_by_answer(case: &CheckedWorld<'_>, effect: &ToolExecution) -> bool {
    let history = case.histories.iter().find(|history| *history.lane() == effect.lane);
    let mut records = history.into_iter().flat_map(|history| history.records());
    records.any(|(_, record)| match record {
        Record::CallInputChanged { call, message: Some(_) } => *call == effect.call,
        _ => false,
    })
}

/// A reply that was lost in a power cut is not the one that came in its place.
fn power_cut_between(
    case: &CheckedWorld<'_>,
    first: &ToolExecution,
    second: &ToolExecution,
) -> bool {
    let cuts = &case.evidence.seen.power_cuts;
    cuts.iter().any(|cut| first.started < cut.tick && cut.tick < second.started)
}
