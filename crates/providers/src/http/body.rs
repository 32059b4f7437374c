//! A request body in chunks that are shared, not copied.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Chunks to be sent one after another.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedBody {
    /// The chunks in reverse order: the last one is sent first.
    pieces: Vec<Bytes>,
    bytes: u64,
}

impl SharedBody {
    pub(crate) fn new(mut pieces: Vec<Bytes>) -> Self {
        pieces.retain(|chunk| !chunk.is_empty());
        let bytes = pieces.iter().map(|chunk| chunk.len() as u64).sum();
        pieces.reverse();
        Self { pieces, bytes }
    }
}

impl Body for SharedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop();
        self.bytes -= piece.as_ref().map_or(0, |chunk| chunk.len() as u64);
        Poll::Ready(piece.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes)
    }
}
