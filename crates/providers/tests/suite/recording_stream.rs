//! A reply observer that records what it receives.

use std::sync::{Arc, Mutex};

use windlass_core::message::content_block::ContentBlock;
use windlass_runtime::ports::ReplyObserver;

#[derive(Debug, Default)]
pub(crate) struct RecordingStream {
    pub(crate) text: Mutex<String>,
    pub(crate) thinking: Mutex<String>,
    pub(crate) blocks: Mutex<Vec<(u16, ContentBlock)>>,
    pub(crate) events: Mutex<Vec<String>>,
    wants_events: bool,
}

impl RecordingStream {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Creates an observer that also wants events.
    pub(crate) fn with_events() -> Arc<Self> {
        Arc::new(Self { wants_events: true, ..Self::default() })
    }

    pub(crate) fn events(&self) -> Vec<String> {
        self.events.lock().unwrap().clone()
    }

    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap().clone()
    }
}

impl ReplyObserver for RecordingStream {
    fn on_text(&self, chunk: &str) {
        self.text.lock().unwrap().push_str(chunk);
    }

    fn on_thinking(&self, chunk: &str) {
        self.thinking.lock().unwrap().push_str(chunk);
    }

    fn on_block(&self, index: u16, block: &ContentBlock) {
        self.blocks.lock().unwrap().push((index, block.clone()));
    }

    fn wants_events(&self) -> bool {
        self.wants_events
    }

    /// Whatever a server sends, an event is an object on one line.
    fn on_event(&self, event: &str) {
        assert!(self.wants_events, "{event}");
        let json = serde_json::from_str::<&serde_json::value::RawValue>(event);
        assert!(json.is_ok_and(|json| json.get().starts_with('{')), "{event}");
        assert!(!event.contains(['\n', '\r']), "{event:?}");
        self.events.lock().unwrap().push(event.to_owned());
    }
}
