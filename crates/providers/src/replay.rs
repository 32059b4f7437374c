//! Recorded streams: bytes in, a reply or a failure out, without a connection.

use std::sync::Arc;

use windlass_core::ids::AskId;
use windlass_core::input::Failure;
use windlass_core::reply::Reply;
use windlass_runtime::ports::Stream;

use crate::asked::Asked;
use crate::fault::{Begun, Fault};
use crate::names::Format;
use crate::secret::Redactor;
use crate::wire::{Closed, Decoding, Progress};
use crate::wires;

/// What the recorded stream answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The model's name.
    pub model: Arc<str>,
    /// Which call it was.
    pub ask: AskId,
    /// The stop strings it was asked with.
    pub stops: Vec<Arc<str>>,
}

/// Decodes a recorded stream, however its bytes are split.
pub fn replay<'a>(
    format: Format,
    recorded: &Recorded,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    stream: &dyn Stream,
) -> Result<Reply, Failure> {
    let Recorded { model, ask, stops } = recorded.clone();
    let asked = Asked { model, ask, body_bytes: 0, stops };
    let mut decoding = Decoding::new(wires::decoder(format, asked));
    let redactor = Redactor::default();
    let failure = |fault: &Fault, begun: Begun| fault.failure(begun, &redactor);
    for piece in pieces {
        let pushed = decoding.push(piece, stream);
        match pushed.map_err(|fault| failure(&fault, decoding.begun()))? {
            Progress::Done | Progress::Enough => break,
            Progress::Content | Progress::Quiet => {}
        }
    }
    let begun = decoding.begun();
    let Closed { mut reply, envelope } =
        decoding.close(stream).map_err(|fault| failure(&fault, begun))?;
    reply.envelope = envelope.close();
    Ok(reply)
}
