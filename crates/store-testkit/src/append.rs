//! Conformance cases: an append is atomic.

use windlass_core::log::ids::UnixMillis;
use windlass_core::log::record::Durability;
use windlass_core::stop::RunState;
use windlass_runtime::ports::StoreError;

use crate::fixtures::{
    CaseResult, TestStore, append, claim_lane_with_entries, claim_new_lane, entries, lane, message,
    prompt, read_head, read_whole_log, run_row,
};

/// An append writes entries, rows, read marks, outbox messages and the lane's own fields, at every
/// durability.
pub async fn lands_whole(store: TestStore) -> CaseResult {
    for durability in [Durability::Volatile, Durability::Commit, Durability::Barrier] {
        let a = lane(&format!("{durability:?}"));
        let epoch = claim_new_lane(&store, &a).await?;
        let mut all = append(&a, epoch, 0, entries("a", 1, 3));
        let run = format!("run of {a}");
        all.messages_read = vec![1];
        all.outbox = vec![(lane("out"), message(&run))];
        all.rows = vec![run_row(&run, RunState::Running, 7)];
        all.wake_at = Some(UnixMillis(99));
        all.active_run = Some(run.as_str().into());
        all.durability = durability;
        store.append(all).await?;

        assert_eq!(read_whole_log(&store, &a).await?, entries("a", 1, 3));
        assert_eq!(store.read_inbox(a.clone(), 9).await?, []);
        assert!(
            store
                .read_inbox(lane("out"), 9)
                .await?
                .iter()
                .any(|message| message.body == prompt(&run))
        );
        let runs = store.list_runs(Some(a.clone()), 9).await?;
        assert_eq!(
            runs.iter().map(|run| (run.state, run.at)).collect::<Vec<_>>(),
            [(RunState::Running, UnixMillis(7))]
        );
        let known =
            store.lane_info(a).await?.map(|lane| (lane.head, lane.wake_at, lane.active_run));
        assert_eq!(known, Some((3, Some(UnixMillis(99)), Some(run.as_str().into()))));
    }
    Ok(())
}

/// Marking a message as read that is not pending is rejected, and then nothing else is written.
pub async fn rejected_message_undoes_all(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    for unknown in [vec![1, 2], vec![1, 1], vec![0], vec![u64::MAX]] {
        let mut bad = append(&a, epoch, 0, entries("a", 1, 1));
        bad.messages_read = unknown;
        bad.outbox = vec![(lane("out"), message("k"))];
        bad.rows = vec![run_row("r", RunState::Running, 7)];
        let refused = store.append(bad).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
        assert_eq!(read_head(&store, &a).await?, Some(0));
        assert_eq!(read_whole_log(&store, &a).await?, []);
        assert_eq!(store.read_inbox(a.clone(), 9).await?.len(), 1);
        assert_eq!(store.lane_info(lane("out")).await?, None);
        assert_eq!(store.list_runs(None, 9).await?, []);
    }
    store.append(append(&a, epoch, 0, entries("a", 1, 1))).await
}

/// A message that an earlier append has read cannot be read again.
pub async fn message_is_read_once(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    let read = |head| {
        let mut step = append(&a, epoch, head, entries("a", head + 1, head + 1));
        step.messages_read = vec![1];
        step
    };
    store.append(read(0)).await?;
    let refused = store.append(read(1)).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    assert_eq!(read_head(&store, &a).await?, Some(1));
    assert_eq!(read_whole_log(&store, &a).await?.len(), 1);
    store.append(append(&a, epoch, 1, entries("a", 2, 2))).await
}

/// Entries that do not follow the head are rejected with an error that says so.
pub async fn gap_is_refused(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    let mut doubled = entries("a", 1, 2);
    doubled.extend(entries("a", 2, 2));
    for wrong in [entries("a", 2, 2), entries("a", 0, 1), doubled] {
        let refused = store.append(append(&a, epoch, 0, wrong)).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(read_head(&store, &a).await?, Some(0));
    Ok(())
}

/// An append may change a lane's wake-up time without writing an entry.
pub async fn without_entries(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_lane_with_entries(&store, &a, 2).await?;
    let mut quiet = append(&a, epoch, 2, Vec::new());
    quiet.wake_at = Some(UnixMillis(5));
    store.append(quiet).await?;
    let known = store.lane_info(a.clone()).await?.map(|lane| (lane.head, lane.wake_at));
    assert_eq!(known, Some((2, Some(UnixMillis(5)))));
    store.append(append(&a, epoch, 2, entries("a", 3, 3))).await?;
    assert_eq!(store.lane_info(a).await?.map(|lane| (lane.head, lane.wake_at)), Some((3, None)));
    Ok(())
}

/// An outbox message to a lane that does not exist creates the lane.
pub async fn outbox_makes_lanes(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    let mut out = append(&a, epoch, 0, entries("a", 1, 1));
    out.outbox = vec![
        (lane("child"), message("x")),
        (lane("child"), message("y")),
        (a.clone(), message("z")),
    ];
    store.append(out).await?;
    let ids: Vec<_> =
        store.read_inbox(lane("child"), 9).await?.iter().map(|message| message.id).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(store.read_inbox(a, 9).await?.len(), 2);
    store.claim_lane(lane("child"), "w".into(), None).await.map(drop)
}

/// An outbox message with the same key from two appends is delivered once.
pub async fn outbox_is_deduplicated(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    for head in 0..3 {
        let mut out = append(&a, epoch, head, entries("a", head + 1, head + 1));
        out.outbox = vec![(lane("child"), message("x"))];
        store.append(out).await?;
    }
    store.enqueue_message(lane("child"), message("x")).await?;
    assert_eq!(store.read_inbox(lane("child"), 9).await?.len(), 1);
    Ok(())
}
