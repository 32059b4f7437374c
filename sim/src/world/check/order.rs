//! Calls that conflict have the outcome of running in the order listed.

use windlass_core::input::Input;

use super::{Case, ensure};
use crate::world::witness::{Effect, Ending, Seen};

/// Pairs of conflicting effects of one lane, the one that started first in front.
fn conflicts(seen: &Seen) -> impl Iterator<Item = (&Effect, &Effect)> {
    (1..).zip(&seen.effects).flat_map(|(next, first)| {
        let later = seen.effects.iter().skip(next);
        later.filter(move |second| conflict(first, second)).map(move |second| (first, second))
    })
}

fn conflict(first: &Effect, second: &Effect) -> bool {
    first.lane == second.lane && first.facts.touches.conflicts_with(&second.facts.touches)
}

/// What a process had in the air when it lost its lane may go on until it notices.
fn is_left_over(seen: &Seen, first: &Effect, second: &Effect) -> bool {
    let fenced = seen.fenced(&first.lane, first.process, first.started);
    first.process != second.process && fenced.is_some_and(|tick| tick < second.started)
}

pub(super) fn no_overlap(case: &Case<'_>) -> Result<(), String> {
    let seen = &case.evidence.seen;
    for (first, second) in conflicts(seen) {
        let over = first.ended.as_ref().is_some_and(|(tick, _)| *tick < second.started);
        ensure(over || is_left_over(seen, first, second), || {
            format!("{} {} and {} {}", first.lane, first.key, second.tool, second.key)
        })?;
    }
    Ok(())
}

pub(super) fn in_call_order(case: &Case<'_>) -> Result<(), String> {
    for (first, second) in conflicts(&case.evidence.seen) {
        let same_reply = first.call.ask == second.call.ask;
        let turned = same_reply && first.call.index > second.call.index;
        let apart = power_cut_between(case, first, second) || is_void(case, first);
        ensure(!turned || apart, || {
            format!("{}: {} before {}", first.lane, first.key, second.key)
        })?;
    }
    Ok(())
}

/// A read that ran ahead of a reply which then came otherwise: nobody was told what it found.
fn is_void(case: &Case<'_>, effect: &Effect) -> bool {
    let history = case.histories.iter().find(|history| *history.lane() == effect.lane);
    let mut steps = history.into_iter().flat_map(|history| &history.steps);
    let counted = steps.any(|step| match (step.input(), &effect.ended) {
        (Input::ToolReturned { call, outcome, .. }, Some((_, Ending::Returned(returned)))) => {
            *call == effect.call && outcome == returned
        }
        _ => false,
    });
    effect.facts.touches.is_read() && !counted
}

/// A reply that a power cut took back is not the one that came in its place.
fn power_cut_between(case: &Case<'_>, first: &Effect, second: &Effect) -> bool {
    let cuts = &case.evidence.seen.power_cuts;
    cuts.iter().any(|cut| first.started < cut.tick && cut.tick < second.started)
}
