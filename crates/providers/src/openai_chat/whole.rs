//! A chat reply that was not streamed: one chunk that holds everything.

use windlass_runtime::ports::Stream;

use super::decode::Decoder;
use crate::fault::Fault;
use crate::wire::{Closed, Decode};

/// The reply in a response's body.
pub(crate) fn reply(
    body: &str,
    mut decoder: Box<Decoder>,
    stream: &dyn Stream,
) -> Result<Closed, Fault> {
    decoder.chunk(body, stream)?;
    decoder.close(stream)
}
