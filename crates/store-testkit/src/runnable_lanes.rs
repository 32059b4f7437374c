//! Conformance cases: finding and claiming runnable lanes.

use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_runtime::ports::{
    Affinity, BoxFuture, ClaimQuery, LaneClaim, StoreError, WorkerScope,
};

use crate::fixtures::{
    CaseResult, TestStore, append, append_by, claim_new_lane, entries, lane, message, worker,
};

const NOW: UnixMillis = UnixMillis(1_000);

async fn claim_runnable_lanes(store: &TestStore) -> Result<Vec<LaneId>, StoreError> {
    claim_by_query(store, claim_query(10)).await
}

/// Returns the names of the lanes that this query claims.
async fn claim_by_query(store: &TestStore, query: ClaimQuery) -> Result<Vec<LaneId>, StoreError> {
    let claims = store.claim_runnable_lanes(worker("looks"), query).await?;
    let mut lanes: Vec<LaneId> = claims.into_iter().map(|(lane, _)| lane).collect();
    lanes.sort();
    Ok(lanes)
}

fn claim_query(limit: usize) -> ClaimQuery {
    ClaimQuery { now: NOW, limit, scope: WorkerScope::default(), exclude: Vec::new() }
}

/// A lane with unread messages is runnable until it has an owner.
pub async fn unread_messages_make_lanes_runnable(store: TestStore) -> CaseResult {
    let (a, b) = (lane("a"), lane("b"));
    assert_eq!(claim_runnable_lanes(&store).await?, []);
    store.enqueue_message(a.clone(), message("k")).await?;
    store.enqueue_message(b.clone(), message("k")).await?;
    store.claim_lane(b.clone(), worker("w"), None).await?;
    assert_eq!(claim_runnable_lanes(&store).await?, std::slice::from_ref(&a));
    assert_eq!(claim_runnable_lanes(&store).await?, []);
    assert_eq!(store.lanes_owned_by(worker("looks")).await?, [a]);
    assert_eq!(store.lanes_owned_by(worker("w")).await?, [b]);
    assert_eq!(store.lanes_owned_by(worker("nobody")).await?, []);
    Ok(())
}

/// Claiming runnable lanes raises the epoch and fences all other workers.
pub async fn claiming_raises_the_epoch(store: TestStore) -> CaseResult {
    let a = lane("a");
    let affinity = Affinity { tenant: "t".into(), ..Affinity::default() };
    store.register_lane(a.clone(), affinity).await?;
    let before = claim_new_lane(&store, &a).await?;
    store.append(append(&a, before, 0, entries("a", 1, 1))).await?;
    store.release_lane(a.clone(), worker("w"), before).await?;
    let claims = store.claim_runnable_lanes(worker("looks"), claim_query(10)).await?;
    let seen = |(lane, claim): &(LaneId, LaneClaim)| {
        (lane.clone(), claim.epoch, claim.head, claim.tenant.to_string())
    };
    let want = (a.clone(), before + 1, 1, "t".to_owned());
    assert_eq!(claims.iter().map(seen).collect::<Vec<_>>(), [want]);
    let late = store.append(append(&a, before, 1, entries("late", 2, 2))).await;
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    let busy = store.claim_lane(a.clone(), worker("w"), None).await;
    assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
    store.append(append_by("looks", append(&a, before + 1, 1, entries("a", 2, 2)))).await
}

/// Excluded lanes are not claimed.
pub async fn except_these(store: TestStore) -> CaseResult {
    for name in ["a", "b"] {
        store.enqueue_message(lane(name), message("k")).await?;
    }
    let found =
        claim_by_query(&store, ClaimQuery { exclude: vec![lane("a")], ..claim_query(10) }).await?;
    assert_eq!(found, [lane("b")]);
    Ok(())
}

/// A lane created by another lane's message, or as its fork, gets that lane's affinity.
pub async fn families_stay_together(store: TestStore) -> CaseResult {
    let affinity = Affinity {
        tenant: "t".into(),
        agent: "a".into(),
        workspace: "here".into(),
        folder: "/w".into(),
    };
    store.register_lane(lane("parent"), affinity.clone()).await?;
    let epoch = claim_new_lane(&store, &lane("parent")).await?;
    let mut step = append(&lane("parent"), epoch, 0, entries("p", 1, 1));
    step.outbox = vec![(lane("child"), message("k"))];
    store.append(step).await?;
    store.fork_lane(lane("parent"), 1, lane("copy")).await?;
    store.enqueue_message(lane("copy"), message("k")).await?;
    assert_eq!(claim_runnable_lanes(&store).await?, [], "a stranger finds none of them");
    let scope = WorkerScope { agents: vec![affinity.agent], workspaces: vec![affinity.workspace] };
    let found = store
        .claim_runnable_lanes(worker("looks"), ClaimQuery { scope, ..claim_query(10) })
        .await?;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(_, claim)| *claim.tenant == *affinity.tenant), "{found:?}");
    Ok(())
}

/// A released lane is runnable when it is due, and a parked one never is.
pub async fn due_lanes_wait(store: TestStore) -> CaseResult {
    for (name, wake_at) in [("due", Some(0)), ("later", Some(1_001)), ("parked", None)] {
        let lane = lane(name);
        let epoch = claim_new_lane(&store, &lane).await?;
        let message: Vec<_> =
            store.read_inbox(lane.clone(), 9).await?.iter().map(|m| m.id).collect();
        let mut step = append(&lane, epoch, 0, entries(name, 1, 1));
        step.messages_read = message;
        step.wake_at = wake_at.map(UnixMillis);
        store.append(step).await?;
        store.release_lane(lane, worker("w"), epoch).await?;
    }
    assert_eq!(claim_runnable_lanes(&store).await?, [lane("due")]);
    Ok(())
}

/// One query claims no more lanes than its limit.
pub async fn claiming_is_bounded(store: TestStore) -> CaseResult {
    for nth in 0..5 {
        store.enqueue_message(lane(&nth.to_string()), message("k")).await?;
    }
    let found = claim_by_query(&store, claim_query(3)).await?;
    assert_eq!(found.len(), 3);
    Ok(())
}

/// A message to any lane wakes a task that waits for any.
pub async fn any_message_wakes_a_waiting_worker(store: TestStore) -> CaseResult {
    store.enqueue_message(lane("a"), message("k")).await?;
    store.wait_for_any_message().await;
    Ok(())
}

/// Only lanes of known agents in reachable workspaces are claimed, and lanes without either.
pub async fn only_within_reach(store: TestStore) -> CaseResult {
    let places = [("anybody", "", ""), ("ours", "a", "here"), ("agent", "b", "here")];
    for (name, agent, affinity) in places.into_iter().chain([("place", "a", "there")]) {
        let whose =
            Affinity { agent: agent.into(), workspace: affinity.into(), ..Affinity::default() };
        store.register_lane(lane(name), whose).await?;
        store.enqueue_message(lane(name), message("k")).await?;
    }
    let scope = WorkerScope { agents: vec!["a".into()], workspaces: vec!["here".into()] };
    let found = claim_by_query(&store, ClaimQuery { scope, ..claim_query(10) }).await?;
    assert_eq!(found, [lane("anybody"), lane("ours")]);
    Ok(())
}

/// The affinity of a lane is set once.
pub async fn registered_once(store: TestStore) -> CaseResult {
    let whose = |agent: &str| Affinity { agent: agent.into(), ..Affinity::default() };
    store.register_lane(lane("x"), whose("b")).await?;
    store.register_lane(lane("x"), whose("")).await?;
    store.enqueue_message(lane("x"), message("k")).await?;
    assert_eq!(claim_runnable_lanes(&store).await?, []);
    Ok(())
}

/// A tenant with a thousand lanes does not delay a tenant with a single one.
pub async fn tenants_take_turns(store: TestStore) -> CaseResult {
    for (tenant, names) in [("greedy", 0..20), ("modest", 20..21)] {
        for nth in names {
            let lane = lane(&format!("{nth:02}"));
            let affinity = Affinity { tenant: tenant.into(), ..Affinity::default() };
            store.register_lane(lane.clone(), affinity).await?;
            store.enqueue_message(lane, message("k")).await?;
        }
    }
    let found = claim_by_query(&store, claim_query(2)).await?;
    assert!(found.contains(&lane("20")), "{found:?}");
    Ok(())
}

/// Unread messages in an owner's lanes are hinted at until they are read, and no others.
pub async fn unread_messages_are_hinted_at(store: TestStore) -> CaseResult {
    let (a, b) = (lane("a"), lane("b"));
    claim_new_lane(&store, &a).await?;
    store.enqueue_message(b.clone(), message("k")).await?;
    store.claim_lane(b.clone(), worker("other"), None).await?;
    // Consume the hints of the deliveries themselves.
    store.wait_for_message(a.clone()).await;
    store.wait_for_message(b.clone()).await;
    let (mut waits_a, mut waits_b) = (store.wait_for_message(a), store.wait_for_message(b));
    assert!(is_pending(&mut waits_a).await && is_pending(&mut waits_b).await);
    store.hint_unread_messages(worker("w")).await?;
    waits_a.await;
    assert!(is_pending(&mut waits_b).await);
    Ok(())
}

async fn is_pending(waits: &mut BoxFuture<'_, ()>) -> bool {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(waits.as_mut().poll(context).is_pending())
    })
    .await
}
