//! Many conversations in one process: nobody starves, nobody takes what is not his, and waiting is
//! free.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::ids::LaneId;
use windlass::memory::MemoryStore;
use windlass::ports::{Store, Whose};
use windlass::{Windlass, WorkTimes};

use crate::kit::{Probe, builder, eventually, pause};
use crate::workers::{TIMES, send};

const ONE_CALL: &str = "when results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

/// Some hang, the others look.
const STUCK_OR_NOT: &str =
    "when user is \"go\" and results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

async fn ended(store: &dyn Store) -> usize {
    let runs = store.runs(None, 10_000).await.unwrap();
    runs.iter().filter(|run| run.cause.is_some()).count()
}

async fn until_ended(store: &dyn Store, number: usize) {
    for _ in 0..2_000 {
        if ended(store).await >= number {
            return;
        }
        pause(10).await;
    }
    panic!("only {} of {number} ended", ended(store).await);
}

fn work(w: &Windlass, times: WorkTimes) {
    let w = w.clone();
    tokio::spawn(async move { w.work_with(times).await });
}

// spec: SCALE-04
#[tokio::test]
async fn tools_are_capped_and_conversations_are_not() {
    let store = Arc::new(MemoryStore::new());
    let gate = Arc::new(Notify::new());
    let look = Probe::read("Look").gated(&gate);
    let w = builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&look))
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .start()
        .await
        .unwrap();
    work(&w, TIMES);
    for nth in 0..200 {
        send(store.as_ref(), &format!("lane-{nth}")).await;
    }
    eventually("sixty-four execute", || look.count() == 64).await;
    pause(200).await;
    assert_eq!(look.count(), 64, "the others wait for their turn");
    let driven = store.owners().await.unwrap();
    assert_eq!(driven.len(), 1);
    while ended(store.as_ref()).await < 200 {
        gate.notify_waiters();
        pause(5).await;
    }
    assert_eq!(look.count(), 200);
    w.hand_over();
}

// spec: SCALE-04
#[tokio::test]
async fn the_number_of_tools_at_once_can_be_set_within_bounds() {
    let store = Arc::new(MemoryStore::new());
    let gate = Arc::new(Notify::new());
    let look = Probe::read("Look").gated(&gate);
    let builder = || {
        builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&look))
            .shared_store(Arc::clone(&store) as Arc<dyn Store>)
    };
    for bad in [0, 1_025] {
        let error = builder().tools_at_once(bad).start().await.err().unwrap().to_string();
        assert!(error.contains("tools_at_once") && error.contains("from 1 to 1024"), "{error}");
    }
    let w = builder().tools_at_once(3).start().await.unwrap();
    work(&w, TIMES);
    for nth in 0..10 {
        send(store.as_ref(), &format!("lane-{nth}")).await;
    }
    eventually("three execute", || look.count() == 3).await;
    pause(200).await;
    assert_eq!(look.count(), 3, "the others wait for their turn");
    while ended(store.as_ref()).await < 10 {
        gate.notify_waiters();
        pause(5).await;
    }
    assert_eq!(look.count(), 10);
    w.hand_over();
}

// spec: SCALE-05
#[tokio::test]
async fn a_stuck_run_and_a_greedy_tenant_starve_nobody() {
    let store = Arc::new(MemoryStore::new());
    let stuck = Probe::read("Hang").gated(&Arc::new(Notify::new()));
    let look = Probe::read("Look");
    let script = format!("when user is \"hang\" and results 0\n  call Hang {{}}\n{STUCK_OR_NOT}");
    let w = builder(&script, MemoryStore::new(), &[stuck.clone(), look.clone()])
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .start()
        .await
        .unwrap();
    w.session("stuck").send("hang").await.unwrap().detach();
    eventually("it hangs", || stuck.count() == 1).await;
    for nth in 0..500 {
        let lane = format!("greedy-{nth:03}");
        let whose = Whose { tenant: "greedy".into(), ..Whose::default() };
        store.introduce(LaneId::from(lane.as_str()), whose).await.unwrap();
        send(store.as_ref(), &lane).await;
    }
    let whose = Whose { tenant: "modest".into(), ..Whose::default() };
    store.introduce(LaneId::from("zz-modest"), whose).await.unwrap();
    send(store.as_ref(), "zz-modest").await;
    work(&w, TIMES);
    let modest = LaneId::from("zz-modest");
    for _ in 0..2_000 {
        let runs = store.runs(Some(modest.clone()), 1).await.unwrap();
        if runs.iter().any(|run| run.cause.is_some()) {
            break;
        }
        pause(1).await;
    }
    let before_it = ended(store.as_ref()).await;
    assert!(before_it < 400, "it came after {before_it} of the greedy tenant's");
    until_ended(store.as_ref(), 501).await;
    assert_eq!(look.count(), 501, "the stuck one is still stuck, and nobody else is");
    w.hand_over();
}

// spec: SCALE-06
#[tokio::test]
async fn a_worker_leaves_what_is_not_within_its_reach() {
    let store = Arc::new(MemoryStore::new());
    let look = Probe::read("Look");
    let worker = |folder: &'static str| {
        builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&look))
            .shared_store(Arc::clone(&store) as Arc<dyn Store>)
            .workspace(Path::new(folder))
            .start()
    };
    let here = worker("/here").await.unwrap();
    // Left by somebody who works elsewhere, and by somebody with tools that nobody here has.
    worker("/there").await.unwrap().session("there").leave("go").await.unwrap();
    let whose = Whose { agent: "butler".into(), ..Whose::default() };
    store.introduce(LaneId::from("butler"), whose).await.unwrap();
    send(store.as_ref(), "butler").await;
    here.session("here").leave("go").await.unwrap();
    send(store.as_ref(), "anywhere").await;
    work(&here, TIMES);
    until_ended(store.as_ref(), 2).await;
    pause(200).await;
    // The one that belongs to no workspace was driven without the tools of this one.
    assert_eq!((ended(store.as_ref()).await, look.count()), (2, 1));
    let there = worker("/there").await.unwrap();
    work(&there, TIMES);
    until_ended(store.as_ref(), 3).await;
    here.hand_over();
    there.hand_over();
}

// spec: SCALE-08, FAULT-59
#[tokio::test]
async fn parked_conversations_hold_no_task() {
    let store = Arc::new(MemoryStore::new());
    let script = "when any\n  call Look {}\n";
    let w = builder(script, MemoryStore::new(), &[Probe::once_only("Look")])
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .settings(|settings| {
            settings.rules.otherwise = windlass::core::permission::Otherwise::Ask;
        })
        .start()
        .await
        .unwrap();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for nth in 0..1_000 {
        let run = w.session(format!("lane-{nth}")).send("go").await.unwrap();
        assert!(matches!(run.end().await.unwrap(), windlass::End::Parked(_)));
    }
    pause(20).await;
    assert_eq!(tasks(), before);
    work(&w, TIMES);
    pause(100).await;
    assert_eq!(tasks(), before + 1, "nobody is woken for nothing");
    w.hand_over();
}
