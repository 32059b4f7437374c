//! Lanes that want to be driven.

use windlass_core::ids::{LaneId, Millis};
use windlass_runtime::ports::{Look, SeenBeat, StoreError, Wanting};

use super::material::{Subject, Verdict, append, entries, lane, letter, owned, worker};

const NOW: Millis = Millis(1_000);

async fn look(store: &Subject, dead: &[SeenBeat]) -> Result<Vec<Wanting>, StoreError> {
    store.claimable(Look { now: NOW, dead: dead.to_vec(), most: 10 }).await
}

fn free(lane: &LaneId) -> Wanting {
    Wanting { lane: lane.clone(), left_by: None }
}

/// A lane with mail wants an owner until it has one.
pub async fn mail_waits(store: Subject) -> Verdict {
    let a = lane("a");
    assert_eq!(look(&store, &[]).await?, []);
    store.deliver(a.clone(), letter("k")).await?;
    assert_eq!(look(&store, &[]).await?, [free(&a)]);
    store.claim(a.clone(), worker("w"), None).await?;
    assert_eq!(look(&store, &[]).await?, []);
    Ok(())
}

/// A lane that was given back wants an owner when it is due, and a parked one never.
pub async fn due_lanes_wait(store: Subject) -> Verdict {
    for (name, wake_at) in [("due", Some(0)), ("later", Some(1_001)), ("parked", None)] {
        let lane = lane(name);
        let epoch = owned(&store, &lane).await?;
        let mail: Vec<_> = store.read_mail(lane.clone(), 9).await?.iter().map(|m| m.id).collect();
        let mut step = append(&lane, epoch, 0, entries(name, 1, 1));
        step.mail_read = mail;
        step.wake_at = wake_at.map(Millis);
        store.append(step).await?;
        store.release(lane, epoch).await?;
    }
    assert_eq!(look(&store, &[]).await?, [free(&lane("due"))]);
    Ok(())
}

/// What a dead owner left is found, as long as its beat stands still.
pub async fn the_dead_leave_their_lanes(store: Subject) -> Verdict {
    let a = lane("a");
    store.beat(worker("w")).await?;
    owned(&store, &a).await?;
    let seen = SeenBeat { worker: worker("w"), beats: 1 };
    assert_eq!(store.owners().await?.first(), Some(&seen));
    assert_eq!(look(&store, &[]).await?, []);
    let left = Wanting { lane: a, left_by: Some(seen.clone()) };
    assert_eq!(look(&store, std::slice::from_ref(&seen)).await?, [left]);
    store.beat(worker("w")).await?;
    assert_eq!(look(&store, &[seen]).await?, [], "it beats again");
    Ok(())
}

/// One look brings no more than was asked for.
pub async fn a_look_is_bounded(store: Subject) -> Verdict {
    for nth in 0..5 {
        store.deliver(lane(&nth.to_string()), letter("k")).await?;
    }
    let found = store.claimable(Look { now: NOW, dead: Vec::new(), most: 3 }).await?;
    assert_eq!(found.len(), 3);
    Ok(())
}

/// Mail to any lane is hinted at.
pub async fn mail_to_anybody_is_hinted_at(store: Subject) -> Verdict {
    store.deliver(lane("a"), letter("k")).await?;
    store.any_mail_hint().await;
    Ok(())
}
