//! The body of a response: whole, piece by piece, or broken off.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc::Receiver;

/// The connection is to be dropped; hyper does so when a body fails.
#[derive(Debug, thiserror::Error)]
#[error("the script drops the connection")]
pub(super) struct Dropped;

/// A response's body.
pub(super) enum Outgoing {
    /// All of it is known.
    Whole(Option<Bytes>),
    /// Its beginning, although the whole length was promised.
    Part { bytes: Option<Bytes>, promised: u64, cut: Cut },
    /// It comes as it is written.
    Stream { events: Receiver<Piece>, cut: Cut },
}

/// What a stream's writer sends.
pub(super) enum Piece {
    Events(Bytes),
    Cut,
}

/// Where a body is on the way to its cut. hyper writes out what it has when a body makes it wait,
/// and throws it away when a body fails; so a cut first waits once.
#[derive(Default)]
pub(super) enum Cut {
    #[default]
    NotYet,
    Next,
}

impl Cut {
    fn poll(&mut self, context: &Context<'_>) -> Polled {
        match self {
            Self::NotYet => {
                *self = Self::Next;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Self::Next => Poll::Ready(Some(Err(Dropped))),
        }
    }
}

impl Outgoing {
    pub(super) fn whole(text: impl Into<Bytes>) -> Self {
        Self::Whole(Some(text.into()))
    }

    /// The first half of a text, as if all of it were to come.
    pub(super) fn half(text: &str) -> Self {
        let bytes = Bytes::copy_from_slice(super::pieces::half(text).as_bytes());
        Self::Part { bytes: Some(bytes), promised: text.len() as u64, cut: Cut::default() }
    }

    pub(super) fn stream(events: Receiver<Piece>) -> Self {
        Self::Stream { events, cut: Cut::default() }
    }
}

type Polled = Poll<Option<Result<Frame<Bytes>, Dropped>>>;

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Dropped;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(frame)),
            Self::Part { bytes, cut, .. } => match bytes.take() {
                Some(bytes) => Poll::Ready(Some(frame(bytes))),
                None => cut.poll(context),
            },
            Self::Stream { cut: cut @ Cut::Next, .. } => cut.poll(context),
            Self::Stream { events, cut } => match events.poll_recv(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(None) => Poll::Ready(None),
                Poll::Ready(Some(Piece::Events(bytes))) => Poll::Ready(Some(frame(bytes))),
                Poll::Ready(Some(Piece::Cut)) => cut.poll(context),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, length)),
            Self::Part { promised, .. } => SizeHint::with_exact(*promised),
            Self::Stream { .. } => SizeHint::default(),
        }
    }
}

fn frame(bytes: Bytes) -> Result<Frame<Bytes>, Dropped> {
    Ok(Frame::data(bytes))
}

fn length(bytes: &Bytes) -> u64 {
    bytes.len() as u64
}
