//! A reply observer that records what it receives.

use std::sync::{Arc, Mutex};

use windlass_core::message::content_block::ContentBlock;
use windlass_runtime::ports::ReplyObserver;

#[derive(Debug, Default)]
pub(crate) struct RecordingStream {
    pub(crate) text: Mutex<String>,
    pub(crate) thinking: Mutex<String>,
    pub(crate) blocks: Mutex<Vec<(u16, ContentBlock)>>,
}

impl RecordingStream {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
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
}
