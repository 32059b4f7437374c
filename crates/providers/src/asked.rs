//! What a decoder has to know of the request it reads the answer to.

use std::sync::Arc;

use windlass_core::ids::AskId;
use windlass_core::reply::Usage;

/// Bytes to a token, where nobody counted.
const BYTES_PER_TOKEN: u64 = 4;

/// The request, as far as its answer needs it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The model's name on the wire.
    pub(crate) model: Arc<str>,
    /// Which model call it is: ids are minted from it where the server gives none.
    pub(crate) ask: AskId,
    /// Bytes of the body.
    pub(crate) body_bytes: usize,
    /// What ends the output.
    pub(crate) stops: Vec<Arc<str>>,
}

impl Asked {
    /// An estimate, for servers that do not say what a call used.
    pub(crate) fn estimate(&self, reply_bytes: usize) -> Usage {
        let tokens = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
        Usage {
            input_tokens: tokens(self.body_bytes),
            output_tokens: tokens(reply_bytes),
            ..Usage::default()
        }
    }
}
