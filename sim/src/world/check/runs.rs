//! Checks of runs: each ends once, or waits with a question.

use std::collections::BTreeMap;

use windlass_core::log::ids::RunId;
use windlass_core::log::record::Record;
use windlass_core::run::wanted::is_parked;
use windlass_core::stop::{RunState, StopCause};

use super::history::LaneHistory;
use super::{CheckedWorld, ensure};

#[derive(Default)]
struct RunLife {
    begun: usize,
    ends: Vec<StopCause>,
}

fn lives(history: &LaneHistory<'_>) -> BTreeMap<RunId, RunLife> {
    let mut lives: BTreeMap<RunId, RunLife> = BTreeMap::new();
    for (_, record) in history.records() {
        match record {
            Record::RunStarted { run } => lives.entry(run.clone()).or_default().begun += 1,
            Record::RunFinished { run, cause, .. } => {
                lives.entry(run.clone()).or_default().ends.push(*cause);
            }
            _ => {}
        }
    }
    lives
}

pub(super) fn end_once(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        let end = history.end();
        for (run, life) in lives(history) {
            let parked = end.run.as_ref().is_some_and(|active| active.id == run) && is_parked(&end);
            let fine = life.begun <= 1 && life.ends.len() + usize::from(parked) == 1;
            ensure(fine || !case.evidence.rested, || {
                format!("{run}: begun {} times, ended {:?}", life.begun, life.ends)
            })?;
        }
        let waiting = end.prompt_queue.front().filter(|_| end.run.is_none());
        ensure(waiting.is_none(), || {
            format!("{} has a prompt that is never started", history.lane())
        })?;
    }
    Ok(())
}

pub(super) fn rest(case: &CheckedWorld<'_>) -> Result<(), String> {
    ensure(case.evidence.rested, || {
        let phases = case.histories.iter().map(|history| {
            let end = history.end();
            format!("{} is {} at entry {}", history.lane(), end.phase_name(), end.head)
        });
        phases.collect::<Vec<_>>().join(", ")
    })?;
    let must_end = case.evidence.people.answer_in_the_end;
    let active = case.histories.iter().find(|history| history.end().run.is_some());
    ensure(!must_end || active.is_none(), || {
        "a run still waits although people answered".to_owned()
    })
}

pub(super) fn rows_agree(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        let end = history.end();
        let lives = lives(history);
        for row in &history.evidence.runs {
            let cause = lives.get(&row.run).and_then(|life| life.ends.first().copied());
            let active = end.run.as_ref().is_some_and(|active| active.id == row.run);
            let state = match row.state {
                RunState::Queued => !active && cause.is_none(),
                RunState::Running => active && !is_parked(&end),
                RunState::WaitingOnHuman => active && is_parked(&end),
                _ => !active && cause.is_some(),
            };
            ensure(state && row.cause == cause, || {
                format!("{} is {:?} {:?}, the log says {cause:?}", row.run, row.state, row.cause)
            })?;
        }
    }
    Ok(())
}
