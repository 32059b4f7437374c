//! What is put before a human.

use windlass_core::ids::CallId;
use windlass_core::question::{About, Question};
use windlass_core::record::Record;

use super::history::{History, Step};
use super::{Case, ensure};

fn uncertain<'a>(history: &'a History<'_>) -> impl Iterator<Item = (&'a Step, CallId)> {
    history.records().filter_map(|(step, record)| match record {
        Record::Questioned { question: Question { about: About::Uncertain { call }, .. } } => {
            Some((step, *call))
        }
        _ => None,
    })
}

pub(super) fn count(case: &Case<'_>) -> u64 {
    case.histories.iter().map(|history| uncertain(history).count() as u64).sum()
}

/// Only a call that was started, may not be repeated, and has not completed.
pub(super) fn only_unknown(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        for (step, call) in uncertain(history) {
            let earlier = |record: &Record| {
                let until =
                    history.records().take_while(|(other, _)| other.entry.seq <= step.entry.seq);
                until.filter(|(_, other)| *other == record).count()
            };
            let started = earlier(&Record::Started { call });
            let completed = earlier(&Record::Completed { call });
            let round = step.before.run.as_ref().and_then(|run| run.round());
            let repeatable = round
                .and_then(|round| round.call(call))
                .is_none_or(|call| call.facts.is_repeatable());
            ensure(started > completed && !repeatable, || {
                format!("{} call {call} at entry {}", history.lane(), step.entry.seq)
            })?;
        }
    }
    Ok(())
}
