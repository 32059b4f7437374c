//! Requests, a clock and a stream for the tests of the scripted model.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use windlass_core::block::{Block, ErrorFlag};
use windlass_core::ids::Millis;
use windlass_core::raw::Raw;
use windlass_core::record::ToolChoice;
use windlass_core::request::Request;
use windlass_core::settings::{Model, Settings, ToolSpec};
use windlass_core::transcript::Transcript;
use windlass_runtime::ports::{Clock, Stream, Task};

/// A clock that stands still until somebody sleeps.
#[derive(Default)]
pub(super) struct FakeClock(AtomicU64);

impl Clock for FakeClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: u64) -> Task<'_, ()> {
        Box::pin(async move {
            self.0.fetch_add(ms, Ordering::SeqCst);
        })
    }
}

/// Writes down what arrives and when.
pub(super) struct Listener {
    pub(super) clock: Arc<FakeClock>,
    pub(super) heard: Mutex<Vec<String>>,
}

impl Listener {
    pub(super) fn new(clock: &Arc<FakeClock>) -> Arc<Self> {
        Arc::new(Self { clock: Arc::clone(clock), heard: Mutex::default() })
    }

    pub(super) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    fn note(&self, what: String) {
        let now = self.clock.monotonic_ms();
        self.heard.lock().unwrap().push(format!("{now} {what}"));
    }
}

impl Stream for Listener {
    fn text(&self, piece: &str) {
        self.note(format!("text {piece:?}"));
    }

    fn thinking(&self, piece: &str) {
        self.note(format!("thinking {piece:?}"));
    }

    fn block(&self, index: u16, block: &Block) {
        self.note(format!("block {index} {}", block.raw().text()));
    }
}

/// A request about a transcript, with `Read` and `Bash` on offer.
pub(super) fn request(transcript: Transcript) -> Request {
    let mut settings = Settings::new(Model::named("scripted"));
    settings.tools = ["Read", "Bash"].map(tool).to_vec();
    Request {
        ask: 7,
        settings: Arc::new(settings),
        transcript,
        max_tokens: 4_096,
        choice: ToolChoice::Open,
        digest: Arc::from(""),
        task_left_tokens: None,
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from(""),
        input_schema: Raw::parse("{}").unwrap(),
    }
}

pub(super) fn prompted(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text(text)]);
    transcript
}

pub(super) fn call(id: &str, tool: &str) -> Block {
    Block::tool_use(id, tool, &Raw::parse("{}").unwrap())
}

pub(super) fn result(id: &str, text: &str) -> Block {
    Block::tool_result(id, &Raw::string(text), ErrorFlag::Fine)
}
