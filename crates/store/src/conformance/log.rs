//! Reading what was appended.

use windlass_runtime::ports::StoreError;

use super::material::{Subject, Verdict, append, entries, lane, log, owned, written};

/// Whatever the size of appends and pages, the log is the same.
pub async fn is_dense_and_paged(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    for (head, upto) in [(0, 1), (1, 4), (4, 5), (5, 10)] {
        store.append(append(&a, epoch, head, entries("a", head + 1, upto))).await?;
    }
    let whole = entries("a", 1, 10);
    assert_eq!(log(&store, &a).await?, whole);
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

/// There is no log of a lane that is not there.
pub async fn unknown_lane(store: Subject) -> Verdict {
    let missing = store.read_log(lane("a"), 0, 9).await;
    assert_eq!(missing, Err(StoreError::NoLane { lane: lane("a") }));
    assert_eq!(store.lane(lane("a")).await?, None);
    assert_eq!(store.runs(Some(lane("a")), 9).await?, []);
    Ok(())
}

/// Beyond the end is nothing, however far.
pub async fn nothing_after_the_end(store: Subject) -> Verdict {
    written(&store, &lane("a"), 3).await?;
    for after in [3, 4, u64::MAX / 2, u64::MAX] {
        assert_eq!(store.read_log(lane("a"), after, 9).await?, []);
    }
    Ok(())
}
