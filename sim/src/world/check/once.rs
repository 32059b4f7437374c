//! Calls that must not be repeated.

use std::collections::BTreeMap;

use windlass_core::ids::CallId;
use windlass_core::record::Record;

use super::history::History;
use super::{Case, ensure};
use crate::world::witness::Effect;

fn effects<'a>(case: &'a Case<'_>, history: &'a History<'_>) -> impl Iterator<Item = &'a Effect> {
    let mine = |effect: &&Effect| effect.is_once_only() && effect.lane == *history.lane();
    case.evidence.seen.effects.iter().filter(mine)
}

/// Each clearance (a human's retry, a probe that found nothing) is worth one more execution.
pub(super) fn at_most_once(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        let mut executions: BTreeMap<CallId, usize> = BTreeMap::new();
        for effect in effects(case, history) {
            *executions.entry(effect.call).or_default() += 1;
        }
        for (call, times) in executions {
            let cleared = history.count(|record| *record == Record::CallCleared { call });
            ensure(times <= 1 + cleared, || {
                format!("{} call {call}: {times} executions, {cleared} clearances", history.lane())
            })?;
        }
    }
    Ok(())
}

pub(super) fn recorded_first(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        for effect in effects(case, history) {
            let call = effect.call;
            let started = history.count(|record| *record == Record::Started { call });
            let attempt = effect.attempt as usize;
            ensure(started >= attempt, || {
                format!("{} call {call} attempt {attempt}: {started} started", history.lane())
            })?;
        }
    }
    Ok(())
}

/// A call that began ends in the log: completed, lost, or settled as interrupted.
pub(super) fn accounted_for(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        for effect in effects(case, history) {
            let call = effect.call;
            let accounts = history.count(|record| match record {
                Record::Completed { call: other }
                | Record::CallLost { call: other }
                | Record::Settled { call: other, .. } => *other == call,
                _ => false,
            });
            ensure(accounts > 0, || format!("{} call {call}", history.lane()))?;
        }
    }
    Ok(())
}
