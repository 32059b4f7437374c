//! Code that blocks its thread, which no abort can end: the run ends at its hard limit all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use windlass::core::conversation::Conversation;
use windlass::core::facts::{Facts, Repeat};
use windlass::core::ids::LaneId;
use windlass::core::limits::Times;
use windlass::core::log::Entry;
use windlass::core::outcome::Outcome;
use windlass::core::raw::Raw;
use windlass::core::settings::ToolSpec;
use windlass::memory::{MemoryStore, Operation};
use windlass::ports::{CallContext, Store, Task, Tool};
use windlass::{Builder, End, StopCause};

use crate::kit::{Probe, builder, eventually, pause};

/// Blocks whoever comes to it until it is opened, which the test does at its end: a runtime that is
/// dropped waits for its threads.
#[derive(Clone, Default)]
struct Block {
    reached: Arc<AtomicBool>,
    opened: Arc<AtomicBool>,
}

impl Block {
    #[expect(clippy::disallowed_methods, reason = "this is what blocks a thread")]
    fn wait(&self) {
        self.reached.store(true, Ordering::SeqCst);
        while !self.opened.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn is_reached(&self) -> bool {
        self.reached.load(Ordering::SeqCst)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // Also where the test fails.
        if std::thread::panicking() {
            self.opened.store(true, Ordering::SeqCst);
        }
    }
}

/// The soft limit comes so shortly before the hard one that a driver that is stuck misses both.
fn with_hard_limit(builder: Builder) -> Builder {
    builder.settings(|settings| {
        settings.times = Some(Times { soft_ms: 990, hard_ms: 1_000, grace_ms: 0 });
    })
}

async fn cause_of_end(store: &dyn Store) -> StopCause {
    for _ in 0..4_000 {
        let runs = store.runs(None, 1).await.unwrap();
        if let Some(cause) = runs.first().and_then(|run| run.cause) {
            return cause;
        }
        pause(10).await;
    }
    panic!("the run never ended");
}

// spec: SCALE-11
/// The driver's own thread is blocked within an append, as by a store that does not answer. Its
/// process goes on beating.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_driver_that_blocks_its_thread_is_replaced_and_writes_nothing_afterwards() {
    // The beginning of the run is stored, its first reply is not.
    blocked_at(1).await;
    // The reply is stored, the result of its call is not: that the call ran is not in the log.
    let log = blocked_at(2).await;
    let told: String = log.iter().map(Entry::encode).collect();
    assert!(!told.contains("it did not run"), "{told}");
}

/// The log of a run whose driver was blocked at the append of this number.
async fn blocked_at(number: u32) -> Vec<Entry> {
    let (block, appends) = (Block::default(), AtomicU32::new(0));
    let reached = block.clone();
    let hook = move |operation| -> Task<'static, ()> {
        if operation == Operation::Append && appends.fetch_add(1, Ordering::SeqCst) == number {
            reached.wait();
        }
        Box::pin(std::future::ready(()))
    };
    let store = Arc::new(MemoryStore::new().with_hook(Arc::new(hook)));
    let look = Probe::read("Look");
    let base =
        builder("when any\n  call Look {}\n", MemoryStore::new(), std::slice::from_ref(&look));
    // A call that ran ahead of its reply would be stored together with it.
    let builder = with_hard_limit(base)
        .settings(|settings| settings.limits.early_calls = 0)
        .shared_store(Arc::clone(&store) as Arc<dyn Store>);
    let w = builder.start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    eventually("the driver is blocked", || block.is_reached()).await;
    let cause = cause_of_end(store.as_ref()).await;
    assert_eq!(cause, StopCause::HardTime);
    let head = store.lane(LaneId::from("lane")).await.unwrap().unwrap().head;
    block.opened.store(true, Ordering::SeqCst);
    let end = run.end().await.unwrap();
    assert!(matches!(&end, End::Finished(ended) if ended.cause == cause), "{end:?}");
    // The first driver comes back now and finds that the lane is another's.
    pause(200).await;
    assert_eq!(store.lane(LaneId::from("lane")).await.unwrap().unwrap().head, head);
    assert_eq!(store.runs(None, 9).await.unwrap().len(), 1);
    let log = w.session("lane").log().await.unwrap();
    let mut again = Conversation::default();
    for entry in &log {
        again.verify(entry).unwrap();
    }
    log
}

/// A tool that blocks the thread it runs on.
#[derive(Clone, Default)]
struct Blocking(Block);

impl Tool for Blocking {
    fn spec(&self) -> ToolSpec {
        let input_schema = Raw::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Stall"), description: Arc::from("stalls"), input_schema }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        Facts { repeat: Repeat::OnceOnly, ..Facts::default() }
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        Box::pin(async move {
            self.0.wait();
            Outcome::Done(Raw::string("late"))
        })
    }
}

// spec: SCALE-11
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_that_blocks_its_thread_does_not_keep_its_run_from_ending() {
    let (store, tool) = (Arc::new(MemoryStore::new()), Blocking::default());
    let builder = builder("when any\n  call Stall {}\n", MemoryStore::new(), &[]);
    let builder = with_hard_limit(builder)
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .tool(tool.clone());
    let w = builder.start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    eventually("the tool runs", || tool.0.is_reached()).await;
    let cause = cause_of_end(store.as_ref()).await;
    assert!(matches!(cause, StopCause::HardTime | StopCause::SoftTime), "{cause:?}");
    tool.0.opened.store(true, Ordering::SeqCst);
    let end = run.end().await.unwrap();
    assert!(matches!(&end, End::Finished(ended) if ended.cause == cause), "{end:?}");
}
