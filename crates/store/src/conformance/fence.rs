//! What is fenced leaves no trace.

use windlass_core::ids::Millis;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{Append, StoreError};

use super::material::{
    Subject, Verdict, append, by, entries, lane, letter, log, note, owned, run_row, worker,
};

/// An append that would change everything an append can change.
fn heavy(epoch: u64, head: u64) -> Append {
    let mut all = append(&lane("a"), epoch, head, entries("a", head + 1, head + 2));
    all.mail_read = vec![1];
    all.mail_out = vec![(lane("out"), letter("k"))];
    all.rows = vec![run_row("r", RunState::Running, 7)];
    all.wake_at = Some(Millis(99));
    all.active_run = Some("r".into());
    all
}

async fn leaves_no_trace(store: &Subject, refused: Append) -> Verdict {
    let before = store.lane(lane("a")).await?;
    let outcome = store.append(refused).await;
    assert_eq!(outcome, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(store.lane(lane("a")).await?, before);
    assert_eq!(log(store, &lane("a")).await?, []);
    assert_eq!(store.read_mail(lane("a"), 9).await?.len(), 1);
    assert_eq!(store.lane(lane("out")).await?, None);
    assert_eq!(store.runs(None, 9).await?, []);
    Ok(())
}

/// The owner before.
pub async fn old_epoch_writes_nothing(store: Subject) -> Verdict {
    let old = owned(&store, &lane("a")).await?;
    store.release(lane("a"), worker("w"), old).await?;
    let new = store.claim(lane("a"), worker("v"), None).await?.epoch;
    leaves_no_trace(&store, heavy(old, 0)).await?;
    leaves_no_trace(&store, by("v", heavy(new + 1, 0))).await?;
    store.append(by("v", heavy(new, 0))).await
}

/// Whoever has the right epoch and is not the owner: its claim was forgotten in a crash, and the next
/// one was given the same epoch.
pub async fn right_epoch_of_another_owner_writes_nothing(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("a")).await?;
    leaves_no_trace(&store, by("v", heavy(epoch, 0))).await?;
    store.release(lane("a"), worker("v"), epoch).await?;
    assert_eq!(store.lane(lane("a")).await?.and_then(|lane| lane.owner), Some(worker("w")));
    store.append(heavy(epoch, 0)).await
}

/// An owner that has not seen the last entry, or has seen one that is not there.
pub async fn wrong_head_writes_nothing(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("a")).await?;
    leaves_no_trace(&store, heavy(epoch, 1)).await?;
    store.append(heavy(epoch, 0)).await?;
    let late = store.append(append(&lane("a"), epoch, 1, entries("late", 2, 2))).await;
    assert_eq!(late, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(log(&store, &lane("a")).await?, entries("a", 1, 2));
    Ok(())
}

/// Whoever gave the lane back has nothing to write.
pub async fn released_owner_is_fenced(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("a")).await?;
    store.release(lane("a"), worker("w"), epoch).await?;
    leaves_no_trace(&store, heavy(epoch, 0)).await
}

/// A lane that nobody ever owned.
pub async fn unclaimed_lane_is_fenced(store: Subject) -> Verdict {
    store.deliver(lane("a"), note("k")).await?;
    leaves_no_trace(&store, heavy(0, 0)).await
}

/// A lane that is not there.
pub async fn unknown_lane_is_fenced(store: Subject) -> Verdict {
    let refused = store.append(heavy(0, 0)).await;
    assert_eq!(refused, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(store.lane(lane("a")).await?, None);
    Ok(())
}

/// After an answer that got lost, sending again cannot double anything.
pub async fn same_append_twice_lands_once(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("a")).await?;
    store.append(heavy(epoch, 0)).await?;
    let again = store.append(heavy(epoch, 0)).await;
    assert_eq!(again, Err(StoreError::Fenced { lane: lane("a") }));
    assert_eq!(log(&store, &lane("a")).await?, entries("a", 1, 2));
    assert_eq!(store.read_mail(lane("out"), 9).await?.len(), 1);
    Ok(())
}
