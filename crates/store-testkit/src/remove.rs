//! Conformance cases: removing lanes.

use std::sync::Arc;

use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::projection::Row;
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{AppendRequest, StoreError};

use crate::fixtures::{
    CaseResult, TestStore, append, claim_new_lane, entries, entry, lane, memory_message, message,
    read_whole_log, run_row, trace_row, worker,
};

/// Creates a lane without owner whose run has ended.
async fn over(store: &TestStore, lane: &LaneId, run: &str) -> CaseResult {
    let epoch = claim_new_lane(store, lane).await?;
    let row = match run_row(run, RunState::Completed, 1) {
        Row::Run(mut row) => {
            row.cause = Some(StopCause::EndTurn);
            Row::Run(row)
        }
        other => other,
    };
    let rows = vec![row, trace_row(run, 1, "end_turn")];
    let step = append(lane, epoch, 0, entries(run, 1, 2));
    store.append(AppendRequest { rows, messages_read: vec![1], ..step }).await?;
    store.release_lane(lane.clone(), worker("w"), epoch).await
}

/// Everything of the lane is deleted, other lanes are unchanged, and the name can be used again.
pub async fn everything_goes(store: TestStore) -> CaseResult {
    over(&store, &lane("a"), "ra").await?;
    over(&store, &lane("ab"), "rb").await?;
    let removed = store.remove_lane(lane("a")).await?;
    assert_eq!((removed.lanes, removed.entries), (vec![lane("a")], 2));
    assert_eq!(store.lane_info(lane("a")).await?, None);
    assert!(matches!(store.read_log(lane("a"), 0, 9).await, Err(StoreError::LaneNotFound { .. })));
    let runs = store.list_runs(None, 9).await?;
    assert_eq!(
        runs.iter().map(|run| run.run.clone()).collect::<Vec<_>>(),
        [RunId::from_name("rb")]
    );
    assert_eq!(read_whole_log(&store, &lane("ab")).await?.len(), 2);
    over(&store, &lane("a"), "ra").await?;
    assert_eq!(read_whole_log(&store, &lane("a")).await?.len(), 2);
    Ok(())
}

/// A lane with an owner, an unfinished run or a queued prompt is not removed.
pub async fn not_while_it_runs(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    assert!(matches!(store.remove_lane(lane("a")).await, Err(StoreError::Busy { .. })));
    let step = append(&lane("a"), epoch, 0, entries("a", 1, 1));
    store.append(AppendRequest { active_run: Some(RunId::from_name("r")), ..step }).await?;
    store.release_lane(lane("a"), worker("w"), epoch).await?;
    assert!(matches!(store.remove_lane(lane("a")).await, Err(StoreError::Invalid { .. })));
    store.enqueue_message(lane("b"), message("p")).await?;
    assert!(matches!(store.remove_lane(lane("b")).await, Err(StoreError::Invalid { .. })));
    assert_eq!(read_whole_log(&store, &lane("a")).await?.len(), 1);
    Ok(())
}

/// A lane with forks is not removed, because their history begins in it.
pub async fn not_before_its_forks(store: TestStore) -> CaseResult {
    over(&store, &lane("a"), "r").await?;
    store.fork_lane(lane("a"), 1, lane("copy")).await?;
    assert!(matches!(store.remove_lane(lane("a")).await, Err(StoreError::Invalid { .. })));
    assert_eq!(read_whole_log(&store, &lane("copy")).await?.len(), 1);
    store.remove_lane(lane("copy")).await?;
    store.remove_lane(lane("a")).await?;
    Ok(())
}

/// The lanes of sub-agents are removed with it; lanes with a merely similar name are kept.
pub async fn sub_agents_go_along(store: TestStore) -> CaseResult {
    let named = |rest: &str| LaneId::from(format!("conversation:a{rest}"));
    for rest in ["", "/1.0-0", "/1.0-0/3.1-2", "/notes", "/1.0-0x", "b"] {
        over(&store, &named(rest), &format!("r{rest}")).await?;
    }
    let mut removed = store.remove_lane(lane("a")).await?.lanes;
    removed.sort();
    assert_eq!(removed, [named(""), named("/1.0-0"), named("/1.0-0/3.1-2")]);
    for rest in ["/notes", "/1.0-0x", "b"] {
        assert!(store.lane_info(named(rest)).await?.is_some(), "{rest}");
    }
    Ok(())
}

/// A large body that another lane also uses is kept.
pub async fn shared_bodies_stay(store: TestStore) -> CaseResult {
    let line: Arc<str> = Arc::from(format!("{{\"x\":\"{}\"}}", "y".repeat(100_000)));
    for name in ["a", "b"] {
        store.enqueue_message(lane(name), memory_message("k")).await?;
        let epoch = store.claim_lane(lane(name), worker("w"), None).await?.epoch;
        let one = vec![entry(1, &line)];
        store.append(append(&lane(name), epoch, 0, one)).await?;
        store.release_lane(lane(name), worker("w"), epoch).await?;
    }
    store.remove_lane(lane("a")).await?;
    assert_eq!(
        read_whole_log(&store, &lane("b")).await?.first().map(|e| e.line.clone()),
        Some(line.clone())
    );
    store.remove_lane(lane("b")).await?;
    Ok(())
}

/// Removing a lane that does not exist is an error.
pub async fn unknown_lane_cannot_be_removed(store: TestStore) -> CaseResult {
    assert!(matches!(store.remove_lane(lane("a")).await, Err(StoreError::LaneNotFound { .. })));
    Ok(())
}
