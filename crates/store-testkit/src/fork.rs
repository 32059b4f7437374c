//! Conformance cases: forked lanes.

use windlass_runtime::ports::{EncodedEntry, StoreError};

use crate::fixtures::{
    CaseResult, TestStore, append, claim_lane_with_entries, entries, lane, message, read_head,
    read_whole_log, worker,
};

fn entries_of(name: &str, from: u64, upto: u64) -> Vec<EncodedEntry> {
    entries(lane(name).as_str(), from, upto)
}

async fn append_to_lane(store: &TestStore, name: &str, head: u64, upto: u64) -> CaseResult {
    let epoch = store.claim_lane(lane(name), worker("w"), None).await?.epoch;
    store.append(append(&lane(name), epoch, head, entries_of(name, head + 1, upto))).await?;
    store.release_lane(lane(name), worker("w"), epoch).await
}

/// A fork's log is the parent's entries, then its own, on every page.
pub async fn begins_with_the_parent(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("p"), 4).await?;
    store.fork_lane(lane("p"), 3, lane("c")).await?;
    assert_eq!(read_head(&store, &lane("c")).await?, Some(3));
    assert_eq!(read_whole_log(&store, &lane("c")).await?, entries_of("p", 1, 3));
    assert_eq!(store.read_inbox(lane("c"), 9).await?, []);
    append_to_lane(&store, "c", 3, 5).await?;
    let whole = [entries_of("p", 1, 3), entries_of("c", 4, 5)].concat();
    assert_eq!(read_whole_log(&store, &lane("c")).await?, whole);
    for after in 0..=5 {
        for limit in 0..=6 {
            let page = store.read_log(lane("c"), after, limit).await?;
            let from = usize::try_from(after).unwrap_or_default();
            let wanted: Vec<_> = whole.iter().skip(from).take(limit).cloned().collect();
            assert_eq!(page, wanted, "after {after}, at most {limit}");
        }
    }
    Ok(())
}

/// Neither the parent nor the fork sees what the other writes afterwards.
pub async fn parent_goes_on_alone(store: TestStore) -> CaseResult {
    let epoch = claim_lane_with_entries(&store, &lane("p"), 2).await?;
    store.fork_lane(lane("p"), 2, lane("c")).await?;
    store.append(append(&lane("p"), epoch, 2, entries_of("p", 3, 4))).await?;
    assert_eq!(read_whole_log(&store, &lane("c")).await?, entries_of("p", 1, 2));
    append_to_lane(&store, "c", 2, 3).await?;
    assert_eq!(
        read_whole_log(&store, &lane("c")).await?,
        [entries_of("p", 1, 2), entries_of("c", 3, 3)].concat()
    );
    assert_eq!(read_whole_log(&store, &lane("p")).await?, entries_of("p", 1, 4));
    Ok(())
}

/// A fork of a fork reads the logs of three generations.
pub async fn fork_of_a_fork(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("p"), 3).await?;
    store.fork_lane(lane("p"), 2, lane("c")).await?;
    append_to_lane(&store, "c", 2, 5).await?;
    store.fork_lane(lane("c"), 4, lane("g")).await?;
    append_to_lane(&store, "g", 4, 6).await?;
    let whole = [entries_of("p", 1, 2), entries_of("c", 3, 4), entries_of("g", 5, 6)].concat();
    assert_eq!(read_whole_log(&store, &lane("g")).await?, whole);
    assert_eq!(store.read_log(lane("g"), 1, 4).await?, whole.get(1..5).unwrap_or_default());
    Ok(())
}

/// A fork may start below the entry at which its parent was forked.
pub async fn below_the_parents_fork(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("p"), 4).await?;
    store.fork_lane(lane("p"), 3, lane("c")).await?;
    append_to_lane(&store, "c", 3, 4).await?;
    store.fork_lane(lane("c"), 1, lane("g")).await?;
    assert_eq!(read_whole_log(&store, &lane("g")).await?, entries_of("p", 1, 1));
    append_to_lane(&store, "g", 1, 2).await?;
    assert_eq!(
        read_whole_log(&store, &lane("g")).await?,
        [entries_of("p", 1, 1), entries_of("g", 2, 2)].concat()
    );
    Ok(())
}

/// A lane cannot be forked beyond its head.
pub async fn beyond_the_head(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("p"), 2).await?;
    for at in [3, u64::MAX] {
        let refused = store.fork_lane(lane("p"), at, lane("c")).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(store.lane_info(lane("c")).await?, None);
    Ok(())
}

/// A lane that does not exist cannot be forked.
pub async fn unknown_parent(store: TestStore) -> CaseResult {
    let refused = store.fork_lane(lane("p"), 0, lane("c")).await;
    assert_eq!(refused, Err(StoreError::LaneNotFound { lane: lane("p") }));
    Ok(())
}

/// Repeating a fork after its reply was lost succeeds and changes nothing.
pub async fn same_again_is_fine(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("p"), 2).await?;
    store.fork_lane(lane("p"), 1, lane("c")).await?;
    append_to_lane(&store, "c", 1, 2).await?;
    store.fork_lane(lane("p"), 1, lane("c")).await?;
    assert_eq!(read_head(&store, &lane("c")).await?, Some(2));
    Ok(())
}

/// A fork with the name of an existing lane is rejected, and that lane is unchanged.
pub async fn name_in_use(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("p"), 2).await?;
    store.enqueue_message(lane("c"), message("k")).await?;
    store.fork_lane(lane("p"), 2, lane("d")).await?;
    for (at, child) in [(1, lane("c")), (1, lane("d")), (1, lane("p"))] {
        let refused = store.fork_lane(lane("p"), at, child).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(read_head(&store, &lane("c")).await?, Some(0));
    Ok(())
}

/// A claim returns the lane's origin.
pub async fn claim_tells_the_origin(store: TestStore) -> CaseResult {
    claim_lane_with_entries(&store, &lane("p"), 2).await?;
    store.fork_lane(lane("p"), 1, lane("c")).await?;
    let claim = store.claim_lane(lane("c"), worker("w"), None).await?;
    assert_eq!((claim.head, claim.fork_of), (1, Some((lane("p"), 1))));
    Ok(())
}
