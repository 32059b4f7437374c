//! Conformance cases: reconciling lanes of dead owners.

use windlass_core::log::ids::{RunId, UnixMillis};
use windlass_core::projection::{CheckpointKind, CheckpointRow, Row};
use windlass_core::settings::conversation_settings::ResumePolicy;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{
    AbandonedLane, ClaimQuery, ObservedHeartbeat, ReconcileRequest, ResumeOverride, RunInfo,
    StoreError, WorkerScope,
};

use crate::fixtures::{
    CaseResult, TestStore, append, append_by, claim_new_lane, entries, lane, memory_message,
    run_row, worker,
};

fn pass(heartbeats: u64, resume: ResumeOverride) -> ReconcileRequest {
    let dead = vec![ObservedHeartbeat { worker: worker("w"), heartbeats }];
    ReconcileRequest { dead, resume, limit: 10 }
}

fn checkpoint(run: &str, kind: CheckpointKind) -> Row {
    Row::Checkpoint(CheckpointRow {
        run: RunId::from_name(run),
        seq: 1,
        kind,
        iteration: 1,
        message_cursor: 1,
        persisted_messages: 1,
        prompt_hash: None,
        completed_calls: Vec::new(),
    })
}

/// Creates a due lane of worker `w` with a run in this state and a last checkpoint of this kind.
async fn abandon_with_checkpoint(
    store: &TestStore,
    name: &str,
    state: RunState,
    kind: Option<CheckpointKind>,
) -> CaseResult {
    let lane = lane(name);
    let epoch = claim_new_lane(store, &lane).await?;
    let message: Vec<_> = store.read_inbox(lane.clone(), 9).await?.iter().map(|m| m.id).collect();
    let mut step = append(&lane, epoch, 0, entries(name, 1, 1));
    step.messages_read = message;
    step.wake_at = Some(UnixMillis(0));
    step.active_run = Some(RunId::from_name(name));
    step.rows = vec![run_row(name, state, 1)];
    step.rows.extend(kind.map(|kind| checkpoint(name, kind)));
    store.append(step).await
}

async fn run(store: &TestStore, name: &str) -> Result<Option<RunInfo>, StoreError> {
    Ok(store.list_runs(Some(lane(name)), 1).await?.pop())
}

/// Returns how many runnable lanes a worker claims.
async fn count_claimed(store: &TestStore) -> Result<usize, StoreError> {
    let query = ClaimQuery {
        now: UnixMillis(9),
        limit: 10,
        scope: WorkerScope::default(),
        exclude: Vec::new(),
    };
    Ok(store.claim_runnable_lanes(worker("v"), query).await?.len())
}

/// A running run is marked as timed out; its last checkpoint decides whether it can be resumed.
pub async fn checkpoints_decide(store: TestStore) -> CaseResult {
    use CheckpointKind as Kind;
    store.record_heartbeat(worker("w")).await?;
    let kinds = [Kind::Input, Kind::LlmResponse, Kind::ToolResult, Kind::JournalUpdate];
    let can = kinds.into_iter().chain([Kind::Compaction]).map(|kind| (Some(kind), true));
    let cannot = [Some(Kind::HumanPause), Some(Kind::Final), None].map(|kind| (kind, false));
    let all: Vec<_> = can.chain(cannot).collect();
    for (nth, (kind, _)) in all.iter().enumerate() {
        abandon_with_checkpoint(&store, &format!("run {nth}"), RunState::Running, *kind).await?;
    }
    let abandoned = store.reconcile_dead_owners(pass(1, ResumeOverride::Immediately)).await?;
    assert_eq!(abandoned.len(), all.len());
    for (nth, (kind, resumable)) in all.into_iter().enumerate() {
        let name = format!("run {nth}");
        let timed_out = Some(RunId::from_name(&name));
        let want = AbandonedLane { lane: lane(&name), timed_out, resume_available: resumable };
        assert!(abandoned.contains(&want), "{kind:?}: {abandoned:?}");
        let info = run(&store, &name).await?;
        let seen = info.map(|run| (run.state, run.resume_available));
        assert_eq!(seen, Some((RunState::TimedOut, resumable)), "{kind:?}");
    }
    Ok(())
}

/// Lanes of dead owners are fenced and can be claimed by any worker; then the run continues.
pub async fn abandoned_lanes_go_on(store: TestStore) -> CaseResult {
    store.record_heartbeat(worker("w")).await?;
    abandon_with_checkpoint(&store, "a", RunState::Running, Some(CheckpointKind::Input)).await?;
    assert_eq!(store.owner_heartbeats().await?, pass(1, ResumeOverride::Immediately).dead);
    assert_eq!(count_claimed(&store).await?, 0);
    store.reconcile_dead_owners(pass(1, ResumeOverride::Immediately)).await?;
    let late = append(&lane("a"), 1, 1, entries("late", 2, 2));
    assert!(matches!(store.append(late).await, Err(StoreError::Fenced { .. })));
    assert_eq!(count_claimed(&store).await?, 1);
    let mut on = append_by("v", append(&lane("a"), 3, 1, entries("a", 2, 2)));
    on.rows = vec![run_row("a", RunState::Running, 2)];
    store.append(on).await?;
    let seen = run(&store, "a").await?.map(|run| (run.state, run.resume_available));
    assert_eq!(seen, Some((RunState::Running, false)));
    Ok(())
}

/// With `ResumeOverride::OnRequest` a run is not resumed automatically.
pub async fn offered_runs_wait(store: TestStore) -> CaseResult {
    store.record_heartbeat(worker("w")).await?;
    abandon_with_checkpoint(&store, "a", RunState::Running, Some(CheckpointKind::Input)).await?;
    store.reconcile_dead_owners(pass(1, ResumeOverride::OnRequest)).await?;
    assert_eq!(count_claimed(&store).await?, 0);
    assert_eq!(run(&store, "a").await?.map(|run| run.resume_available), Some(true));
    Ok(())
}

/// Unless a worker overrides it, each run is reconciled by the policy that it was started with.
pub async fn each_run_has_its_own_policy(store: TestStore) -> CaseResult {
    store.record_heartbeat(worker("w")).await?;
    for (name, policy) in [("a", ResumePolicy::Manual), ("b", ResumePolicy::Automatic)] {
        let lane = lane(name);
        let epoch = claim_new_lane(&store, &lane).await?;
        let mut step = append(&lane, epoch, 0, entries(name, 1, 1));
        step.messages_read =
            store.read_inbox(lane.clone(), 9).await?.iter().map(|m| m.id).collect();
        (step.wake_at, step.active_run) = (Some(UnixMillis(0)), Some(RunId::from_name(name)));
        step.rows =
            vec![run_row(name, RunState::Running, 1), checkpoint(name, CheckpointKind::Input)];
        if let Some(Row::Run(row)) = step.rows.first_mut() {
            row.description.resume = Some(policy);
        }
        store.append(step).await?;
        // Later rows that do not set the policy keep it.
        let mut on = append(&lane, epoch, 1, entries(name, 2, 2));
        (on.wake_at, on.active_run) = (Some(UnixMillis(0)), Some(RunId::from_name(name)));
        on.rows = vec![run_row(name, RunState::Running, 2)];
        store.append(on).await?;
        let kept = run(&store, name).await?.and_then(|run| run.description.resume);
        assert_eq!(kept, Some(policy));
    }
    store.reconcile_dead_owners(pass(1, ResumeOverride::AsRecorded)).await?;
    let query = ClaimQuery {
        now: UnixMillis(9),
        limit: 10,
        scope: WorkerScope::default(),
        exclude: Vec::new(),
    };
    let taken = store.claim_runnable_lanes(worker("v"), query).await?;
    let taken: Vec<_> = taken.into_iter().map(|(lane, _)| lane).collect();
    assert_eq!(taken, [lane("b")]);
    assert_eq!(run(&store, "a").await?.map(|run| run.resume_available), Some(true));
    Ok(())
}

/// Waking such a run makes it due.
pub async fn a_woken_run_is_due(store: TestStore) -> CaseResult {
    store.record_heartbeat(worker("w")).await?;
    abandon_with_checkpoint(&store, "a", RunState::Running, Some(CheckpointKind::Input)).await?;
    store.reconcile_dead_owners(pass(1, ResumeOverride::OnRequest)).await?;
    assert!(store.wake_lane(lane("a")).await?);
    assert_eq!(count_claimed(&store).await?, 1);
    store.enqueue_message(lane("idle"), memory_message("k")).await?;
    assert!(!store.wake_lane(lane("idle")).await?, "nothing is unfinished there");
    assert!(!store.wake_lane(lane("nowhere")).await?);
    Ok(())
}

/// A run whose last checkpoint cannot be resumed from is not resumed automatically.
pub async fn what_cannot_go_on_waits_for_a_person(store: TestStore) -> CaseResult {
    store.record_heartbeat(worker("w")).await?;
    abandon_with_checkpoint(&store, "a", RunState::Running, Some(CheckpointKind::HumanPause))
        .await?;
    abandon_with_checkpoint(&store, "b", RunState::Running, None).await?;
    store.reconcile_dead_owners(pass(1, ResumeOverride::Immediately)).await?;
    assert_eq!(count_claimed(&store).await?, 0);
    assert_eq!(run(&store, "a").await?.map(|run| run.resume_available), Some(false));
    Ok(())
}

/// A live owner keeps everything, and a run that waits for a human keeps waiting.
pub async fn the_living_and_the_waiting(store: TestStore) -> CaseResult {
    store.record_heartbeat(worker("w")).await?;
    let pause = Some(CheckpointKind::HumanPause);
    abandon_with_checkpoint(&store, "a", RunState::WaitingOnHuman, pause).await?;
    store.record_heartbeat(worker("w")).await?;
    assert_eq!(store.reconcile_dead_owners(pass(1, ResumeOverride::Immediately)).await?, []);
    let abandoned = store.reconcile_dead_owners(pass(2, ResumeOverride::Immediately)).await?;
    let free = AbandonedLane { lane: lane("a"), timed_out: None, resume_available: false };
    assert_eq!(abandoned, [free]);
    assert_eq!(run(&store, "a").await?.map(|run| run.state), Some(RunState::WaitingOnHuman));
    Ok(())
}
