//! Checks of questions to a human.

use windlass_core::call::call_facts::ProbeSupport;
use windlass_core::log::ids::CallId;
use windlass_core::log::input::{Input, ProbeResult};
use windlass_core::log::record::Record;
use windlass_core::run::active_run::Run;
use windlass_core::run::question::{Question, QuestionKind};

use super::history::{HistoryStep, LaneHistory};
use super::{CheckedWorld, ensure};

fn uncertain<'a>(history: &'a LaneHistory<'_>) -> impl Iterator<Item = (&'a HistoryStep, CallId)> {
    history.records().filter_map(|(step, record)| match record {
        Record::QuestionAsked {
            question: Question { kind: QuestionKind::Uncertain { call }, .. },
        } => Some((step, *call)),
        _ => None,
    })
}

pub(super) fn count(case: &CheckedWorld<'_>) -> u64 {
    case.histories.iter().map(|history| uncertain(history).count() as u64).sum()
}

/// A human is asked only about a call that was started, may not be repeated, has not completed, and
/// whose tool could not report what happened to it.
pub(super) fn only_unknown(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        for (step, call) in uncertain(history) {
            let started = until(history, step, &Record::CallStarted { call });
            let completed = until(history, step, &Record::CallReturned { call });
            ensure(started > completed && is_unknowable(step, call), || {
                format!("{} call {call} at entry {}", history.lane(), step.entry.seq)
            })?;
        }
    }
    Ok(())
}

/// How often a record was made up to this entry.
fn until(history: &LaneHistory<'_>, step: &HistoryStep, record: &Record) -> usize {
    let upto = history.records().take_while(|(other, _)| other.entry.seq <= step.entry.seq);
    upto.filter(|(_, other)| *other == record).count()
}

fn is_unknowable(step: &HistoryStep, id: CallId) -> bool {
    let round = step.before.run.as_ref().and_then(Run::round);
    let Some(call) = round.and_then(|round| round.call(id)) else { return false };
    let asked = matches!(step.input(), Input::CallProbed { result: ProbeResult::Unknown {}, .. });
    !call.facts.is_repeatable() && (call.facts.probe == ProbeSupport::Unsupported || asked)
}
