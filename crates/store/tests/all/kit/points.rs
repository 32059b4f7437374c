//! Crashing at a crash point, and what the next process must find.

use std::sync::Arc;

use windlass_runtime::ports::{Store, StoreError};

use super::{append_one, append_synced, lane, message};

/// Runs what a victim does on its way to a crash point.
pub(crate) async fn run_to_crash_point(store: &dyn Store) {
    store.record_heartbeat(Arc::from("w")).await.unwrap();
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    let claim = store.claim_lane(lane("a"), Arc::from("w"), None).await.unwrap();
    for head in 0..3 {
        let step = if head == 1 { append_synced } else { append_one };
        store.append(step("a", claim.epoch, head, "x")).await.unwrap();
    }
    store.release_lane(lane("a"), Arc::from("w"), claim.epoch).await.unwrap();
}

/// Checks what must hold of a store whose process crashed at `point`.
pub(crate) async fn check_sound_after(point: &str, store: &dyn Store) {
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    assert_eq!(store.read_inbox(lane("a"), 9).await.unwrap().len(), 1, "{point}");
    let head = store.lane_info(lane("a")).await.unwrap().unwrap().head;
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len() as u64, head, "{point}");
    let wanted = match point {
        fault if fault.starts_with("release") => 3,
        "append.after_commit" | "append.after_reply" => 1,
        _ => 0,
    };
    // After its reply the victim may continue before it crashes.
    let near = point == "append.after_reply" && head >= wanted;
    assert!(head == wanted || near, "{point}: {head}");
    check_claimable(store).await;
}

/// Checks that the next process can claim the lane and continue.
async fn check_claimable(store: &dyn Store) {
    let dead = match store.claim_lane(lane("a"), Arc::from("v"), None).await {
        Err(StoreError::Busy { owner, .. }) => Some(owner),
        other => return drop(other.unwrap()),
    };
    store.claim_lane(lane("a"), Arc::from("v"), dead).await.unwrap();
}
