//! The body of a response: whole, in pieces, or cut.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc::Receiver;

/// The error that drops the connection: hyper does so when a body fails.
#[derive(Debug, thiserror::Error)]
#[error("the script drops the connection")]
pub(super) struct ConnectionDropped;

/// The body of a response.
pub(super) enum ResponseBody {
    /// A body that is complete.
    Whole(Option<Bytes>),
    /// The beginning of a body, although the whole length was announced.
    Part { bytes: Option<Bytes>, promised: u64, is_flushed: bool },
    /// A body that is sent while it is written. Once it is flushed, it is cut.
    Stream { events: Receiver<StreamPiece>, is_flushed: bool },
}

/// What the writer of a stream sends.
pub(super) enum StreamPiece {
    Events(Bytes),
    Cut,
}

impl ResponseBody {
    pub(super) fn whole(text: impl Into<Bytes>) -> Self {
        Self::Whole(Some(text.into()))
    }

    /// The first half of a text, announced with the length of the whole.
    pub(super) fn half(text: &str) -> Self {
        let bytes = Bytes::copy_from_slice(super::pieces::first_half(text).as_bytes());
        Self::Part { bytes: Some(bytes), promised: text.len() as u64, is_flushed: false }
    }

    pub(super) fn stream(events: Receiver<StreamPiece>) -> Self {
        Self::Stream { events, is_flushed: false }
    }
}

type PolledFrame = Poll<Option<Result<Frame<Bytes>, ConnectionDropped>>>;

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = ConnectionDropped;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> PolledFrame {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(data_frame)),
            Self::Part { bytes, is_flushed, .. } => match bytes.take() {
                Some(bytes) => Poll::Ready(Some(data_frame(bytes))),
                None => poll_cut(is_flushed, context),
            },
            Self::Stream { is_flushed: is_flushed @ true, .. } => poll_cut(is_flushed, context),
            Self::Stream { events, is_flushed } => match events.poll_recv(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(None) => Poll::Ready(None),
                Poll::Ready(Some(StreamPiece::Events(bytes))) => {
                    Poll::Ready(Some(data_frame(bytes)))
                }
                Poll::Ready(Some(StreamPiece::Cut)) => poll_cut(is_flushed, context),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, byte_len)),
            Self::Part { promised, .. } => SizeHint::with_exact(*promised),
            Self::Stream { .. } => SizeHint::default(),
        }
    }
}

/// Polls a body that is to be cut. hyper writes its buffer when a body makes it wait, and discards it
/// when a body fails; so a cut waits once first.
fn poll_cut(is_flushed: &mut bool, context: &Context<'_>) -> PolledFrame {
    if *is_flushed {
        return Poll::Ready(Some(Err(ConnectionDropped)));
    }
    *is_flushed = true;
    context.waker().wake_by_ref();
    Poll::Pending
}

fn data_frame(bytes: Bytes) -> Result<Frame<Bytes>, ConnectionDropped> {
    Ok(Frame::data(bytes))
}

fn byte_len(bytes: &Bytes) -> u64 {
    bytes.len() as u64
}
