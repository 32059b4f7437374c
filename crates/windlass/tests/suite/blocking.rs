//! Code that blocks its thread, which no abort can end: the run still ends at its hard limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::LaneId;
use windlass::core::message::raw_json::RawJson;
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::core::settings::limits::RunTimeLimits;
use windlass::memory::{MemoryStore, StoreOperation};
use windlass::ports::{BoxFuture, CallContext, Store, Tool};
use windlass::{RunOutcome, StopCause, WindlassBuilder};

use crate::kit::{ProbeTool, pause, wait_until, windlass_builder};

/// Blocks every thread that reaches it until it is opened, which the test does at its end: a
/// runtime that is dropped waits for its threads.
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
        // Also if the test fails.
        if std::thread::panicking() {
            self.opened.store(true, Ordering::SeqCst);
        }
    }
}

/// The soft limit is so close to the hard one that a stuck driver misses both.
fn with_hard_limit(builder: WindlassBuilder) -> WindlassBuilder {
    builder.settings(|settings| {
        settings.times = Some(RunTimeLimits { soft_ms: 990, hard_ms: 1_000, grace_ms: 0 });
    })
}

async fn cause_of_end(store: &dyn Store) -> StopCause {
    for _ in 0..4_000 {
        let runs = store.list_runs(None, 1).await.unwrap();
        if let Some(cause) = runs.first().and_then(|run| run.cause) {
            return cause;
        }
        pause(10).await;
    }
    panic!("the run never ended");
}

// spec: SCALE-11
/// The driver's own thread is blocked within an append, as by a store that does not respond. Its
/// process continues to send heartbeats.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_driver_that_blocks_its_thread_is_replaced_and_writes_nothing_afterwards() {
    // The start of the run is stored, its first reply is not.
    blocked_at(1).await;
    // The reply is stored, the result of its call is not: the log does not show that the call ran.
    let log = blocked_at(2).await;
    let output: String = log.iter().map(Entry::encode).collect();
    assert!(!output.contains("it did not run"), "{output}");
}

/// The log of a run whose driver was blocked at the append of this number.
async fn blocked_at(number: u32) -> Vec<Entry> {
    let (block, appends) = (Block::default(), AtomicU32::new(0));
    let reached = block.clone();
    let hook = move |operation| -> BoxFuture<'static, ()> {
        if operation == StoreOperation::Append && appends.fetch_add(1, Ordering::SeqCst) == number {
            reached.wait();
        }
        Box::pin(std::future::ready(()))
    };
    let store = Arc::new(MemoryStore::new().with_hook(Arc::new(hook)));
    let probe = ProbeTool::read("Look");
    let base = windlass_builder(
        "when any\n  call Look {}\n",
        MemoryStore::new(),
        std::slice::from_ref(&probe),
    );
    // An early call would be stored together with its reply.
    let builder = with_hard_limit(base)
        .settings(|settings| settings.limits.early_calls = 0)
        .shared_store(Arc::clone(&store) as Arc<dyn Store>);
    let w = builder.start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    wait_until("the driver is blocked", || block.is_reached()).await;
    let cause = cause_of_end(store.as_ref()).await;
    assert_eq!(cause, StopCause::HardTime);
    let head = store.lane_info(LaneId::from("lane")).await.unwrap().unwrap().head;
    block.opened.store(true, Ordering::SeqCst);
    let end = run.wait_for_end().await.unwrap();
    assert!(matches!(&end, RunOutcome::Finished(ended) if ended.cause == cause), "{end:?}");
    // The first driver returns now and finds that it no longer owns the lane.
    pause(200).await;
    assert_eq!(store.lane_info(LaneId::from("lane")).await.unwrap().unwrap().head, head);
    assert_eq!(store.list_runs(None, 9).await.unwrap().len(), 1);
    let log = w.session("lane").read_log().await.unwrap();
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
        let input_schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Stall"), description: Arc::from("stalls"), input_schema }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts { repeat: Repeatability::OnceOnly, ..CallFacts::default() }
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            self.0.wait();
            ToolOutcome::Done(RawJson::string("late"))
        })
    }
}

// spec: SCALE-11
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_that_blocks_its_thread_does_not_keep_its_run_from_ending() {
    let (store, tool) = (Arc::new(MemoryStore::new()), Blocking::default());
    let builder = windlass_builder("when any\n  call Stall {}\n", MemoryStore::new(), &[]);
    let builder = with_hard_limit(builder)
        .shared_store(Arc::clone(&store) as Arc<dyn Store>)
        .tool(tool.clone());
    let w = builder.start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    wait_until("the tool runs", || tool.0.is_reached()).await;
    let cause = cause_of_end(store.as_ref()).await;
    assert!(matches!(cause, StopCause::HardTime | StopCause::SoftTime), "{cause:?}");
    tool.0.opened.store(true, Ordering::SeqCst);
    let end = run.wait_for_end().await.unwrap();
    assert!(matches!(&end, RunOutcome::Finished(ended) if ended.cause == cause), "{end:?}");
}
