//! Conformance cases: a fenced append leaves no trace.

use windlass_core::log::ids::UnixMillis;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{AppendRequest, StoreError};

use crate::fixtures::{
    CaseResult, TestStore, append, append_by, claim_new_lane, entries, lane, memory_message,
    message, read_whole_log, run_row, worker,
};

/// Returns an append that would change everything an append can change.
fn append_with_everything(epoch: u64, head: u64) -> AppendRequest {
    let mut all = append(&lane("a"), epoch, head, entries("a", head + 1, head + 2));
    all.messages_read = vec![1];
    all.outbox = vec![(lane("out"), message("k"))];
    all.rows = vec![run_row("r", RunState::Running, 7)];
    all.wake_at = Some(UnixMillis(99));
    all.active_run = Some("r".into());
    all
}

async fn check_leaves_no_trace(store: &TestStore, refused: AppendRequest) -> CaseResult {
    let before = store.lane_info(lane("a")).await?;
    let outcome = store.append(refused).await;
    assert_eq!(outcome, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(store.lane_info(lane("a")).await?, before);
    assert_eq!(read_whole_log(store, &lane("a")).await?, []);
    assert_eq!(store.read_inbox(lane("a"), 9).await?.len(), 1);
    assert_eq!(store.lane_info(lane("out")).await?, None);
    assert_eq!(store.list_runs(None, 9).await?, []);
    Ok(())
}

/// The previous owner, with an old epoch, writes nothing.
pub async fn old_epoch_writes_nothing(store: TestStore) -> CaseResult {
    let old = claim_new_lane(&store, &lane("a")).await?;
    store.release_lane(lane("a"), worker("w"), old).await?;
    let new = store.claim_lane(lane("a"), worker("v"), None).await?.epoch;
    check_leaves_no_trace(&store, append_with_everything(old, 0)).await?;
    check_leaves_no_trace(&store, append_by("v", append_with_everything(new + 1, 0))).await?;
    store.append(append_by("v", append_with_everything(new, 0))).await
}

/// A worker with the right epoch that is not the owner writes nothing: its claim was lost in a
/// crash, and the next claim was given the same epoch.
pub async fn right_epoch_of_another_owner_writes_nothing(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    check_leaves_no_trace(&store, append_by("v", append_with_everything(epoch, 0))).await?;
    store.release_lane(lane("a"), worker("v"), epoch).await?;
    assert_eq!(store.lane_info(lane("a")).await?.and_then(|lane| lane.owner), Some(worker("w")));
    store.append(append_with_everything(epoch, 0)).await
}

/// An owner that has not seen the last entry, or expects one that does not exist, writes nothing.
pub async fn wrong_head_writes_nothing(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    check_leaves_no_trace(&store, append_with_everything(epoch, 1)).await?;
    store.append(append_with_everything(epoch, 0)).await?;
    let late = store.append(append(&lane("a"), epoch, 1, entries("late", 2, 2))).await;
    assert_eq!(late, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(read_whole_log(&store, &lane("a")).await?, entries("a", 1, 2));
    Ok(())
}

/// A released owner cannot write.
pub async fn released_owner_is_fenced(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    store.release_lane(lane("a"), worker("w"), epoch).await?;
    check_leaves_no_trace(&store, append_with_everything(epoch, 0)).await
}

/// A lane that never had an owner cannot be written to.
pub async fn unclaimed_lane_is_fenced(store: TestStore) -> CaseResult {
    store.enqueue_message(lane("a"), memory_message("k")).await?;
    check_leaves_no_trace(&store, append_with_everything(0, 0)).await
}

/// A lane that does not exist cannot be written to.
pub async fn unknown_lane_is_fenced(store: TestStore) -> CaseResult {
    let refused = store.append(append_with_everything(0, 0)).await;
    assert_eq!(refused, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(store.lane_info(lane("a")).await?, None);
    Ok(())
}

/// Sending an append again after its reply was lost does not write it twice.
pub async fn same_append_twice_lands_once(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    store.append(append_with_everything(epoch, 0)).await?;
    let again = store.append(append_with_everything(epoch, 0)).await;
    assert_eq!(again, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(read_whole_log(&store, &lane("a")).await?, entries("a", 1, 2));
    assert_eq!(store.read_inbox(lane("out"), 9).await?.len(), 1);
    Ok(())
}
