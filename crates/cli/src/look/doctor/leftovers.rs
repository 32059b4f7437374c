//! What earlier runs left: questions nobody answered, runs whose process died, logs that cannot be
//! read.

use std::collections::BTreeSet;

use windlass::core::ids::LaneId;
use windlass::core::stop::RunState;
use windlass::ports::{RunInfo, Store, StoreError};
use windlass_runtime::identity::is_gone;

use super::{Check, words};
use crate::look::story::Story;
use crate::look::waiting::{Need, Workers};

/// Runs looked back on.
const NEWEST: usize = 1_000;

/// Runs of which it is said what they wait for.
const MOST_WAITING: usize = 10;

/// Conversations whose log is read.
const READ_LOGS: usize = 50;

/// Looks at the newest runs.
pub(super) async fn check(store: &dyn Store) -> Result<Vec<Check>, StoreError> {
    let runs = store.runs(None, NEWEST).await?;
    let waiting: Vec<&RunInfo> = in_state(&runs, RunState::WaitingOnHuman);
    let mut checks = vec![match waiting.as_slice() {
        [] => Check::ok("questions", words::NOBODY_WAITS),
        waiting => Check::note("questions", words::waiting(&lanes(waiting))),
    }];
    checks.push(running(store, &runs).await?);
    checks.extend(workers(store, &runs).await?);
    checks.push(logs(store, &runs).await?);
    Ok(checks)
}

fn in_state(runs: &[RunInfo], state: RunState) -> Vec<&RunInfo> {
    runs.iter().filter(|run| run.state == state).collect()
}

fn lanes<'a>(runs: &[&'a RunInfo]) -> Vec<&'a LaneId> {
    runs.iter().map(|run| &run.lane).collect()
}

/// Runs that should be at work: is anybody there?
async fn running(store: &dyn Store, runs: &[RunInfo]) -> Result<Check, StoreError> {
    let mut left = Vec::new();
    let mut at_work: usize = 0;
    for run in in_state(runs, RunState::Running) {
        let lane = store.lane(run.lane.clone()).await?;
        match lane.and_then(|lane| lane.owner) {
            Some(owner) if !is_gone(&owner) => at_work += 1,
            Some(_) | None => left.push(&run.lane),
        }
    }
    Ok(match left.as_slice() {
        [] => Check::ok("runs", words::at_work(at_work)),
        left => Check::note("runs", words::left_running(left)),
    })
}

/// Which workers are there, what runs wait for, and workspaces that are not what they seem.
async fn workers(store: &dyn Store, runs: &[RunInfo]) -> Result<Vec<Check>, StoreError> {
    let workers = Workers::read(store).await?;
    let mut checks = vec![Check::ok("workers", words::workers(workers.count()))];
    for run in runs {
        let lane = store.lane(run.lane.clone()).await?;
        // Runs that were left at work are listed above, with how to resume them.
        let need = workers
            .needed_by(run, lane.as_ref())
            .filter(|need| run.state != RunState::Running || !matches!(need, Need::Resume(_)));
        if let Some(waits_for) = need {
            checks.push(Check::note("waiting", format!("run {} is {waits_for}", run.run)));
        }
        if checks.len() > MOST_WAITING {
            break;
        }
    }
    for (id, places) in workers.ambiguous() {
        checks.push(Check::broken("workspaces", words::ambiguous_workspace(&id, &places)));
    }
    Ok(checks)
}

/// The newest logs, read to their end.
async fn logs(store: &dyn Store, runs: &[RunInfo]) -> Result<Check, StoreError> {
    let mut seen = BTreeSet::new();
    let newest = runs.iter().map(|run| &run.lane).filter(|lane| seen.insert((*lane).clone()));
    let newest: Vec<&LaneId> = newest.take(READ_LOGS).collect();
    for lane in &newest {
        let story = Story::read(store, (*lane).clone()).await?;
        if let Some(damage) = story.damage {
            return Ok(Check::broken("logs", format!("{lane}: {damage}")));
        }
    }
    Ok(Check::ok("logs", words::logs_read(newest.len())))
}
