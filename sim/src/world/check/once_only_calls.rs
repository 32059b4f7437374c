//! Checks of calls that must not be repeated.

use std::collections::BTreeMap;

use windlass_core::log::ids::CallId;
use windlass_core::log::record::Record;

use super::history::LaneHistory;
use super::{CheckedWorld, ensure};
use crate::world::observation_log::ToolExecution;

fn effects<'a>(
    case: &'a CheckedWorld<'_>,
    history: &'a LaneHistory<'_>,
) -> impl Iterator<Item = &'a ToolExecution> {
    let mine = |effect: &&ToolExecution| effect.is_once_only() && effect.lane == *history.lane();
    case.evidence.seen.effects.iter().filter(mine)
}

/// Each clearance (a human's retry, a probe that found nothing) is worth one more execution.
pub(super) fn at_most_once(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        let mut executions: BTreeMap<CallId, usize> = BTreeMap::new();
        for effect in effects(case, history) {
            *executions.entry(effect.call).or_default() += 1;
        }
        for (call, times) in executions {
            let cleared = history.count(|record| *record == Record::CallRequeued { call });
            ensure(times <= 1 + cleared, || {
                format!("{} call {call}: {times} executions, {cleared} clearances", history.lane())
            })?;
        }
    }
    Ok(())
}

pub(super) fn recorded_first(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for effect in effects(case, history) {
            let call = effect.call;
            let started = history.count(|record| *record == Record::CallStarted { call });
            let attempt = effect.attempt as usize;
            ensure(started >= attempt, || {
                format!("{} call {call} attempt {attempt}: {started} started", history.lane())
            })?;
        }
    }
    Ok(())
}

/// A call that started ends in the log: completed, lost, or finished as interrupted.
pub(super) fn accounted_for(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for effect in effects(case, history) {
            let call = effect.call;
            let accounts = history.count(|record| match record {
                Record::CallReturned { call: other }
                | Record::CallLost { call: other }
                | Record::ResultFinalized { call: other, .. } => *other == call,
                _ => false,
            });
            ensure(accounts > 0, || format!("{} call {call}", history.lane()))?;
        }
    }
    Ok(())
}
