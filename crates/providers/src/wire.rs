//! What a wire format has to do: turn a request into bytes, and what comes back into a reply.

use bytes::Bytes;
use http::HeaderMap;
use windlass_core::reply::Reply;
use windlass_runtime::ports::Stream;

use crate::asked::Asked;
use crate::fault::{Begun, Fault};
use crate::limits::EVENT_BYTES;
use crate::notice::Envelope;
use crate::options::Delivery;
use crate::plan::Plan;
use crate::sse;

/// A wire format with what it keeps from call to call.
pub(crate) trait Wire: Send + Sync {
    /// Where requests go, below the server's address.
    fn path(&self) -> &'static str;

    /// Headers of its own.
    fn headers(&self, headers: &mut HeaderMap);

    /// The body of a request, in pieces that are shared with what is kept.
    fn body(&self, plan: &Plan<'_>) -> Vec<Bytes>;

    /// The body of a request that only counts, where the format has one.
    fn counting_body(&self, plan: &Plan<'_>) -> Vec<Bytes> {
        self.body(plan)
    }

    /// A decoder for the answer.
    fn decoder(&self, asked: Asked) -> Box<dyn Decode>;

    /// The reply in an answer that was not streamed.
    fn whole(&self, body: &str, asked: Asked, stream: &dyn Stream) -> Result<Closed, Fault>;
}

/// How one attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct How {
    pub(crate) max_tokens: u64,
    pub(crate) delivery: Delivery,
    pub(crate) thoughts: Thoughts,
}

/// Whether the model is shown what it thought before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thoughts {
    Returned,
    LeftOut,
}

/// Whether an event brought something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A piece of the reply: the watchdog may lie down.
    Content,
    /// A ping or another sign of life that says nothing.
    Quiet,
    /// The reply is complete.
    Done,
    /// We want no more of it, although the server would go on.
    Enough,
}

/// A reply, and what there is to tell besides. The reply's own envelope is not filled yet.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) reply: Reply,
    pub(crate) envelope: Envelope,
}

/// Puts a reply together from the events of a stream.
pub(crate) trait Decode: Send {
    /// Takes one event.
    fn event(&mut self, event: &sse::Event<'_>, stream: &dyn Stream) -> Result<Progress, Fault>;

    /// Whether the answer has begun, and with it the bill.
    fn begun(&self) -> Begun;

    /// The reply, or why there is none: a stream that ended early is a fault.
    fn close(self: Box<Self>, stream: &dyn Stream) -> Result<Closed, Fault>;
}

/// A stream of bytes on its way through a decoder.
pub(crate) struct Decoding {
    events: sse::Decoder,
    decode: Box<dyn Decode>,
    end: Option<Progress>,
}

impl Decoding {
    pub(crate) fn new(decode: Box<dyn Decode>) -> Self {
        Self { events: sse::Decoder::new(EVENT_BYTES), decode, end: None }
    }

    /// Takes bytes; says the most that any event in them brought.
    pub(crate) fn push(&mut self, bytes: &[u8], stream: &dyn Stream) -> Result<Progress, Fault> {
        self.events.push(bytes);
        let mut most = Progress::Quiet;
        while let Some(event) = self.events.take()? {
            if self.end.is_some() {
                continue;
            }
            match self.decode.event(&event, stream)? {
                Progress::Quiet => {}
                Progress::Content => most = Progress::Content,
                end @ (Progress::Done | Progress::Enough) => self.end = Some(end),
            }
        }
        Ok(self.end.unwrap_or(most))
    }

    pub(crate) fn begun(&self) -> Begun {
        self.decode.begun()
    }

    /// The stream has ended.
    pub(crate) fn close(mut self, stream: &dyn Stream) -> Result<Closed, Fault> {
        if self.end.is_none()
            && let Some(event) = self.events.take_last()
        {
            self.decode.event(&event, stream)?;
        }
        self.decode.close(stream)
    }
}
