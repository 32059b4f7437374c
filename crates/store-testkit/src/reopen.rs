//! Conformance cases: what is stored after the store was closed and opened again. They do not apply
//! to a store without persistence; the others pass `open`, which opens the same location each time.

use windlass_core::log::record::Durability;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{BoxFuture, EncodedEntry, LaneInfo, RunInfo, StoreError};

use crate::fixtures::{
    CaseResult, TestStore, append, claim_lane_with_entries, claim_new_lane, entries, lane, message,
    read_whole_log, run_row, worker,
};

/// Opens the same store location again.
pub type OpenStore<'a> = &'a (dyn Fn() -> BoxFuture<'a, Result<TestStore, StoreError>> + Sync);

type StoreSnapshot = (Vec<EncodedEntry>, Option<LaneInfo>, Vec<RunInfo>, usize);

/// Accepted messages and their idempotency keys are kept.
pub async fn accepted_messages(open: OpenStore<'_>) -> CaseResult {
    let store = open().await?;
    let first = store.enqueue_message(lane("a"), message("k")).await?;
    drop(store);
    let store = open().await?;
    assert_eq!(store.enqueue_message(lane("a"), message("k")).await?, first);
    assert_eq!(store.read_inbox(lane("a"), 9).await?.len(), 1);
    Ok(())
}

/// Everything that was acknowledged is kept unchanged.
pub async fn everything(open: OpenStore<'_>) -> CaseResult {
    let store = open().await?;
    let epoch = claim_lane_with_entries(&store, &lane("a"), 3).await?;
    let mut step = append(&lane("a"), epoch, 3, entries("a", 4, 5));
    step.messages_read = vec![1];
    step.rows = vec![run_row("r", RunState::Running, 5)];
    step.active_run = Some("r".into());
    step.durability = Durability::Barrier;
    store.append(step).await?;
    store.fork_lane(lane("a"), 4, lane("f")).await?;
    let before = (take_snapshot(&store, "a").await?, take_snapshot(&store, "f").await?);
    drop(store);
    let store = open().await?;
    assert_eq!((take_snapshot(&store, "a").await?, take_snapshot(&store, "f").await?), before);
    Ok(())
}

async fn take_snapshot(store: &TestStore, name: &str) -> Result<StoreSnapshot, StoreError> {
    Ok((
        read_whole_log(store, &lane(name)).await?,
        store.lane_info(lane(name)).await?,
        store.list_runs(Some(lane(name)), 99).await?,
        store.read_inbox(lane(name), 99).await?.len(),
    ))
}

/// An owner that stopped keeps its lane until it is proven dead, and the epoch continues from its
/// last value.
pub async fn epochs_go_on(open: OpenStore<'_>) -> CaseResult {
    let store = open().await?;
    let old = claim_new_lane(&store, &lane("a")).await?;
    store.record_heartbeat(worker("w")).await?;
    drop(store);
    let store = open().await?;
    let Err(StoreError::Busy { owner, .. }) = store.claim_lane(lane("a"), worker("v"), None).await
    else {
        return Err(StoreError::LaneNotFound { lane: lane("a") });
    };
    assert_eq!(owner.heartbeats, 1);
    let new = store.claim_lane(lane("a"), worker("v"), Some(owner)).await?.epoch;
    assert_eq!(new, old + 1);
    let stale = store.append(append(&lane("a"), old, 0, entries("a", 1, 1))).await;
    assert_eq!(stale, Err(StoreError::Fenced { lane: lane("a") }));
    Ok(())
}
