//! Conformance cases: reading the log.

use windlass_runtime::ports::StoreError;

use crate::fixtures::{
    CaseResult, TestStore, append, claim_lane_with_entries, claim_new_lane, entries, lane,
    read_whole_log,
};

/// The log is the same for every size of appends and pages.
pub async fn is_dense_and_paged(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    for (head, upto) in [(0, 1), (1, 4), (4, 5), (5, 10)] {
        store.append(append(&a, epoch, head, entries("a", head + 1, upto))).await?;
    }
    let whole = entries("a", 1, 10);
    assert_eq!(read_whole_log(&store, &a).await?, whole);
    for size in 1..=11 {
        let mut read = Vec::new();
        while let page = store.read_log(a.clone(), read.len() as u64, size).await?
            && !page.is_empty()
        {
            assert!(page.len() <= size);
            read.extend(page);
        }
        assert_eq!(read, whole);
    }
    assert_eq!(store.read_log(a, 0, 0).await?, []);
    Ok(())
}

/// Reading the log of a lane that does not exist is an error.
pub async fn unknown_lane(store: TestStore) -> CaseResult {
    let missing = store.read_log(lane("a"), 0, 9).await;
    assert_eq!(missing, Err(StoreError::LaneNotFound { lane: lane("a") }));
    assert_eq!(store.lane_info(lane("a")).await?, None);
    assert_eq!(store.list_runs(Some(lane("a")), 9).await?, []);
    Ok(())
}

/// A page after the end of the log is empty, however far after it.
pub async fn nothing_after_the_end(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("a"), 3).await?;
    for after in [3, 4, u64::MAX / 2, u64::MAX] {
        assert_eq!(store.read_log(lane("a"), after, 9).await?, []);
    }
    Ok(())
}
