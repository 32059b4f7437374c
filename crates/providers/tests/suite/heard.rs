//! A listener that remembers what it heard.

use std::sync::{Arc, Mutex};

use windlass_core::block::Block;
use windlass_runtime::ports::Stream;

#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) text: Mutex<String>,
    pub(crate) thinking: Mutex<String>,
    pub(crate) blocks: Mutex<Vec<(u16, Block)>>,
}

impl Heard {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap().clone()
    }
}

impl Stream for Heard {
    fn text(&self, piece: &str) {
        self.text.lock().unwrap().push_str(piece);
    }

    fn thinking(&self, piece: &str) {
        self.thinking.lock().unwrap().push_str(piece);
    }

    fn block(&self, index: u16, block: &Block) {
        self.blocks.lock().unwrap().push((index, block.clone()));
    }
}
