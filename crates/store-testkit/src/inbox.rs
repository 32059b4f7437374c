//! Conformance cases: the inbox; enqueueing, waiting for and reading messages.

use windlass_core::log::ids::UnixMillis;
use windlass_runtime::ports::{
    ClaimQuery, INBOX_PAGE_MESSAGES, OutboxMessage, StoreError, WorkerScope,
};

use crate::fixtures::{
    CaseResult, TestStore, append, claim_new_lane, entries, lane, message, prompt,
};

/// A repeated idempotency key returns the first message and changes nothing, also after it was
/// read.
pub async fn a_key_is_one_message(store: TestStore) -> CaseResult {
    let a = lane("a");
    let first = store.enqueue_message(a.clone(), message("k")).await?;
    let other = OutboxMessage { body: prompt("something else"), ..message("k") };
    assert_eq!(store.enqueue_message(a.clone(), other.clone()).await?, first);
    let waiting = store.read_inbox(a.clone(), 9).await?;
    assert_eq!(waiting.iter().map(|message| &message.body).collect::<Vec<_>>(), [&prompt("k")]);

    let epoch = store.claim_lane(a.clone(), "w".into(), None).await?.epoch;
    let mut read = append(&a, epoch, 0, entries("a", 1, 1));
    read.messages_read = vec![first.message];
    store.append(read).await?;
    assert_eq!(store.enqueue_message(a.clone(), other).await?, first);
    assert_eq!(store.read_inbox(a, 9).await?, []);

    let elsewhere = store.enqueue_message(lane("b"), message("k")).await?;
    assert_eq!(store.read_inbox(lane("b"), 9).await?.len(), 1);
    assert_eq!(elsewhere.message, 1);
    Ok(())
}

/// Pending messages are returned oldest first, up to the limit, without those that were read.
pub async fn order_and_marks(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    for key in ["second", "third", "fourth"] {
        store.enqueue_message(a.clone(), message(key)).await?;
    }
    let ids = |messages: Vec<windlass_core::log::inbox::InboxMessage>| {
        messages.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(store.read_inbox(a.clone(), 2).await?), [1, 2]);
    let mut read = append(&a, epoch, 0, entries("a", 1, 1));
    read.messages_read = vec![1, 3];
    store.append(read).await?;
    assert_eq!(ids(store.read_inbox(a.clone(), 9).await?), [2, 4]);
    assert_eq!(store.enqueue_message(a.clone(), message("fifth")).await?.message, 5);
    assert_eq!(ids(store.read_inbox(a, 9).await?), [2, 4, 5]);
    Ok(())
}

/// A claim returns the pending messages that reading the inbox would return.
pub async fn a_claim_brings_its_messages(store: TestStore) -> CaseResult {
    let (a, b) = (lane("a"), lane("b"));
    for nth in 0..INBOX_PAGE_MESSAGES + 3 {
        store.enqueue_message(a.clone(), message(&nth.to_string())).await?;
    }
    let claim = store.claim_lane(a.clone(), "w".into(), None).await?;
    assert_eq!(claim.messages, Some(store.read_inbox(a.clone(), INBOX_PAGE_MESSAGES).await?));
    let mut read = append(&a, claim.epoch, 0, entries("a", 1, 1));
    read.messages_read = claim.messages.iter().flatten().map(|message| message.id).collect();
    store.append(read).await?;
    store.release_lane(a.clone(), "w".into(), claim.epoch).await?;

    store.enqueue_message(b.clone(), message("k")).await?;
    let query = ClaimQuery {
        now: UnixMillis(0),
        limit: 9,
        scope: WorkerScope::default(),
        exclude: Vec::new(),
    };
    let mut found = store.claim_runnable_lanes("w".into(), query).await?;
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let lanes: Vec<_> = found.iter().map(|(lane, _)| lane).collect();
    assert_eq!(lanes, [&a, &b]);
    for (lane, claim) in &found {
        assert_eq!(
            claim.messages,
            Some(store.read_inbox(lane.clone(), INBOX_PAGE_MESSAGES).await?),
            "{lane}"
        );
    }
    let counts: Vec<_> =
        found.iter().map(|(_, claim)| claim.messages.as_ref().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [3, 1]);
    Ok(())
}

/// A waiting task is notified of a new message.
pub async fn hint_after_enqueueing(store: TestStore) -> CaseResult {
    let (a, waiting) = (lane("a"), std::sync::Arc::clone(&store));
    let waiter = tokio::spawn(async move { waiting.wait_for_message(lane("a")).await });
    store.enqueue_message(a, message("k")).await?;
    assert!(waiter.await.is_ok());
    Ok(())
}

/// A message that arrived before the wait began wakes the waiter at once.
pub async fn hint_before_waiting(store: TestStore) -> CaseResult {
    store.enqueue_message(lane("a"), message("k")).await?;
    store.wait_for_message(lane("a")).await;
    let epoch = claim_new_lane(&store, &lane("b")).await?;
    let mut out = append(&lane("b"), epoch, 0, entries("b", 1, 1));
    out.outbox = vec![(lane("c"), message("k"))];
    store.append(out).await?;
    store.wait_for_message(lane("c")).await;
    Ok(())
}

/// Empty names, names with NUL and overlong names are rejected before they reach a table.
pub async fn bad_names_are_refused(store: TestStore) -> CaseResult {
    let long = "x".repeat(513);
    for name in ["", "a\0b", long.as_str()] {
        let refused = store.enqueue_message(name.into(), message("k")).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "lane {name:?}: {refused:?}");
        let refused = store.enqueue_message(lane("a"), message(name)).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "key {name:?}: {refused:?}");
        let refused = store.claim_lane(lane("a"), name.into(), None).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "worker {name:?}: {refused:?}");
    }
    assert_eq!(store.lane_info(lane("a")).await?, None);
    store.enqueue_message("x".repeat(512).into(), message("k")).await?;
    Ok(())
}

/// Reading the inbox of a lane that does not exist is an error.
pub async fn unknown_lane_has_no_inbox(store: TestStore) -> CaseResult {
    let missing = store.read_inbox(lane("a"), 9).await;
    assert_eq!(missing, Err(StoreError::LaneNotFound { lane: lane("a") }));
    Ok(())
}
