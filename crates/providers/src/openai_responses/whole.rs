//! A reply that was not streamed: the last event alone.

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
    decoder.response(body, stream)?;
    decoder.close(stream)
}
