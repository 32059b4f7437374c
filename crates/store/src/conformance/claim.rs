//! Owners, beats and takeovers.

use windlass_runtime::ports::{SeenBeat, StoreError};

use super::material::{Subject, Verdict, append, by, entries, head, lane, letter, owned, worker};

/// Every claim is a new epoch.
pub async fn raises_the_epoch(store: Subject) -> Verdict {
    let a = lane("a");
    store.deliver(a.clone(), letter("k")).await?;
    let first = store.claim(a.clone(), worker("w"), None).await?;
    assert_eq!((first.head, first.fork_of.clone()), (0, None));
    store.append(append(&a, first.epoch, 0, entries("a", 1, 2))).await?;
    store.release(a.clone(), worker("w"), first.epoch).await?;
    let second = store.claim(a.clone(), worker("v"), None).await?;
    assert!(second.epoch > first.epoch);
    assert_eq!(second.head, 2);
    let known = store.lane(a).await?;
    assert_eq!(known.map(|lane| (lane.epoch, lane.owner)), Some((second.epoch, Some(worker("v")))));
    Ok(())
}

/// A second claimant learns who owns the lane and how alive it is.
pub async fn living_owner_is_busy(store: Subject) -> Verdict {
    let a = lane("a");
    owned(&store, &a).await?;
    let busy = |beats| StoreError::Busy {
        lane: lane("a"),
        owner: SeenBeat { worker: worker("w"), beats },
    };
    assert_eq!(store.claim(a.clone(), worker("v"), None).await, Err(busy(0)));
    store.beat(worker("w")).await?;
    store.beat(worker("w")).await?;
    assert_eq!(store.claim(a.clone(), worker("v"), None).await, Err(busy(2)));
    assert_eq!(store.claim(a, worker("w"), None).await, Err(busy(2)));
    Ok(())
}

/// An owner whose beat stood still can be replaced, and is fenced from then on.
pub async fn dead_owner_is_replaced(store: Subject) -> Verdict {
    let a = lane("a");
    store.beat(worker("w")).await?;
    let old = owned(&store, &a).await?;
    let dead = SeenBeat { worker: worker("w"), beats: 1 };
    let new = store.claim(a.clone(), worker("v"), Some(dead.clone())).await?.epoch;
    assert!(new > old);
    let stale = store.append(append(&a, old, 0, entries("a", 1, 1))).await;
    assert_eq!(stale, Err(StoreError::Fenced { lane: a.clone() }));
    store.append(by("v", append(&a, new, 0, entries("a", 1, 1)))).await?;
    let again = store.claim(a.clone(), worker("u"), Some(dead)).await;
    assert!(matches!(again, Err(StoreError::Busy { .. })), "{again:?}");
    assert_eq!(head(&store, &a).await?, Some(1));
    Ok(())
}

/// One more beat, or another name, and the owner was not dead.
pub async fn beat_that_moved_is_not_dead(store: Subject) -> Verdict {
    let a = lane("a");
    store.beat(worker("w")).await?;
    let epoch = owned(&store, &a).await?;
    store.beat(worker("w")).await?;
    for (name, beats) in [("w", 1), ("w", 3), ("x", 2)] {
        let dead = SeenBeat { worker: worker(name), beats };
        let refused = store.claim(a.clone(), worker("v"), Some(dead)).await;
        assert!(matches!(refused, Err(StoreError::Busy { .. })), "{name} {beats}: {refused:?}");
    }
    store.append(append(&a, epoch, 0, entries("a", 1, 1))).await
}

/// A released lane has no owner.
pub async fn release_frees(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    store.release(a.clone(), worker("w"), epoch).await?;
    assert_eq!(store.lane(a.clone()).await?.and_then(|lane| lane.owner), None);
    store.claim(a, worker("v"), None).await.map(drop)
}

/// What was lost cannot be given back.
pub async fn stale_release_is_harmless(store: Subject) -> Verdict {
    let a = lane("a");
    let old = owned(&store, &a).await?;
    store.release(a.clone(), worker("w"), old).await?;
    let new = store.claim(a.clone(), worker("v"), None).await?.epoch;
    store.release(a.clone(), worker("w"), old).await?;
    store.release(lane("nowhere"), worker("w"), 1).await?;
    assert_eq!(store.lane(a.clone()).await?.and_then(|lane| lane.owner), Some(worker("v")));
    store.append(by("v", append(&a, new, 0, entries("a", 1, 1)))).await
}

/// A worker that claimed the lane anew is not its own earlier self: what that one gives back late
/// stays claimed.
pub async fn stale_release_of_the_same_worker_is_harmless(store: Subject) -> Verdict {
    let a = lane("a");
    let old = owned(&store, &a).await?;
    let dead = SeenBeat { worker: worker("w"), beats: 0 };
    let new = store.claim(a.clone(), worker("w"), Some(dead)).await?.epoch;
    assert!(new > old);
    store.release(a.clone(), worker("w"), old).await?;
    assert_eq!(store.lane(a.clone()).await?.and_then(|lane| lane.owner), Some(worker("w")));
    store.append(append(&a, new, 0, entries("a", 1, 1))).await
}

/// A lane begins with mail or as a fork.
pub async fn unknown_lane_cannot_be_claimed(store: Subject) -> Verdict {
    let refused = store.claim(lane("a"), worker("w"), None).await;
    assert_eq!(refused, Err(StoreError::NoLane { lane: lane("a") }));
    assert_eq!(store.lane(lane("a")).await?, None);
    Ok(())
}
