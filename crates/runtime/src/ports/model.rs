//! The model port.

use std::sync::Arc;

use super::BoxFuture;
use windlass_core::log::input::ModelFailure;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;

/// A model that can be called.
pub trait Model: Send + Sync + 'static {
    /// Calls the model. Dropping the future cancels the call. Partial output goes to `stream`; only
    /// the returned reply counts.
    fn call(
        &self,
        request: ModelRequest,
        stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>>;
}

/// Receives the partial output of a reply while it arrives.
pub trait ReplyObserver: Send + Sync {
    /// Receives a piece of text, for live display.
    fn on_text(&self, chunk: &str);

    /// Receives a piece of thinking, for live display.
    fn on_thinking(&self, chunk: &str);

    /// Receives a content block that is complete.
    fn on_block(&self, index: u16, block: &ContentBlock);

    /// Returns whether events are wanted. A model that can produce them asks once for each call,
    /// and sends all of them or none.
    fn wants_events(&self) -> bool {
        false
    }

    /// Receives an event of the reply as JSON on one line, in the form of Anthropic's stream:
    /// `message_start`, then `content_block_start`, `content_block_delta` and `content_block_stop`
    /// for every block, `message_delta` and `message_stop`. Pings are left out. Events come in
    /// addition to text, thinking and blocks, and the first one comes before any of those.
    fn on_event(&self, _event: &str) {}
}
