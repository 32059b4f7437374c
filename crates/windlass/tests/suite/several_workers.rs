//! Many conversations in one process: fair scheduling, affinity, and waiting without cost.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use windlass::core::log::ids::LaneId;
use windlass::memory::MemoryStore;
use windlass::ports::{Affinity, Store};
use windlass::{Windlass, WorkerSettings};

use crate::kit::{ProbeTool, pause, wait_until, windlass_builder};
use crate::workers::{TIMES, send};

const ONE_CALL: &str = "when results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

/// A script in which some calls hang, and the others look.
const STUCK_OR_NOT: &str =
    "when user is \"go\" and results 0\n  call Look {}\nwhen any\n  say \"seen\"\n";

async fn finished_run_count(store: &dyn Store) -> usize {
    let runs = store.list_runs(None, 10_000).await.unwrap();
    runs.iter().filter(|run| run.cause.is_some()).count()
}

async fn wait_for_finished_runs(store: &dyn Store, number: usize) {
    for _ in 0..2_000 {
        if finished_run_count(store).await >= number {
            return;
        }
        pause(10).await;
    }
    panic!("only {} of {number} ended", finished_run_count(store).await);
}

fn work(w: &Windlass, times: WorkerSettings) {
    let w = w.clone();
    tokio::spawn(async move { w.run_worker_with(times).await });
}

// spec: SCALE-04
#[tokio::test]
async fn tools_are_capped_and_conversations_are_not() {
    let store = Arc::new(MemoryStore::new());
    let gate = Arc::new(Notify::new());
    let probe = ProbeTool::read("Look").with_gate(&gate);
    let w = windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&probe))
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .start()
        .await
        .unwrap();
    work(&w, TIMES);
    for nth in 0..200 {
        send(store.as_ref(), &format!("lane-{nth}")).await;
    }
    wait_until("sixty-four execute", || probe.run_count() == 64).await;
    pause(200).await;
    assert_eq!(probe.run_count(), 64, "the others wait for their turn");
    let driven = store.owner_heartbeats().await.unwrap();
    assert_eq!(driven.len(), 1);
    while finished_run_count(store.as_ref()).await < 200 {
        gate.notify_waiters();
        pause(5).await;
    }
    assert_eq!(probe.run_count(), 200);
    w.hand_over();
}

// spec: SCALE-04
#[tokio::test]
async fn the_number_of_tools_at_once_can_be_set_within_bounds() {
    let store = Arc::new(MemoryStore::new());
    let gate = Arc::new(Notify::new());
    let probe = ProbeTool::read("Look").with_gate(&gate);
    let builder = || {
        windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&probe))
            .shared_store(Arc::clone(&store) as Arc<dyn Store>)
    };
    for bad in [0, 1_025] {
        let error = builder().tools_at_once(bad).start().await.err().unwrap().to_string();
        assert!(error.contains("tools_at_once") && error.contains("between 1 and 1024"), "{error}");
    }
    let w = builder().tools_at_once(3).start().await.unwrap();
    work(&w, TIMES);
    for nth in 0..10 {
        send(store.as_ref(), &format!("lane-{nth}")).await;
    }
    wait_until("three execute", || probe.run_count() == 3).await;
    pause(200).await;
    assert_eq!(probe.run_count(), 3, "the others wait for their turn");
    while finished_run_count(store.as_ref()).await < 10 {
        gate.notify_waiters();
        pause(5).await;
    }
    assert_eq!(probe.run_count(), 10);
    w.hand_over();
}

// spec: SCALE-05
#[tokio::test]
async fn a_stuck_run_and_a_greedy_tenant_starve_nobody() {
    let store = Arc::new(MemoryStore::new());
    let stuck = ProbeTool::read("Hang").with_gate(&Arc::new(Notify::new()));
    let probe = ProbeTool::read("Look");
    let script = format!("when user is \"hang\" and results 0\n  call Hang {{}}\n{STUCK_OR_NOT}");
    let w = windlass_builder(&script, MemoryStore::new(), &[stuck.clone(), probe.clone()])
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .start()
        .await
        .unwrap();
    w.session("stuck").send("hang").await.unwrap().detach();
    wait_until("it hangs", || stuck.run_count() == 1).await;
    for nth in 0..500 {
        let lane = format!("greedy-{nth:03}");
        let affinity = Affinity { tenant: "greedy".into(), ..Affinity::default() };
        store.register_lane(LaneId::from(lane.as_str()), affinity).await.unwrap();
        send(store.as_ref(), &lane).await;
    }
    let affinity = Affinity { tenant: "modest".into(), ..Affinity::default() };
    store.register_lane(LaneId::from("zz-modest"), affinity).await.unwrap();
    send(store.as_ref(), "zz-modest").await;
    work(&w, TIMES);
    let modest = LaneId::from("zz-modest");
    for _ in 0..2_000 {
        let runs = store.list_runs(Some(modest.clone()), 1).await.unwrap();
        if runs.iter().any(|run| run.cause.is_some()) {
            break;
        }
        pause(1).await;
    }
    let before_it = finished_run_count(store.as_ref()).await;
    assert!(before_it < 400, "it came after {before_it} of the greedy tenant's");
    wait_for_finished_runs(store.as_ref(), 501).await;
    assert_eq!(probe.run_count(), 501, "the stuck one is still stuck, and nobody else is");
    w.hand_over();
}

// spec: SCALE-06
#[tokio::test]
async fn a_worker_leaves_what_is_not_within_its_reach() {
    let store = Arc::new(MemoryStore::new());
    let probe = ProbeTool::read("Look");
    let worker = |folder: &'static str| {
        windlass_builder(ONE_CALL, MemoryStore::new(), std::slice::from_ref(&probe))
            .shared_store(Arc::clone(&store) as Arc<dyn Store>)
            .workspace(Path::new(folder))
            .start()
    };
    let here = worker("/here").await.unwrap();
    // Enqueued for a worker with another workspace, and for one with an agent that is not here.
    worker("/there").await.unwrap().session("there").enqueue("go").await.unwrap();
    let affinity = Affinity { agent: "butler".into(), ..Affinity::default() };
    store.register_lane(LaneId::from("butler"), affinity).await.unwrap();
    send(store.as_ref(), "butler").await;
    here.session("here").enqueue("go").await.unwrap();
    send(store.as_ref(), "anywhere").await;
    work(&here, TIMES);
    wait_for_finished_runs(store.as_ref(), 2).await;
    pause(200).await;
    // The one that belongs to no workspace was driven without the tools of this one.
    assert_eq!((finished_run_count(store.as_ref()).await, probe.run_count()), (2, 1));
    let there = worker("/there").await.unwrap();
    work(&there, TIMES);
    wait_for_finished_runs(store.as_ref(), 3).await;
    here.hand_over();
    there.hand_over();
}

// spec: SCALE-08, FAULT-59
#[tokio::test]
async fn parked_conversations_hold_no_task() {
    let store = Arc::new(MemoryStore::new());
    let script = "when any\n  call Look {}\n";
    let w = windlass_builder(script, MemoryStore::new(), &[ProbeTool::once_only("Look")])
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .settings(|settings| {
            settings.rules.default_decision = windlass::core::permission::DefaultDecision::Ask;
        })
        .start()
        .await
        .unwrap();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for nth in 0..1_000 {
        let run = w.session(format!("lane-{nth}")).send("go").await.unwrap();
        assert!(matches!(run.wait_for_end().await.unwrap(), windlass::RunOutcome::Parked(_)));
    }
    pause(20).await;
    assert_eq!(tasks(), before);
    work(&w, TIMES);
    pause(100).await;
    assert_eq!(tasks(), before + 1, "nobody is woken for nothing");
    w.hand_over();
}
