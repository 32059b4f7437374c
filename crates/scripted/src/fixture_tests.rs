//! Requests, a clock and a stream for the tests of the scripted model.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use windlass_core::log::ids::UnixMillis;
use windlass_core::log::record::ToolChoice;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::loaded_tools::LoadedTools;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings, ToolSpec};
use windlass_runtime::ports::{BoxFuture, Clock, ReplyObserver};

/// A clock that stands still until a task sleeps.
#[derive(Default)]
pub(super) struct FakeClock(AtomicU64);

impl Clock for FakeClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: u64) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.0.fetch_add(ms, Ordering::SeqCst);
        })
    }
}

/// Records what arrives and when.
pub(super) struct RecordingListener {
    pub(super) clock: Arc<FakeClock>,
    pub(super) heard: Mutex<Vec<String>>,
}

impl RecordingListener {
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

impl ReplyObserver for RecordingListener {
    fn on_text(&self, chunk: &str) {
        self.note(format!("text {chunk:?}"));
    }

    fn on_thinking(&self, chunk: &str) {
        self.note(format!("thinking {chunk:?}"));
    }

    fn on_block(&self, index: u16, block: &ContentBlock) {
        self.note(format!("block {index} {}", block.raw().text()));
    }
}

/// A request about a transcript, with the tools `Read` and `Bash` on offer.
pub(super) fn request(transcript: Transcript) -> ModelRequest {
    let mut settings = Settings::new(ModelSpec::with_defaults("scripted"));
    settings.tools = ["Read", "Bash"].map(tool).to_vec();
    ModelRequest {
        model_call: 7,
        settings: Arc::new(settings),
        transcript,
        loaded_tools: LoadedTools::default(),
        max_tokens: 4_096,
        choice: ToolChoice::Auto,
        journal_digest: Arc::from(""),
        task_remaining_tokens: None,
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from(""),
        input_schema: RawJson::parse("{}").unwrap(),
    }
}

pub(super) fn prompted(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text(text)]);
    transcript
}

pub(super) fn call(id: &str, tool: &str) -> ContentBlock {
    ContentBlock::tool_use(id, tool, &RawJson::parse("{}").unwrap())
}

pub(super) fn result(id: &str, text: &str) -> ContentBlock {
    ContentBlock::tool_result(id, &RawJson::string(text), ErrorFlag::Success)
}
