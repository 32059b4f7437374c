//! Calls that run while the model still streams: when their results count, and when they run again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::Notify;
use windlass::core::block::{Block, Kind};
use windlass::core::facts::{Facts, Repeat};
use windlass::core::ids::Millis;
use windlass::core::input::Failure;
use windlass::core::order::Touches;
use windlass::core::outcome::Outcome;
use windlass::core::raw::Raw;
use windlass::core::reply::{Reply, StopReason, Usage};
use windlass::core::request::Request;
use windlass::core::settings::ToolSpec;
use windlass::core::transcript::Part;
use windlass::memory::MemoryStore;
use windlass::ports::{CallContext, Clock, Model, Stream, Task, Tool};
use windlass::{Builder, End, LeaseTimes, SystemClock, Windlass};

use crate::kit::{eventually, pause};

/// How long a run may take before it counts as stuck.
const STUCK: Duration = Duration::from_secs(30);

/// Announces calls while it streams, waits, and replies with calls that may be others.
struct Announcing {
    announced: Vec<Block>,
    replied: Vec<Block>,
    reply: Arc<Notify>,
}

impl Model for Announcing {
    fn ask(&self, request: Request, stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        let answered = request.transcript.segments().iter().any(|s| s.part == Part::Reply);
        Box::pin(async move {
            if answered {
                return Ok(reply(vec![Block::text("done")], "end_turn"));
            }
            for (index, block) in (0_u16..).zip(&self.announced) {
                stream.block(index, block);
            }
            self.reply.notified().await;
            Ok(reply(self.replied.clone(), "tool_use"))
        })
    }
}

fn reply(blocks: Vec<Block>, stop: &str) -> Reply {
    Reply {
        blocks,
        cut: None,
        stop_reason: StopReason::from(stop),
        stop_sequence: None,
        usage: Usage::default(),
        envelope: None,
    }
}

/// What a call says about itself.
#[derive(Deserialize)]
struct Input {
    name: String,
    #[serde(default)]
    writes: bool,
    file: String,
}

fn call(id: &str, input: &str) -> Block {
    Block::tool_use(id, "Step", &Raw::parse(input).unwrap())
}

/// Writes down which calls began, and lets a call end only when its gate is open.
#[derive(Clone, Default)]
struct Step {
    began: Arc<Mutex<Vec<String>>>,
    gates: Arc<BTreeMap<&'static str, Arc<Notify>>>,
}

impl Step {
    fn gated(names: &[&'static str]) -> Self {
        let gates = names.iter().map(|name| (*name, Arc::default())).collect();
        Self { gates: Arc::new(gates), ..Self::default() }
    }

    fn began(&self) -> Vec<String> {
        self.began.lock().unwrap().clone()
    }

    fn has_begun(&self, name: &str) -> bool {
        self.began().iter().any(|begun| begun == name)
    }

    fn let_end(&self, name: &str) {
        self.gates.get(name).unwrap().notify_one();
    }
}

impl Tool for Step {
    fn spec(&self) -> ToolSpec {
        let input_schema = Raw::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Step"), description: Arc::from("a step"), input_schema }
    }

    fn assess(&self, input: &Raw) -> Facts {
        let input: Input = input.read().unwrap();
        let file = vec![Arc::from(input.file)];
        let (touches, repeat) = match input.writes {
            true => (Touches::Writes(file), Repeat::OnceOnly),
            false => (Touches::Reads(file), Repeat::Repeatable),
        };
        Facts { touches, repeat, ..Facts::default() }
    }

    fn run(&self, _context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let name = input.read::<Input>().unwrap().name;
        self.began.lock().unwrap().push(name.clone());
        Box::pin(async move {
            if let Some(gate) = self.gates.get(name.as_str()) {
                gate.notified().await;
            }
            Outcome::Done(Raw::string(&format!("result of {name}")))
        })
    }
}

fn builder(announced: &[Block], replied: &[Block], step: &Step) -> (Builder, Arc<Notify>) {
    let reply = Arc::new(Notify::new());
    let model = Announcing {
        announced: announced.to_vec(),
        replied: replied.to_vec(),
        reply: Arc::clone(&reply),
    };
    let builder = Windlass::builder()
        .model(model)
        .store(MemoryStore::new())
        .tool(step.clone())
        .allow_everything_else();
    (builder, reply)
}

/// The results of a run that must end within a bound, in the order in which the model reads them.
async fn results(windlass: &Windlass, run: windlass::RunStream) -> Vec<String> {
    let end = tokio::time::timeout(STUCK, run.end()).await;
    let end = end.unwrap_or_else(|_| panic!("the run is stuck")).unwrap();
    assert!(matches!(&end, End::Finished(ended) if &*ended.text == "done"), "{end:?}");
    let transcript = windlass.session("lane").conversation().await.unwrap().transcript;
    let blocks = transcript.segments().iter().flat_map(|segment| segment.blocks.iter());
    let results = blocks.filter(|block| matches!(block.kind(), Kind::ToolResult { .. }));
    results.map(|block| block.raw().text().to_owned()).collect()
}

/// Two calls may run at once. A writes, so it waits for the reply; B and C run ahead, and C comes
/// back before B. With the reply A and B have the two places, and C's turn comes only when B's
/// result counts, which is in the same step: C must be started again then, and not be taken for
/// one that still runs.
#[tokio::test]
async fn a_call_that_came_back_before_its_turn_runs_again_when_its_turn_comes() {
    let calls = [
        call("a", r#"{"name": "a", "file": "one", "writes": true}"#),
        call("b", r#"{"name": "b", "file": "two"}"#),
        call("c", r#"{"name": "c", "file": "three"}"#),
    ];
    let step = Step::gated(&["a", "b"]);
    let (builder, reply) = builder(&calls, &calls, &step);
    let builder = builder.settings(|settings| settings.limits.parallel_calls = 2);
    let w = builder.start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    eventually("B and C run ahead", || step.has_begun("b") && step.has_begun("c")).await;
    assert!(!step.has_begun("a"), "what writes waits for the reply");
    // C has no gate: its result is there by now. B's comes together with the reply.
    pause(50).await;
    step.let_end("b");
    reply.notify_one();
    eventually("A runs", || step.has_begun("a")).await;
    step.let_end("a");
    let results = results(&w, run).await;
    assert_eq!(results.len(), 3, "{results:?}");
    for (name, result) in ["a", "b", "c"].iter().zip(&results) {
        assert!(result.contains(&format!("result of {name}")), "{results:?}");
    }
    let times = |name: &str| step.began().iter().filter(|begun| *begun == name).count();
    assert_eq!((times("a"), times("b"), times("c")), (1, 1, 2), "{:?}", step.began());
}

/// A call was let run ahead because nothing before it touches its file. In the reply the call before
/// it is another one: that it writes the very file, or only looks elsewhere, makes no difference.
#[tokio::test]
async fn a_call_runs_again_if_a_call_before_it_is_not_the_announced_one() {
    let look = call("b", r#"{"name": "look", "file": "two"}"#);
    let announced = [call("a", r#"{"name": "announced", "file": "one"}"#), look.clone()];
    for other in [
        r#"{"name": "other", "file": "two", "writes": true}"#,
        r#"{"name": "other", "file": "three"}"#,
    ] {
        let replied = [call("a", other), look.clone()];
        let step = Step::default();
        let (builder, reply) = builder(&announced, &replied, &step);
        let w = builder.start().await.unwrap();
        let run = w.session("lane").send("go").await.unwrap();
        eventually("both run ahead", || step.began().len() == 2).await;
        reply.notify_one();
        assert_eq!(results(&w, run).await.len(), 2);
        assert_eq!(step.began(), ["announced", "look", "other", "look"], "{other}");
    }
}

type Interrupt = Box<dyn FnOnce() + Send>;

/// A clock that runs something while the driver waits a moment for the results of early calls.
#[derive(Clone)]
struct Interrupting {
    clock: Arc<SystemClock>,
    /// Taken out by the wait that is interrupted.
    interrupt: Arc<Mutex<Option<Interrupt>>>,
    armed: Arc<AtomicBool>,
}

/// How long a reply waits for early calls; nothing else of this test waits exactly so long.
const REPLY_WAIT_MS: u64 = 2;

impl Clock for Interrupting {
    fn now(&self) -> Millis {
        self.clock.now()
    }

    fn monotonic_ms(&self) -> u64 {
        self.clock.monotonic_ms()
    }

    fn sleep(&self, ms: u64) -> Task<'_, ()> {
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

/// The announced call and the one of the reply have the same place but ask for different things. The
/// result of the first lies in the driver's inbox at the very moment it is recalled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "the test holds the driver's thread up")]
async fn the_result_of_a_recalled_call_never_counts_for_the_call_in_its_place() {
    let announced = [call("a", r#"{"name": "announced", "file": "one"}"#)];
    let replied = [call("a", r#"{"name": "replied", "file": "one"}"#)];
    let step = Step::gated(&["announced", "replied"]);
    let (builder, reply) = builder(&announced, &replied, &step);
    let (done, waited) = mpsc::channel();
    let opened = step.clone();
    // Runs on the driver's thread, after it found its inbox empty: whatever lands now is noticed
    // only after the recall. The runtime's other thread runs the call to its end meanwhile; a task
    // that is woken from this thread would wait for it.
    let interrupt = move || {
        std::thread::spawn(move || opened.let_end("announced")).join().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        done.send(()).unwrap();
    };
    let clock = Interrupting {
        clock: Arc::new(SystemClock::start()),
        interrupt: Arc::new(Mutex::new(Some(Box::new(interrupt)))),
        armed: Arc::default(),
    };
    // A blocked thread must not cost the lease.
    let lease = LeaseTimes { beat_ms: 3_000, expiry_ms: 60_000 };
    let w = builder.clock(clock.clone()).lease(lease).start().await.unwrap();
    let run = w.session("lane").send("go").await.unwrap();
    eventually("it runs ahead", || step.has_begun("announced")).await;
    clock.armed.store(true, Ordering::SeqCst);
    reply.notify_one();
    eventually("it is called again", || step.has_begun("replied")).await;
    waited.try_recv().unwrap();
    pause(50).await;
    step.let_end("replied");
    let results = results(&w, run).await;
    assert!(results.len() == 1 && results[0].contains("result of replied"), "{results:?}");
}
