//! Runs: each ends once, or waits with a question.

use std::collections::BTreeMap;

use windlass_core::ids::RunId;
use windlass_core::record::Record;
use windlass_core::stop::{RunState, StopCause};
use windlass_core::wanted::is_parked;

use super::history::History;
use super::{Case, ensure};

#[derive(Default)]
struct Life {
    begun: usize,
    ends: Vec<StopCause>,
}

fn lives(history: &History<'_>) -> BTreeMap<RunId, Life> {
    let mut lives: BTreeMap<RunId, Life> = BTreeMap::new();
    for (_, record) in history.records() {
        match record {
            Record::RunStarted { run } => lives.entry(run.clone()).or_default().begun += 1,
            Record::Finished { run, cause, .. } => {
                lives.entry(run.clone()).or_default().ends.push(*cause);
            }
            _ => {}
        }
    }
    lives
}

pub(super) fn end_once(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        let end = history.end();
        for (run, life) in lives(history) {
            let parked = end.run.as_ref().is_some_and(|active| active.id == run) && is_parked(&end);
            let fine = life.begun <= 1 && life.ends.len() + usize::from(parked) == 1;
            ensure(fine || !case.evidence.rested, || {
                format!("{run}: begun {} times, ended {:?}", life.begun, life.ends)
            })?;
        }
        let waiting = end.queue.front().filter(|_| end.run.is_none());
        ensure(waiting.is_none(), || {
            format!("{} has a prompt that nobody starts", history.lane())
        })?;
    }
    Ok(())
}

pub(super) fn rest(case: &Case<'_>) -> Result<(), String> {
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

pub(super) fn rows_agree(case: &Case<'_>) -> Result<(), String> {
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
