//! Checks of unfinished runs: open questions, interrupted runs, unreadable logs.

use std::collections::BTreeSet;

use windlass::core::log::ids::LaneId;
use windlass::core::stop::RunState;
use windlass::ports::{RunInfo, Store, StoreError};

use super::DoctorCheck;
use crate::inspect::history::ConversationHistory;
use crate::inspect::run_activity::RunActivity;
use crate::inspect::worker_status::{Need, WorkerList};
use crate::messages::report;

/// Maximum number of runs that are checked, newest first.
const MAX_RUNS: usize = 1_000;

/// Maximum number of runs for which the check says what they wait for.
const MAX_WAITING: usize = 10;

/// Maximum number of conversations whose log is read.
const MAX_LOGS: usize = 50;

/// Checks the newest runs.
pub(super) async fn check(store: &dyn Store) -> Result<Vec<DoctorCheck>, StoreError> {
    let runs = store.list_runs(None, MAX_RUNS).await?;
    let waiting: Vec<&RunInfo> = runs_in_state(&runs, RunState::WaitingOnHuman);
    let mut checks = vec![match waiting.as_slice() {
        [] => DoctorCheck::ok("questions", report::doctor::NO_OPEN_QUESTIONS),
        waiting => {
            DoctorCheck::note("questions", report::doctor::runs_needing_answers(&lane_ids(waiting)))
        }
    }];
    checks.push(check_running(store, &runs).await?);
    checks.extend(check_workers(store, &runs).await?);
    checks.push(check_logs(store, &runs).await?);
    Ok(checks)
}

fn runs_in_state(runs: &[RunInfo], state: RunState) -> Vec<&RunInfo> {
    runs.iter().filter(|run| run.state == state).collect()
}

fn lane_ids<'a>(runs: &[&'a RunInfo]) -> Vec<&'a LaneId> {
    runs.iter().map(|run| &run.lane).collect()
}

/// Checks runs in state `running`: whether a live process drives them.
async fn check_running(store: &dyn Store, runs: &[RunInfo]) -> Result<DoctorCheck, StoreError> {
    let mut left = Vec::new();
    let mut at_work: usize = 0;
    let workers = WorkerList::read(store).await?;
    for run in runs_in_state(runs, RunState::Running) {
        match RunActivity::read(store, &workers, run).await?.driven {
            Some(true) => at_work += 1,
            Some(false) => left.push(&run.lane),
            // It waits for an answer, which is listed among the questions.
            None => {}
        }
    }
    Ok(match left.as_slice() {
        [] => DoctorCheck::ok("runs", report::doctor::running_runs(at_work)),
        left => DoctorCheck::note("runs", report::doctor::interrupted_runs(left)),
    })
}

/// Lists the live workers, what runs wait for, and workspace ids that are ambiguous.
async fn check_workers(
    store: &dyn Store,
    runs: &[RunInfo],
) -> Result<Vec<DoctorCheck>, StoreError> {
    let workers = WorkerList::read(store).await?;
    let mut checks =
        vec![DoctorCheck::ok("workers", report::doctor::worker_count(workers.live_count()))];
    for run in runs {
        // Interrupted runs are listed above, with how to resume them.
        let need = RunActivity::read(store, &workers, run)
            .await?
            .need
            .filter(|need| run.state != RunState::Running || !matches!(need, Need::Resume(_)));
        if let Some(waits_for) = need {
            checks.push(DoctorCheck::note("waiting", format!("run {} is {waits_for}", run.run)));
        }
        if checks.len() > MAX_WAITING {
            break;
        }
    }
    for (id, places) in workers.ambiguous_workspaces() {
        checks.push(DoctorCheck::broken(
            "workspaces",
            report::doctor::ambiguous_workspace(&id, &places),
        ));
    }
    Ok(checks)
}

/// Reads the newest logs to their end.
async fn check_logs(store: &dyn Store, runs: &[RunInfo]) -> Result<DoctorCheck, StoreError> {
    let mut seen = BTreeSet::new();
    let newest = runs.iter().map(|run| &run.lane).filter(|lane| seen.insert((*lane).clone()));
    let newest: Vec<&LaneId> = newest.take(MAX_LOGS).collect();
    for lane in &newest {
        let history = ConversationHistory::load(store, (*lane).clone()).await?;
        if let Some(damage) = history.damage {
            return Ok(DoctorCheck::broken("logs", format!("{lane}: {damage}")));
        }
    }
    Ok(DoctorCheck::ok("logs", report::doctor::logs_readable(newest.len())))
}
