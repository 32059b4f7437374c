//! What is put before a human.

use windlass_core::facts::Verify;
use windlass_core::ids::CallId;
use windlass_core::input::{Finding, Input};
use windlass_core::question::{About, Question};
use windlass_core::record::Record;
use windlass_core::run::Run;

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

/// Only a call that was started, may not be repeated, has not completed, and whose tool could not
/// say what became of it.
pub(super) fn only_unknown(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        for (step, call) in uncertain(history) {
            let started = until(history, step, &Record::Started { call });
            let completed = until(history, step, &Record::Completed { call });
            ensure(started > completed && is_unknowable(step, call), || {
                format!("{} call {call} at entry {}", history.lane(), step.entry.seq)
            })?;
        }
    }
    Ok(())
}

/// How often a record was made up to this entry.
fn until(history: &History<'_>, step: &Step, record: &Record) -> usize {
    let upto = history.records().take_while(|(other, _)| other.entry.seq <= step.entry.seq);
    upto.filter(|(_, other)| *other == record).count()
}

fn is_unknowable(step: &Step, id: CallId) -> bool {
    let round = step.before.run.as_ref().and_then(Run::round);
    let Some(call) = round.and_then(|round| round.call(id)) else { return false };
    let asked = matches!(step.input(), Input::Probed { finding: Finding::Unknown {}, .. });
    !call.facts.is_repeatable() && (call.facts.verify == Verify::CannotTell || asked)
}
