//! Early calls, which run while the model still streams: when their results count, and when they
//! run again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::Notify;
use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::call_order::TouchedResources;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::log::ids::UnixMillis;
use windlass::core::log::input::ModelFailure;
use windlass::core::message::content_block::{BlockKind, ContentBlock};
use windlass::core::message::raw_json::RawJson;
use windlass::core::message::reply::{ModelReply, StopReason, TokenUsage};
use windlass::core::message::request::ModelRequest;
use windlass::core::message::transcript::SegmentKind;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{BoxFuture, CallContext, Clock, Model, ReplyObserver, Tool};
use windlass::{LeaseTimes, RunOutcome, SystemClock, Windlass, WindlassBuilder};

use crate::kit::{pause, wait_until};

/// How long a run may take before it counts as stuck.
const STUCK: Duration = Duration::from_secs(30);

/// A model that announces calls while it streams, waits, and replies with calls that may be others.
struct AnnouncingModel {
    announced: Vec<ContentBlock>,
    replied: Vec<ContentBlock>,
    reply: Arc<Notify>,
}

impl Model for AnnouncingModel {
    fn call(
        &self,
        request: ModelRequest,
        stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        let answered = request.transcript.segments().iter().any(|s| s.kind == SegmentKind::Reply);
        Box::pin(async move {
            if answered {
                return Ok(reply(vec![ContentBlock::text("done")], "end_turn"));
            }
            for (index, block) in (0_u16..).zip(&self.announced) {
                stream.on_block(index, block);
            }
            self.reply.notified().await;
            Ok(reply(self.replied.clone(), "tool_use"))
        })
    }
}

fn reply(blocks: Vec<ContentBlock>, stop: &str) -> ModelReply {
    ModelReply {
        blocks,
        truncated_block: None,
        stop_reason: StopReason::from(stop),
        stop_sequence: None,
        usage: TokenUsage::default(),
        envelope: None,
    }
}

/// The input of a call.
#[derive(Deserialize)]
struct Input {
    name: String,
    #[serde(default)]
    writes: bool,
    file: String,
}

fn call(id: &str, input: &str) -> ContentBlock {
    ContentBlock::tool_use(id, "Step", &RawJson::parse(input).unwrap())
}

/// A tool that records which calls started, and lets a call end only when its gate is open.
#[derive(Clone, Default)]
struct StepTool {
    began: Arc<Mutex<Vec<String>>>,
    gates: Arc<BTreeMap<&'static str, Arc<Notify>>>,
}

impl StepTool {
    fn gated(names: &[&'static str]) -> Self {
        let gates = names.iter().map(|name| (*name, Arc::default())).collect();
        Self { gates: Arc::new(gates), ..Self::default() }
    }

    fn started_calls(&self) -> Vec<String> {
        self.began.lock().unwrap().clone()
    }

    fn has_started(&self, name: &str) -> bool {
        self.started_calls().iter().any(|begun| begun == name)
    }

    fn release_call(&self, name: &str) {
        self.gates.get(name).unwrap().notify_one();
    }
}

impl Tool for StepTool {
    fn spec(&self) -> ToolSpec {
        let input_schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Step"), description: Arc::from("a step"), input_schema }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let input: Input = input.read().unwrap();
        let file = vec![Arc::from(input.file)];
        let (touches, repeat) = match input.writes {
            true => (TouchedResources::Writes(file), Repeatability::OnceOnly),
            false => (TouchedResources::Reads(file), Repeatability::Repeatable),
        };
        CallFacts { touches, repeat, ..CallFacts::default() }
    }

    fn run(&self, _context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let name = input.read::<Input>().unwrap().name;
        self.began.lock().unwrap().push(name.clone());
        Box::pin(async move {
            if let Some(gate) = self.gates.get(name.as_str()) {
                gate.notified().await;
            }
            ToolOutcome::Done(RawJson::string(&format!("result of {name}")))
        })
    }
}

fn builder(
    announced: &[ContentBlock],
    replied: &[ContentBlock],
    step: &StepTool,
) -> (WindlassBuilder, Arc<Notify>) {
    let reply = Arc::new(Notify::new());
    let model = AnnouncingModel {
        announced: announced.to_vec(),
        replied: replied.to_vec(),
        reply: Arc::clone(&reply),
    };
    let builder = Windlass::builder()
        .model(model)
        .store(MemoryStore::new())
        .tool(step.clone())
        .allow_by_default();
    (builder, reply)
}

/// The results of a run that must end within a time limit, in the order in which the model reads
/// them.
async fn results(windlass: &Windlass, run: windlass::RunStream) -> Vec<String> {
    let end = tokio::time::timeout(STUCK, run.wait_for_end()).await;
    let end = end.unwrap_or_else(|_| panic!("the run is stuck")).unwrap();
    assert!(matches!(&end, RunOutcome::Finished(ended) if &*ended.text == "done"), "{end:?}");
    let transcript = windlass.session("lane").load_conversation().await.unwrap().transcript;
    let blocks = transcript.segments().iter().flat_map(|segment| segment.blocks.iter());
    let results = blocks.filter(|block| matches!(block.kind(), BlockKind::ToolResult { .. }));
    results.map(|block| block.raw().text().to_owned()).collect()
}

/// Two calls may run at once. A writes, so it waits for the reply; B and C run early, and C returns
/// before B. With the reply A and B have the two slots, and C is started only when B's result
/// counts, which is in the same step: C must be started again then, and not be taken for one that
/// still runs.
#[tokio::test]
async fn a_call_that_came_back_before_its_turn_runs_again_when_its_turn_comes() {
    let calls = [
        call("a", r#"{"name": "a", "file": "one", "writes": true}"#),
        call("b", r#"{"name": "b", "file": "two"}"#),
        call("c", r#"{"name": "c", "file": "three"}"#),
    ];
    let step = StepTool::gated(&["a", "b"]);
    let (builder, reply) = builder(&calls, &calls, &step);
    let builder = builder.settings(|settings| settings.limits.parallel_calls = 2);
    let w = builder.start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    wait_until("B and C run ahead", || step.has_started("b") && step.has_started("c")).await;
    assert!(!step.has_started("a"), "what writes waits for the reply");
    // C has no gate: its result has arrived by now. B's arrives together with the reply.
    pause(50).await;
    step.release_call("b");
    reply.notify_one();
    wait_until("A runs", || step.has_started("a")).await;
    step.release_call("a");
    let results = results(&w, run).await;
    assert_eq!(results.len(), 3, "{results:?}");
    for (name, result) in ["a", "b", "c"].iter().zip(&results) {
        assert!(result.contains(&format!("result of {name}")), "{results:?}");
    }
    let times = |name: &str| step.started_calls().iter().filter(|begun| *begun == name).count();
    assert_eq!((times("a"), times("b"), times("c")), (1, 1, 2), "{:?}", step.started_calls());
}

/// A call was started early because nothing before it touches its file. In the reply the call
/// before it is another one: whether it writes that file, or only reads another, makes no
/// difference.
#[tokio::test]
async fn a_call_runs_again_if_a_call_before_it_is_not_the_announced_one() {
    let look = call("b", r#"{"name": "look", "file": "two"}"#);
    let announced = [call("a", r#"{"name": "announced", "file": "one"}"#), look.clone()];
    for other in [
        r#"{"name": "other", "file": "two", "writes": true}"#,
        r#"{"name": "other", "file": "three"}"#,
    ] {
        let replied = [call("a", other), look.clone()];
        let step = StepTool::default();
        let (builder, reply) = builder(&announced, &replied, &step);
        let w = builder.start().await.unwrap();
        let run = w.session("lane").send("go").await.unwrap();
        wait_until("both run ahead", || step.started_calls().len() == 2).await;
        reply.notify_one();
        assert_eq!(results(&w, run).await.len(), 2);
        assert_eq!(step.started_calls(), ["announced", "look", "other", "look"], "{other}");
    }
}

type Interrupt = Box<dyn FnOnce() + Send>;

/// A clock that runs something while the driver waits a moment for the results of early calls.
#[derive(Clone)]
struct InterruptingClock {
    clock: Arc<SystemClock>,
    /// Taken by the wait that is interrupted.
    interrupt: Arc<Mutex<Option<Interrupt>>>,
    armed: Arc<AtomicBool>,
}

/// How long a reply waits for early calls; nothing else in this test waits for exactly this time.
const REPLY_WAIT_MS: u64 = 2;

impl Clock for InterruptingClock {
    fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.clock.monotonic_ms()
    }

    fn sleep(&self, ms: u64) -> BoxFuture<'_, ()> {
        if ms != REPLY_WAIT_MS || !self.armed.load(Ordering::SeqCst) {
            return self.clock.sleep(ms);
        }
        let interrupt = self.interrupt.lock().unwrap().take();
        Box::pin(async move {
            if let Some(interrupt) = interrupt {
                interrupt();
            }
        })
    }
}

/// The announced call and the one in the reply have the same index but different inputs. The result
/// of the first is in the driver's queue at the very moment it is aborted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "the test holds the driver's thread up")]
async fn the_result_of_a_recalled_call_never_counts_for_the_call_in_its_place() {
    let announced = [call("a", r#"{"name": "announced", "file": "one"}"#)];
    let replied = [call("a", r#"{"name": "replied", "file": "one"}"#)];
    let step = StepTool::gated(&["announced", "replied"]);
    let (builder, reply) = builder(&announced, &replied, &step);
    let (done, waited) = mpsc::channel();
    let opened = step.clone();
    // Runs on the driver's thread, after it found its queue empty: a result that arrives now is
    // noticed only after the abort. The runtime's other thread runs the call to its end meanwhile;
    // a task that is woken from this thread would wait for it.
    let interrupt = move || {
        std::thread::spawn(move || opened.release_call("announced")).join().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        done.send(()).unwrap();
    };
    let clock = InterruptingClock {
        clock: Arc::new(SystemClock::start()),
        interrupt: Arc::new(Mutex::new(Some(Box::new(interrupt)))),
        armed: Arc::default(),
    };
    // A blocked thread must not cost the lease.
    let lease = LeaseTimes { heartbeat_ms: 3_000, expiry_ms: 60_000 };
    let w = builder.clock(clock.clone()).lease(lease).start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    wait_until("it runs ahead", || step.has_started("announced")).await;
    clock.armed.store(true, Ordering::SeqCst);
    reply.notify_one();
    wait_until("it is called again", || step.has_started("replied")).await;
    waited.try_recv().unwrap();
    pause(50).await;
    step.release_call("replied");
    let results = results(&w, run).await;
    assert!(results.len() == 1 && results[0].contains("result of replied"), "{results:?}");
}
