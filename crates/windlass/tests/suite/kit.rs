//! What the tests share: a Windlass around a script, and a tool that does what a test says.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use windlass::core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass::core::input::Finding;
use windlass::core::order::Touches;
use windlass::core::outcome::Outcome;
use windlass::core::raw::Raw;
use windlass::core::settings::ToolSpec;
use windlass::ports::{CallContext, Store, Task, Tool};
use windlass::scripted::Script;
use windlass::{Builder, LeaseTimes, Windlass};

/// A Windlass that answers from `script`, allows everything, and has `tools`.
pub(crate) async fn windlass(script: &str, store: impl Store, tools: &[Probe]) -> Windlass {
    builder(script, store, tools).start().await.unwrap()
}

/// The same before it is started.
pub(crate) fn builder(script: &str, store: impl Store, tools: &[Probe]) -> Builder {
    let mut builder = Windlass::builder()
        .scripted(Script::parse(script).unwrap())
        .store(store)
        .allow_everything_else()
        // Short, and long enough for a machine that does much else.
        .lease(LeaseTimes { beat_ms: 50, expiry_ms: 400 });
    for tool in tools {
        // Probes do the same thing over and over; that is not what these tests are about.
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
pub(crate) struct Probe {
    name: &'static str,
    repeat: Repeat,
    touches: Touches,
    gate: Option<Arc<Notify>>,
    finding: Option<Finding>,
    pub(crate) runs: Arc<AtomicU32>,
    pub(crate) keys: Arc<Mutex<Vec<String>>>,
}

impl Probe {
    /// A tool that changes things.
    pub(crate) fn once_only(name: &'static str) -> Self {
        Self {
            name,
            repeat: Repeat::OnceOnly,
            touches: Touches::Exclusive,
            gate: None,
            finding: None,
            runs: Arc::default(),
            keys: Arc::default(),
        }
    }

    /// A tool that only looks.
    pub(crate) fn read(name: &'static str) -> Self {
        let touches = Touches::Reads(vec![Arc::from(name)]);
        Self { repeat: Repeat::Repeatable, touches, ..Self::once_only(name) }
    }

    /// The same tool, which waits for `gate` before it comes back.
    pub(crate) fn gated(mut self, gate: &Arc<Notify>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }

    /// The same tool, which can tell what became of a lost call.
    pub(crate) fn verified(mut self, finding: Finding) -> Self {
        self.finding = Some(finding);
        self
    }

    pub(crate) fn count(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }
}

impl Tool for Probe {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(self.name),
            description: Arc::from("a probe"),
            input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        Facts {
            touches: self.touches.clone(),
            repeat: self.repeat,
            interrupt: Interrupt::Interruptible,
            verify: if self.finding.is_some() { Verify::CanTell } else { Verify::CannotTell },
            answered_by: AnsweredBy::Tool,
            timeout_ms: 60_000,
            problem: None,
            summary: None,
            ..Facts::default()
        }
    }

    fn run(&self, context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.keys.lock().unwrap().push(context.idempotency_key.to_string());
        Box::pin(async move {
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            Outcome::Done(Raw::string("probed"))
        })
    }

    fn verify(&self, _context: CallContext, _input: Raw) -> Task<'_, Finding> {
        let finding = self.finding.clone().unwrap_or(Finding::Unknown {});
        Box::pin(std::future::ready(finding))
    }
}

/// Runs `work` with a subscriber of `tracing` for this thread. As long as there is only one, an event
/// that a thread without it reaches first is switched off for all threads; so there are two.
pub(crate) fn with_subscriber<T>(
    subscriber: impl Into<tracing::Dispatch>,
    work: impl FnOnce() -> T,
) -> T {
    let _other = tracing::Dispatch::new(tracing_subscriber::registry());
    let subscriber = subscriber.into();
    tracing::dispatcher::with_default(&subscriber, work)
}

/// Waits until `condition` holds; fails after twenty seconds, which a loaded machine may need.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
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
