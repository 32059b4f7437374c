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
}
