//! Who gets a turn, and when.

use std::sync::{Arc, Mutex};

use windlass_core::ids::LaneId;

use super::{Turn, Turns};

async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Who is let in after the first, of those who line up one after the other.
async fn order_of<'a>(
    waiting: impl IntoIterator<Item = (&'a Turns, &'static str)>,
    first: Turn,
) -> Vec<&'static str> {
    let order = Arc::new(Mutex::new(Vec::new()));
    for (turns, lane) in waiting {
        let (turns, order) = (turns.clone(), Arc::clone(&order));
        tokio::spawn(async move {
            let _turn = turns.take(&LaneId::from(lane)).await;
            order.lock().unwrap().push(lane);
            tokio::task::yield_now().await;
        });
        settle().await;
    }
    drop(first);
    settle().await;
    let order = order.lock().unwrap();
    order.clone()
}

#[tokio::test]
async fn lanes_take_turns_whatever_one_of_them_asks_for() {
    let turns = Turns::new(1);
    let first = turns.take(&LaneId::from("busy")).await;
    let waiting = ["busy", "busy", "busy", "other", "third"].map(|lane| (&turns, lane));
    let order = order_of(waiting, first).await;
    assert_eq!(order, ["busy", "other", "third", "busy", "busy"]);
}

#[tokio::test]
async fn tenants_take_turns_however_many_conversations_one_of_them_has() {
    let turns = Turns::new(1);
    let (greedy, modest) = (turns.of(&Arc::from("greedy")), turns.of(&Arc::from("modest")));
    let first = greedy.take(&LaneId::from("g0")).await;
    let waiting = ["g1", "g2", "g1", "g3"].map(|lane| (&greedy, lane));
    let waiting = waiting.into_iter().chain([(&modest, "m1"), (&modest, "m1")]);
    let order = order_of(waiting, first).await;
    assert_eq!(order, ["g1", "m1", "g2", "m1", "g3", "g1"]);
}

#[tokio::test]
async fn a_turn_nobody_waits_for_any_more_goes_to_the_next() {
    let turns = Turns::new(1);
    let first = turns.take(&LaneId::from("a")).await;
    let gone = tokio::spawn({
        let turns = turns.clone();
        async move { turns.take(&LaneId::from("b")).await }
    });
    settle().await;
    gone.abort();
    settle().await;
    drop(first);
    let again = turns.take(&LaneId::from("c")).await;
    drop(again);
    let _last = turns.take(&LaneId::from("d")).await;
}
