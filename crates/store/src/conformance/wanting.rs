//! Lanes that want to be driven.

use windlass_core::ids::{LaneId, Millis};
use windlass_runtime::ports::{Claim, Look, Reach, StoreError, Task, Whose};

use super::material::{Subject, Verdict, append, by, entries, lane, letter, owned, worker};

const NOW: Millis = Millis(1_000);

async fn look(store: &Subject) -> Result<Vec<LaneId>, StoreError> {
    taken(store, looking(10)).await
}

/// The lanes that a look takes, by name.
async fn taken(store: &Subject, look: Look) -> Result<Vec<LaneId>, StoreError> {
    let claims = store.claim_wanting(worker("looks"), look).await?;
    let mut lanes: Vec<LaneId> = claims.into_iter().map(|(lane, _)| lane).collect();
    lanes.sort();
    Ok(lanes)
}

fn looking(most: usize) -> Look {
    Look { now: NOW, most, reach: Reach::default(), except: Vec::new() }
}

/// A lane with mail wants an owner until it has one.
pub async fn mail_waits(store: Subject) -> Verdict {
    let (a, b) = (lane("a"), lane("b"));
    assert_eq!(look(&store).await?, []);
    store.deliver(a.clone(), letter("k")).await?;
    store.deliver(b.clone(), letter("k")).await?;
    store.claim(b.clone(), worker("w"), None).await?;
    assert_eq!(look(&store).await?, std::slice::from_ref(&a));
    assert_eq!(look(&store).await?, []);
    assert_eq!(store.owned(worker("looks")).await?, [a]);
    assert_eq!(store.owned(worker("w")).await?, [b]);
    assert_eq!(store.owned(worker("nobody")).await?, []);
    Ok(())
}

/// What a look takes is taken as by a claim: with the next epoch, and fenced for everybody else.
pub async fn a_look_claims(store: Subject) -> Verdict {
    let a = lane("a");
    let whose = Whose { tenant: "t".into(), ..Whose::default() };
    store.introduce(a.clone(), whose).await?;
    let before = owned(&store, &a).await?;
    store.append(append(&a, before, 0, entries("a", 1, 1))).await?;
    store.release(a.clone(), worker("w"), before).await?;
    let claims = store.claim_wanting(worker("looks"), looking(10)).await?;
    let seen = |(lane, claim): &(LaneId, Claim)| {
        (lane.clone(), claim.epoch, claim.head, claim.tenant.to_string())
    };
    let want = (a.clone(), before + 1, 1, "t".to_owned());
    assert_eq!(claims.iter().map(seen).collect::<Vec<_>>(), [want]);
    let late = store.append(append(&a, before, 1, entries("late", 2, 2))).await;
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    let busy = store.claim(a.clone(), worker("w"), None).await;
    assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
    store.append(by("looks", append(&a, before + 1, 1, entries("a", 2, 2)))).await
}

/// Lanes that are left to others are not taken.
pub async fn except_these(store: Subject) -> Verdict {
    for name in ["a", "b"] {
        store.deliver(lane(name), letter("k")).await?;
    }
    let found = taken(&store, Look { except: vec![lane("a")], ..looking(10) }).await?;
    assert_eq!(found, [lane("b")]);
    Ok(())
}

/// A lane that is made by another lane's mail, or as its copy, belongs to whom that one belongs to.
pub async fn families_stay_together(store: Subject) -> Verdict {
    let whose = Whose {
        tenant: "t".into(),
        agent: "a".into(),
        affinity: "here".into(),
        folder: "/w".into(),
    };
    store.introduce(lane("parent"), whose.clone()).await?;
    let epoch = owned(&store, &lane("parent")).await?;
    let mut step = append(&lane("parent"), epoch, 0, entries("p", 1, 1));
    step.mail_out = vec![(lane("child"), letter("k"))];
    store.append(step).await?;
    store.fork(lane("parent"), 1, lane("copy")).await?;
    store.deliver(lane("copy"), letter("k")).await?;
    assert_eq!(look(&store).await?, [], "a stranger finds none of them");
    let reach = Reach { agents: vec![whose.agent], affinities: vec![whose.affinity] };
    let found = store.claim_wanting(worker("looks"), Look { reach, ..looking(10) }).await?;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(_, claim)| *claim.tenant == *whose.tenant), "{found:?}");
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
        store.release(lane, worker("w"), epoch).await?;
    }
    assert_eq!(look(&store).await?, [lane("due")]);
    Ok(())
}

/// One look brings no more than was asked for.
pub async fn a_look_is_bounded(store: Subject) -> Verdict {
    for nth in 0..5 {
        store.deliver(lane(&nth.to_string()), letter("k")).await?;
    }
    let found = taken(&store, looking(3)).await?;
    assert_eq!(found.len(), 3);
    Ok(())
}

/// Mail to any lane is hinted at.
pub async fn mail_to_anybody_is_hinted_at(store: Subject) -> Verdict {
    store.deliver(lane("a"), letter("k")).await?;
    store.any_mail_hint().await;
    Ok(())
}

/// Only lanes of known agents in workspaces within reach are found, and those that are anybody's.
pub async fn only_within_reach(store: Subject) -> Verdict {
    let places = [("anybody", "", ""), ("ours", "a", "here"), ("agent", "b", "here")];
    for (name, agent, affinity) in places.into_iter().chain([("place", "a", "there")]) {
        let whose = Whose { agent: agent.into(), affinity: affinity.into(), ..Whose::default() };
        store.introduce(lane(name), whose).await?;
        store.deliver(lane(name), letter("k")).await?;
    }
    let reach = Reach { agents: vec!["a".into()], affinities: vec!["here".into()] };
    let found = taken(&store, Look { reach, ..looking(10) }).await?;
    assert_eq!(found, [lane("anybody"), lane("ours")]);
    Ok(())
}

/// Who a lane belongs to is said once.
pub async fn introduced_once(store: Subject) -> Verdict {
    let whose = |agent: &str| Whose { agent: agent.into(), ..Whose::default() };
    store.introduce(lane("x"), whose("b")).await?;
    store.introduce(lane("x"), whose("")).await?;
    store.deliver(lane("x"), letter("k")).await?;
    assert_eq!(look(&store).await?, []);
    Ok(())
}

/// A tenant with a thousand lanes does not come before one with a single one.
pub async fn tenants_take_turns(store: Subject) -> Verdict {
    for (tenant, names) in [("greedy", 0..20), ("modest", 20..21)] {
        for nth in names {
            let lane = lane(&format!("{nth:02}"));
            let whose = Whose { tenant: tenant.into(), ..Whose::default() };
            store.introduce(lane.clone(), whose).await?;
            store.deliver(lane, letter("k")).await?;
        }
    }
    let found = taken(&store, looking(2)).await?;
    assert!(found.contains(&lane("20")), "{found:?}");
    Ok(())
}

/// Mail that lies in a lane of somebody is hinted at until it is read, and no other's.
pub async fn mail_that_lies_is_hinted_at(store: Subject) -> Verdict {
    let (a, b) = (lane("a"), lane("b"));
    owned(&store, &a).await?;
    store.deliver(b.clone(), letter("k")).await?;
    store.claim(b.clone(), worker("other"), None).await?;
    // The hints of the deliveries themselves are used up.
    store.mail_hint(a.clone()).await;
    store.mail_hint(b.clone()).await;
    let (mut waits_a, mut waits_b) = (store.mail_hint(a), store.mail_hint(b));
    assert!(is_pending(&mut waits_a).await && is_pending(&mut waits_b).await);
    store.hint_at_mail(worker("w")).await?;
    waits_a.await;
    assert!(is_pending(&mut waits_b).await);
    Ok(())
}

async fn is_pending(waits: &mut Task<'_, ()>) -> bool {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(waits.as_mut().poll(context).is_pending())
    })
    .await
}
