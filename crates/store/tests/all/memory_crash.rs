//! What the simulated disk loses in a crash, and how its appends fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_runtime::ports::{Store, StoreError};
use windlass_store::MemoryStore;
use windlass_store::memory::{AppendFault, CrashSurvival, StoreOperation};

use crate::kit::{append_one, append_synced, claim_new_lane, lane, message};

async fn head(store: &MemoryStore) -> u64 {
    store.lane_info(lane("a")).await.unwrap().unwrap().head
}

#[tokio::test]
async fn a_dead_process_loses_nothing() {
    let store = MemoryStore::with_commit_history();
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_one("a", epoch, 0, "1")).await.unwrap();
    store.crash(CrashSurvival::Committed);
    assert_eq!(head(&store).await, 1);
}

#[tokio::test]
async fn a_power_cut_loses_what_was_not_synced() {
    let store = MemoryStore::with_commit_history();
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_synced("a", epoch, 0, "1")).await.unwrap();
    store.append(append_one("a", epoch, 1, "2")).await.unwrap();
    store.append(append_one("a", epoch, 2, "3")).await.unwrap();
    assert_eq!(store.unsynced_commits(), 2);
    store.crash(CrashSurvival::Synced);
    assert_eq!(head(&store).await, 1);
    assert_eq!(store.unsynced_commits(), 0);
}

#[tokio::test]
async fn a_power_cut_may_keep_any_number_of_commits() {
    for kept in 0..5 {
        let store = MemoryStore::with_commit_history();
        let epoch = claim_new_lane(&store, "a").await;
        store.append(append_synced("a", epoch, 0, "1")).await.unwrap();
        for head in 1..4 {
            store.append(append_one("a", epoch, head, "x")).await.unwrap();
        }
        store.crash(CrashSurvival::SyncedAnd(kept));
        assert_eq!(head(&store).await, 1 + kept.min(3) as u64);
    }
}

#[tokio::test]
async fn accepted_mail_survives_a_power_cut() {
    let store = MemoryStore::new();
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    store.crash(CrashSurvival::Synced);
    assert_eq!(store.read_inbox(lane("a"), 9).await.unwrap().len(), 1);
}

// spec: STORE-04
#[tokio::test]
async fn after_an_unknown_outcome_the_head_tells() {
    let store = MemoryStore::new();
    let epoch = claim_new_lane(&store, "a").await;
    store.fail_next_append(AppendFault::not_committed());
    store.fail_next_append(AppendFault::committed_without_reply());
    let lost = store.append(append_one("a", epoch, 0, "1")).await;
    assert!(matches!(lost, Err(StoreError::Broken { .. })));
    assert_eq!(head(&store).await, 0);
    let unanswered = store.append(append_one("a", epoch, 0, "1")).await;
    assert!(matches!(unanswered, Err(StoreError::Broken { .. })));
    assert_eq!(head(&store).await, 1);
    let again = store.append(append_one("a", epoch, 0, "1")).await;
    assert_eq!(again, Err(StoreError::Fenced { lane: lane("a") }));
    store.append(append_one("a", epoch, 1, "2")).await.unwrap();
}

#[tokio::test]
async fn a_hook_sees_every_operation() {
    let appends = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&appends);
    let store = MemoryStore::new().with_hook(Arc::new(move |operation| {
        if operation == StoreOperation::Append {
            seen.fetch_add(1, Ordering::SeqCst);
        }
        Box::pin(tokio::task::yield_now())
    }));
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_one("a", epoch, 0, "1")).await.unwrap();
    store.append(append_one("a", epoch, 1, "2")).await.unwrap();
    assert_eq!(appends.load(Ordering::SeqCst), 2);
}
