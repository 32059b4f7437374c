//! Tests: who gets a permit of the fair semaphore, and when.

use std::sync::{Arc, Mutex};

use windlass_core::log::ids::LaneId;

use super::{FairSemaphore, Permit};

async fn yield_many_times() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// The order in which the waiters get a permit after the first one, if they queue one after the
/// other.
async fn acquire_order<'a>(
    waiting: impl IntoIterator<Item = (&'a FairSemaphore, &'static str)>,
    first: Permit,
) -> Vec<&'static str> {
    let order = Arc::new(Mutex::new(Vec::new()));
    for (semaphore, lane) in waiting {
        let (semaphore, order) = (semaphore.clone(), Arc::clone(&order));
        tokio::spawn(async move {
            let _turn = semaphore.acquire(&LaneId::from(lane)).await;
            order.lock().unwrap().push(lane);
            tokio::task::yield_now().await;
        });
        yield_many_times().await;
    }
    drop(first);
    yield_many_times().await;
    let order = order.lock().unwrap();
    order.clone()
}

#[tokio::test]
async fn lanes_take_turns_whatever_one_of_them_asks_for() {
    let semaphore = FairSemaphore::new(1);
    let first = semaphore.acquire(&LaneId::from("busy")).await;
    let waiting = ["busy", "busy", "busy", "other", "third"].map(|lane| (&semaphore, lane));
    let order = acquire_order(waiting, first).await;
    assert_eq!(order, ["busy", "other", "third", "busy", "busy"]);
}

#[tokio::test]
async fn tenants_take_turns_however_many_conversations_one_of_them_has() {
    let semaphore = FairSemaphore::new(1);
    let (greedy, modest) =
        (semaphore.for_tenant(&Arc::from("greedy")), semaphore.for_tenant(&Arc::from("modest")));
    let first = greedy.acquire(&LaneId::from("g0")).await;
    let waiting = ["g1", "g2", "g1", "g3"].map(|lane| (&greedy, lane));
    let waiting = waiting.into_iter().chain([(&modest, "m1"), (&modest, "m1")]);
    let order = acquire_order(waiting, first).await;
    assert_eq!(order, ["g1", "m1", "g2", "m1", "g3", "g1"]);
}

#[tokio::test]
async fn a_turn_nobody_waits_for_any_more_goes_to_the_next() {
    let semaphore = FairSemaphore::new(1);
    let first = semaphore.acquire(&LaneId::from("a")).await;
    let gone = tokio::spawn({
        let semaphore = semaphore.clone();
        async move { semaphore.acquire(&LaneId::from("b")).await }
    });
    yield_many_times().await;
    gone.abort();
    yield_many_times().await;
    drop(first);
    let again = semaphore.acquire(&LaneId::from("c")).await;
    drop(again);
    let _last = semaphore.acquire(&LaneId::from("d")).await;
}
