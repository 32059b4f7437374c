//! A model that can be asked.

use std::sync::Arc;

use super::Task;
use windlass_core::block::Block;
use windlass_core::input::Failure;
use windlass_core::reply::Reply;
use windlass_core::request::Request;

/// A model.
pub trait Model: Send + Sync + 'static {
    /// Asks. Dropping the future ends the call. What arrives on the way goes to `stream`; what
    /// counts is the reply.
    fn ask(&self, request: Request, stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>>;
}

/// Takes what a reply brings while it is still coming.
pub trait Stream: Send + Sync {
    /// A piece of text for whoever watches.
    fn text(&self, piece: &str);

    /// A piece of thinking for whoever watches.
    fn thinking(&self, piece: &str);

    /// A block is complete.
    fn block(&self, index: u16, block: &Block);
}
