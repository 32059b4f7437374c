//! Lanes that begin as others.

use windlass_runtime::ports::{EncodedEntry, StoreError};

use super::material::{
    Subject, Verdict, append, entries, head, lane, letter, log, worker, written,
};

fn of(name: &str, from: u64, upto: u64) -> Vec<EncodedEntry> {
    entries(lane(name).as_str(), from, upto)
}

async fn extend(store: &Subject, name: &str, head: u64, upto: u64) -> Verdict {
    let epoch = store.claim(lane(name), worker("w"), None).await?.epoch;
    store.append(append(&lane(name), epoch, head, of(name, head + 1, upto))).await?;
    store.release(lane(name), worker("w"), epoch).await
}

/// The parent's entries, then its own, on every page.
pub async fn begins_with_the_parent(store: Subject) -> Verdict {
    written(&store, &lane("p"), 4).await?;
    store.fork(lane("p"), 3, lane("c")).await?;
    assert_eq!(head(&store, &lane("c")).await?, Some(3));
    assert_eq!(log(&store, &lane("c")).await?, of("p", 1, 3));
    assert_eq!(store.read_mail(lane("c"), 9).await?, []);
    extend(&store, "c", 3, 5).await?;
    let whole = [of("p", 1, 3), of("c", 4, 5)].concat();
    assert_eq!(log(&store, &lane("c")).await?, whole);
    for after in 0..=5 {
        for most in 0..=6 {
            let page = store.read_log(lane("c"), after, most).await?;
            let from = usize::try_from(after).unwrap_or_default();
            let wanted: Vec<_> = whole.iter().skip(from).take(most).cloned().collect();
            assert_eq!(page, wanted, "after {after}, at most {most}");
        }
    }
    Ok(())
}

/// Neither sees what the other writes afterwards.
pub async fn parent_goes_on_alone(store: Subject) -> Verdict {
    let epoch = written(&store, &lane("p"), 2).await?;
    store.fork(lane("p"), 2, lane("c")).await?;
    store.append(append(&lane("p"), epoch, 2, of("p", 3, 4))).await?;
    assert_eq!(log(&store, &lane("c")).await?, of("p", 1, 2));
    extend(&store, "c", 2, 3).await?;
    assert_eq!(log(&store, &lane("c")).await?, [of("p", 1, 2), of("c", 3, 3)].concat());
    assert_eq!(log(&store, &lane("p")).await?, of("p", 1, 4));
    Ok(())
}

/// Three generations.
pub async fn fork_of_a_fork(store: Subject) -> Verdict {
    written(&store, &lane("p"), 3).await?;
    store.fork(lane("p"), 2, lane("c")).await?;
    extend(&store, "c", 2, 5).await?;
    store.fork(lane("c"), 4, lane("g")).await?;
    extend(&store, "g", 4, 6).await?;
    let whole = [of("p", 1, 2), of("c", 3, 4), of("g", 5, 6)].concat();
    assert_eq!(log(&store, &lane("g")).await?, whole);
    assert_eq!(store.read_log(lane("g"), 1, 4).await?, whole.get(1..5).unwrap_or_default());
    Ok(())
}

/// A grandchild that leaves before its parent had an entry of its own.
pub async fn below_the_parents_fork(store: Subject) -> Verdict {
    written(&store, &lane("p"), 4).await?;
    store.fork(lane("p"), 3, lane("c")).await?;
    extend(&store, "c", 3, 4).await?;
    store.fork(lane("c"), 1, lane("g")).await?;
    assert_eq!(log(&store, &lane("g")).await?, of("p", 1, 1));
    extend(&store, "g", 1, 2).await?;
    assert_eq!(log(&store, &lane("g")).await?, [of("p", 1, 1), of("g", 2, 2)].concat());
    Ok(())
}

/// What has not happened cannot be forked.
pub async fn beyond_the_head(store: Subject) -> Verdict {
    written(&store, &lane("p"), 2).await?;
    for at in [3, u64::MAX] {
        let refused = store.fork(lane("p"), at, lane("c")).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(store.lane(lane("c")).await?, None);
    Ok(())
}

/// There must be a parent.
pub async fn unknown_parent(store: Subject) -> Verdict {
    let refused = store.fork(lane("p"), 0, lane("c")).await;
    assert_eq!(refused, Err(StoreError::NoLane { lane: lane("p") }));
    Ok(())
}

/// Asking again after a lost answer does no harm.
pub async fn same_again_is_fine(store: Subject) -> Verdict {
    written(&store, &lane("p"), 2).await?;
    store.fork(lane("p"), 1, lane("c")).await?;
    extend(&store, "c", 1, 2).await?;
    store.fork(lane("p"), 1, lane("c")).await?;
    assert_eq!(head(&store, &lane("c")).await?, Some(2));
    Ok(())
}

/// A lane that is something else already stays what it is.
pub async fn name_in_use(store: Subject) -> Verdict {
    written(&store, &lane("p"), 2).await?;
    store.deliver(lane("c"), letter("k")).await?;
    store.fork(lane("p"), 2, lane("d")).await?;
    for (at, child) in [(1, lane("c")), (1, lane("d")), (1, lane("p"))] {
        let refused = store.fork(lane("p"), at, child).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(head(&store, &lane("c")).await?, Some(0));
    Ok(())
}

/// An owner learns where its lane comes from.
pub async fn claim_tells_the_origin(store: Subject) -> Verdict {
    written(&store, &lane("p"), 2).await?;
    store.fork(lane("p"), 1, lane("c")).await?;
    let claim = store.claim(lane("c"), worker("w"), None).await?;
    assert_eq!((claim.head, claim.fork_of), (1, Some((lane("p"), 1))));
    Ok(())
}
