//! What is there after the store was closed and opened again. A store that forgets has no use for
//! these; the others give `open`, which opens the same place each time.

use windlass_core::record::Durability;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{EncodedEntry, LaneInfo, RunInfo, StoreError, Task};

use super::material::{
    Subject, Verdict, append, entries, lane, letter, log, owned, run_row, worker, written,
};

/// Opens the same place again.
pub type Open<'a> = &'a (dyn Fn() -> Task<'a, Result<Subject, StoreError>> + Sync);

type Picture = (Vec<EncodedEntry>, Option<LaneInfo>, Vec<RunInfo>, usize);

/// Accepted mail is there, and its key still means it.
pub async fn accepted_mail(open: Open<'_>) -> Verdict {
    let store = open().await?;
    let first = store.deliver(lane("a"), letter("k")).await?;
    drop(store);
    let store = open().await?;
    assert_eq!(store.deliver(lane("a"), letter("k")).await?, first);
    assert_eq!(store.read_mail(lane("a"), 9).await?.len(), 1);
    Ok(())
}

/// Everything answered is as it was.
pub async fn everything(open: Open<'_>) -> Verdict {
    let store = open().await?;
    let epoch = written(&store, &lane("a"), 3).await?;
    let mut step = append(&lane("a"), epoch, 3, entries("a", 4, 5));
    step.mail_read = vec![1];
    step.rows = vec![run_row("r", RunState::Running, 5)];
    step.active_run = Some("r".into());
    step.durability = Durability::Barrier;
    store.append(step).await?;
    store.fork(lane("a"), 4, lane("f")).await?;
    let before = (picture(&store, "a").await?, picture(&store, "f").await?);
    drop(store);
    let store = open().await?;
    assert_eq!((picture(&store, "a").await?, picture(&store, "f").await?), before);
    Ok(())
}

async fn picture(store: &Subject, name: &str) -> Result<Picture, StoreError> {
    Ok((
        log(store, &lane(name)).await?,
        store.lane(lane(name)).await?,
        store.runs(Some(lane(name)), 99).await?,
        store.read_mail(lane(name), 99).await?.len(),
    ))
}

/// An owner that was never heard of again keeps its lane until somebody proves it dead, and the
/// epoch goes on from where it was.
pub async fn epochs_go_on(open: Open<'_>) -> Verdict {
    let store = open().await?;
    let old = owned(&store, &lane("a")).await?;
    store.beat(worker("w")).await?;
    drop(store);
    let store = open().await?;
    let Err(StoreError::Busy { owner, .. }) = store.claim(lane("a"), worker("v"), None).await
    else {
        return Err(StoreError::NoLane { lane: lane("a") });
    };
    assert_eq!(owner.beats, 1);
    let new = store.claim(lane("a"), worker("v"), Some(owner)).await?.epoch;
    assert_eq!(new, old + 1);
    let stale = store.append(append(&lane("a"), old, 0, entries("a", 1, 1))).await;
    assert_eq!(stale, Err(StoreError::Fenced { lane: lane("a") }));
    Ok(())
}
