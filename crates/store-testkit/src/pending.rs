//! Conformance cases: what lists show of unread messages: queued prompts, requested cancels, and
//! which workers could run them.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::projection::Row;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{
    Affinity, AppendRequest, OutboxMessage, ServedWorkspace, StoreError,
};

use crate::fixtures::{
    CaseResult, TestStore, append, claim_new_lane, entries, lane, message, run_row, worker,
};

fn cancel(key: &str, run: Option<&str>) -> OutboxMessage {
    let body = InboxCommand::Cancel { run: run.map(RunId::from_name) };
    OutboxMessage { idempotency_key: Arc::from(key), body }
}

/// A prompt is listed as a queued run from the moment it was accepted, and only once.
pub async fn a_prompt_is_a_queued_run(store: TestStore) -> CaseResult {
    let affinity = Affinity { agent: "a".into(), folder: "/w".into(), ..Affinity::default() };
    store.register_lane(lane("x"), affinity).await?;
    store.enqueue_message(lane("x"), message("hello there")).await?;
    for of in [None, Some(lane("x"))] {
        let runs = store.list_runs(of, 9).await?;
        assert_eq!(runs.len(), 1, "{runs:?}");
        let Some(run) = runs.first() else { continue };
        assert_eq!((run.state, &run.lane), (RunState::Queued, &lane("x")));
        assert_eq!(run.description.prompt.as_deref(), Some("hello there"));
        assert_eq!(run.description.folder.as_deref(), Some("/w"));
        assert_eq!((run.cause, run.cancel_requested), (None, false));
    }
    assert_eq!(store.list_runs(Some(lane("y")), 9).await?, []);
    let run = RunId::from_name("hello there");
    let found = store.find_run(run.clone()).await?.map(|found| (found.run, found.state));
    assert_eq!(found, Some((run.clone(), RunState::Queued)));
    assert_eq!(store.find_run(RunId::from_name("another")).await?, None);
    let epoch = store.claim_lane(lane("x"), worker("w"), None).await?.epoch;
    let rows = vec![run_row("hello there", RunState::Running, 1)];
    let read = append(&lane("x"), epoch, 0, entries("x", 1, 1));
    store.append(AppendRequest { messages_read: vec![1], rows, ..read }).await?;
    let states: Vec<_> = store.list_runs(None, 9).await?.iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Running]);
    let found = store.find_run(run.clone()).await?.map(|found| (found.run, found.state));
    assert_eq!(found, Some((run, RunState::Running)));
    Ok(())
}

/// A cancel counts for the run it names from the moment it was accepted; one that names no run
/// counts for the active run.
pub async fn a_cancel_that_waits_is_seen(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("x")).await?;
    let rows = vec![run_row("active", RunState::Running, 1)];
    store
        .append(AppendRequest { rows, ..append(&lane("x"), epoch, 0, entries("x", 1, 1)) })
        .await?;
    store.enqueue_message(lane("x"), message("one")).await?;
    store.enqueue_message(lane("x"), message("two")).await?;
    store.enqueue_message(lane("x"), cancel("c", Some("one"))).await?;
    assert_eq!(cancel_requested_runs(&store).await?, ids(&["one"]));
    for (name, is_requested) in [("one", true), ("two", false)] {
        let found = store.find_run(RunId::from_name(name)).await?;
        assert_eq!(found.map(|run| run.cancel_requested), Some(is_requested), "{name}");
    }
    store.enqueue_message(lane("x"), cancel("d", None)).await?;
    assert_eq!(cancel_requested_runs(&store).await?, ids(&["active", "one"]));
    Ok(())
}

fn ids(names: &[&str]) -> BTreeSet<RunId> {
    names.iter().map(|name| RunId::from_name(name)).collect()
}

async fn cancel_requested_runs(store: &TestStore) -> Result<BTreeSet<RunId>, StoreError> {
    let runs = store.list_runs(None, 9).await?;
    Ok(runs.into_iter().filter(|run| run.cancel_requested).map(|run| run.run).collect())
}

/// Once a cancel of a run was requested, its row keeps saying so.
pub async fn a_cancel_stays_seen(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("x")).await?;
    for (head, asked) in [(0, true), (1, false)] {
        let row = match run_row("r", RunState::Running, head) {
            Row::Run(mut row) => {
                row.cancel_requested = asked;
                Row::Run(row)
            }
            other => other,
        };
        let step = append(&lane("x"), epoch, head, entries("x", head + 1, head + 1));
        store.append(AppendRequest { rows: vec![row], ..step }).await?;
        assert_eq!(cancel_requested_runs(&store).await?, ids(&["r"]));
    }
    Ok(())
}

/// A process that announces no workspaces is not listed as a worker.
pub async fn workers_say_what_they_serve(store: TestStore) -> CaseResult {
    let served = vec![ServedWorkspace { id: "i".into(), host: "h".into(), path: "/w".into() }];
    store.record_heartbeat(worker("session")).await?;
    store.record_heartbeat(worker("w")).await?;
    store.announce_workspaces(worker("w"), served.clone()).await?;
    let workers = store.list_workers().await?;
    let found: Vec<_> = workers.iter().map(|found| (&*found.worker, &found.workspaces)).collect();
    assert_eq!(found, [("w", &served)]);
    assert!(workers.iter().all(|found| found.silent_ms < 60_000), "{workers:?}");
    Ok(())
}

/// A lane without a workspace takes the first that is given, and keeps it.
pub async fn a_workspace_is_given_once(store: TestStore) -> CaseResult {
    let whose = |location: &str| Affinity {
        workspace: location.into(),
        folder: location.into(),
        ..Affinity::default()
    };
    for (given, want) in [("", ""), ("here", "here"), ("there", "here"), ("", "here")] {
        store.register_lane(lane("x"), whose(given)).await?;
        let found = store.lane_info(lane("x")).await?.map(|lane| lane.affinity).unwrap_or_default();
        assert_eq!((&*found.workspace, &*found.folder), (want, want));
    }
    assert_eq!(&*store.claim_lane(lane("x"), worker("w"), None).await?.workspace, "here");
    Ok(())
}
