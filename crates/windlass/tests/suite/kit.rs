//! Helpers of the tests: a Windlass with a script, and a tool that does what a test says.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use windlass::core::call::call_facts::{
    AnsweredBy, CallFacts, Interruptibility, ProbeSupport, Repeatability,
};
use windlass::core::call::call_order::TouchedResources;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::log::input::ProbeResult;
use windlass::core::message::raw_json::RawJson;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::ports::{BoxFuture, CallContext, Store, Tool};
use windlass::scripted::Script;
use windlass::{LeaseTimes, Windlass, WindlassBuilder};

/// Starts a Windlass that answers from `script`, allows everything, and has `tools`.
pub(crate) async fn start_windlass(
    script: &str,
    store: impl Store,
    tools: &[ProbeTool],
) -> Windlass {
    windlass_builder(script, store, tools).start().await.unwrap()
}

/// The builder of such a Windlass, before it is started.
pub(crate) fn windlass_builder(
    script: &str,
    store: impl Store,
    tools: &[ProbeTool],
) -> WindlassBuilder {
    let mut builder = Windlass::builder()
        .scripted_model(Script::parse(script).unwrap())
        .store(store)
        .allow_by_default()
        // Short, and long enough for a busy machine.
        .lease(LeaseTimes { heartbeat_ms: 50, expiry_ms: 400 });
    for tool in tools {
        // Probe tools repeat the same call; these tests are not about loops.
        let name = Arc::from(tool.name);
        builder = builder.tool(tool.clone()).settings(|settings| {
            settings.guards.exempt.push(name);
            settings.limits.loop_window_calls = 30;
            settings.limits.loop_identical_calls = 30;
        });
    }
    builder
}

/// A tool that counts its runs and waits where a test wants it to.
#[derive(Clone)]
pub(crate) struct ProbeTool {
    name: &'static str,
    repeat: Repeatability,
    touches: TouchedResources,
    gate: Option<Arc<Notify>>,
    probe_result: Option<ProbeResult>,
    pub(crate) runs: Arc<AtomicU32>,
    pub(crate) keys: Arc<Mutex<Vec<String>>>,
}

impl ProbeTool {
    /// Creates a tool with side effects.
    pub(crate) fn once_only(name: &'static str) -> Self {
        Self {
            name,
            repeat: Repeatability::OnceOnly,
            touches: TouchedResources::Exclusive,
            gate: None,
            probe_result: None,
            runs: Arc::default(),
            keys: Arc::default(),
        }
    }

    /// Creates a tool that only reads.
    pub(crate) fn read(name: &'static str) -> Self {
        let touches = TouchedResources::Reads(vec![Arc::from(name)]);
        Self { repeat: Repeatability::Repeatable, touches, ..Self::once_only(name) }
    }

    /// Makes the tool wait for `gate` before it returns.
    pub(crate) fn with_gate(mut self, gate: &Arc<Notify>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }

    /// Sets what the tool finds out about an interrupted call.
    pub(crate) fn with_probe_result(mut self, result: ProbeResult) -> Self {
        self.probe_result = Some(result);
        self
    }

    pub(crate) fn run_count(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }
}

impl Tool for ProbeTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(self.name),
            description: Arc::from("a probe"),
            input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts {
            touches: self.touches.clone(),
            repeat: self.repeat,
            interrupt: Interruptibility::Interruptible,
            probe: if self.probe_result.is_some() {
                ProbeSupport::Supported
            } else {
                ProbeSupport::Unsupported
            },
            answered_by: AnsweredBy::Tool,
            timeout_ms: 60_000,
            problem: None,
            summary: None,
            ..CallFacts::default()
        }
    }

    fn run(&self, context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.keys.lock().unwrap().push(context.idempotency_key.to_string());
        Box::pin(async move {
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            ToolOutcome::Done(RawJson::string("probed"))
        })
    }

    fn probe(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ProbeResult> {
        let result = self.probe_result.clone().unwrap_or(ProbeResult::Unknown {});
        Box::pin(std::future::ready(result))
    }
}

/// Runs `work` with a subscriber of `tracing` for this thread. As long as there is only one, an
/// event that a thread without it reaches first is switched off for all threads; so there are two.
pub(crate) fn with_subscriber<T>(
    subscriber: impl Into<tracing::Dispatch>,
    work: impl FnOnce() -> T,
) -> T {
    let _other = tracing::Dispatch::new(tracing_subscriber::registry());
    let subscriber = subscriber.into();
    tracing::dispatcher::with_default(&subscriber, work)
}

/// Waits until `condition` holds; fails after twenty seconds, which a loaded machine may need.
pub(crate) async fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..4_000 {
        if condition() {
            return;
        }
        pause(5).await;
    }
    panic!("never happened: {what}");
}

#[expect(clippy::disallowed_methods, reason = "tests wait for other threads")]
pub(crate) async fn pause(ms: u64) {
    tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
}
