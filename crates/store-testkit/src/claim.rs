//! Conformance cases: claims, heartbeats and owner changes.

use windlass_runtime::ports::{ObservedHeartbeat, StoreError};

use crate::fixtures::{
    CaseResult, TestStore, append, append_by, claim_new_lane, entries, lane, message, read_head,
    worker,
};

/// Every claim raises the epoch.
pub async fn raises_the_epoch(store: TestStore) -> CaseResult {
    let a = lane("a");
    store.enqueue_message(a.clone(), message("k")).await?;
    let first = store.claim_lane(a.clone(), worker("w"), None).await?;
    assert_eq!((first.head, first.fork_of.clone()), (0, None));
    store.append(append(&a, first.epoch, 0, entries("a", 1, 2))).await?;
    store.release_lane(a.clone(), worker("w"), first.epoch).await?;
    let second = store.claim_lane(a.clone(), worker("v"), None).await?;
    assert!(second.epoch > first.epoch);
    assert_eq!(second.head, 2);
    let known = store.lane_info(a).await?;
    assert_eq!(known.map(|lane| (lane.epoch, lane.owner)), Some((second.epoch, Some(worker("v")))));
    Ok(())
}

/// A second claimant is told which worker owns the lane and that worker's heartbeat count.
pub async fn living_owner_is_busy(store: TestStore) -> CaseResult {
    let a = lane("a");
    claim_new_lane(&store, &a).await?;
    let busy = |heartbeats| StoreError::Busy {
        lane: lane("a"),
        owner: ObservedHeartbeat { worker: worker("w"), heartbeats },
    };
    assert_eq!(store.claim_lane(a.clone(), worker("v"), None).await, Err(busy(0)));
    store.record_heartbeat(worker("w")).await?;
    store.record_heartbeat(worker("w")).await?;
    assert_eq!(store.claim_lane(a.clone(), worker("v"), None).await, Err(busy(2)));
    assert_eq!(store.claim_lane(a, worker("w"), None).await, Err(busy(2)));
    Ok(())
}

/// An owner whose heartbeat stood still can be replaced, and is fenced from then on.
pub async fn dead_owner_is_replaced(store: TestStore) -> CaseResult {
    let a = lane("a");
    store.record_heartbeat(worker("w")).await?;
    let old = claim_new_lane(&store, &a).await?;
    let dead = ObservedHeartbeat { worker: worker("w"), heartbeats: 1 };
    let new = store.claim_lane(a.clone(), worker("v"), Some(dead.clone())).await?.epoch;
    assert!(new > old);
    let stale = store.append(append(&a, old, 0, entries("a", 1, 1))).await;
    assert_eq!(stale, Err(StoreError::Fenced { lane: a.clone() }));
    store.append(append_by("v", append(&a, new, 0, entries("a", 1, 1)))).await?;
    let again = store.claim_lane(a.clone(), worker("u"), Some(dead)).await;
    assert!(matches!(again, Err(StoreError::Busy { .. })), "{again:?}");
    assert_eq!(read_head(&store, &a).await?, Some(1));
    Ok(())
}

/// An owner with one more heartbeat, or with another name, is not considered dead.
pub async fn heartbeat_that_moved_is_not_dead(store: TestStore) -> CaseResult {
    let a = lane("a");
    store.record_heartbeat(worker("w")).await?;
    let epoch = claim_new_lane(&store, &a).await?;
    store.record_heartbeat(worker("w")).await?;
    for (name, heartbeats) in [("w", 1), ("w", 3), ("x", 2)] {
        let dead = ObservedHeartbeat { worker: worker(name), heartbeats };
        let refused = store.claim_lane(a.clone(), worker("v"), Some(dead)).await;
        assert!(
            matches!(refused, Err(StoreError::Busy { .. })),
            "{name} {heartbeats}: {refused:?}"
        );
    }
    store.append(append(&a, epoch, 0, entries("a", 1, 1))).await
}

/// A released lane has no owner.
pub async fn release_frees(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    store.release_lane(a.clone(), worker("w"), epoch).await?;
    assert_eq!(store.lane_info(a.clone()).await?.and_then(|lane| lane.owner), None);
    store.claim_lane(a, worker("v"), None).await.map(drop)
}

/// An owner that lost the lane cannot release it.
pub async fn stale_release_is_harmless(store: TestStore) -> CaseResult {
    let a = lane("a");
    let old = claim_new_lane(&store, &a).await?;
    store.release_lane(a.clone(), worker("w"), old).await?;
    let new = store.claim_lane(a.clone(), worker("v"), None).await?.epoch;
    store.release_lane(a.clone(), worker("w"), old).await?;
    store.release_lane(lane("nowhere"), worker("w"), 1).await?;
    assert_eq!(store.lane_info(a.clone()).await?.and_then(|lane| lane.owner), Some(worker("v")));
    store.append(append_by("v", append(&a, new, 0, entries("a", 1, 1)))).await
}

/// A late release of an earlier claim by the same worker leaves its newer claim in place.
pub async fn stale_release_of_the_same_worker_is_harmless(store: TestStore) -> CaseResult {
    let a = lane("a");
    let old = claim_new_lane(&store, &a).await?;
    let dead = ObservedHeartbeat { worker: worker("w"), heartbeats: 0 };
    let new = store.claim_lane(a.clone(), worker("w"), Some(dead)).await?.epoch;
    assert!(new > old);
    store.release_lane(a.clone(), worker("w"), old).await?;
    assert_eq!(store.lane_info(a.clone()).await?.and_then(|lane| lane.owner), Some(worker("w")));
    store.append(append(&a, new, 0, entries("a", 1, 1))).await
}

/// A lane can be claimed only once a message or a fork has created it.
pub async fn unknown_lane_cannot_be_claimed(store: TestStore) -> CaseResult {
    let refused = store.claim_lane(lane("a"), worker("w"), None).await;
    assert_eq!(refused, Err(StoreError::LaneNotFound { lane: lane("a") }));
    assert_eq!(store.lane_info(lane("a")).await?, None);
    Ok(())
}
