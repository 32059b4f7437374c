//! A reader of replies that keeps nothing.

use windlass_core::message::content_block::ContentBlock;
use windlass_runtime::ports::ReplyObserver;

/// Discards the partial output of a reply, so that only the reply itself is measured.
#[derive(Debug, Clone, Copy)]
pub struct DiscardingStream;

impl ReplyObserver for DiscardingStream {
    fn on_text(&self, _piece: &str) {}
    fn on_thinking(&self, _piece: &str) {}
    fn on_block(&self, _index: u16, _block: &ContentBlock) {}
}
