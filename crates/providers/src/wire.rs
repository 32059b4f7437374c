//! What a wire format has to do: turn a request into bytes, and what comes back into a reply.

use windlass_core::reply::Reply;
use windlass_runtime::ports::Stream;

use crate::fault::{Begun, Fault};
use crate::limits::EVENT_BYTES;
use crate::notice::Notice;
use crate::sse;

/// Whether an event brought something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A piece of the reply: the watchdog may lie down.
    Content,
    /// A ping or another sign of life that says nothing.
    Quiet,
    /// The reply is complete.
    Done,
}

/// Puts a reply together from the events of a stream.
pub(crate) trait Decode: Send {
    /// Takes one event.
    fn event(&mut self, event: &sse::Event<'_>, stream: &dyn Stream) -> Result<Progress, Fault>;

    /// Whether the answer has begun, and with it the bill.
    fn begun(&self) -> Begun;

    /// Something to tell in the envelope.
    fn notice(&mut self, notice: Notice);

    /// The server's name for the call, for the envelope.
    fn request_id(&mut self, id: &str);

    /// The reply, or why there is none: a stream that ended early is a fault.
    fn close(self: Box<Self>, stream: &dyn Stream) -> Result<Reply, Fault>;
}

/// A stream of bytes on its way through a decoder.
pub(crate) struct Decoding {
    events: sse::Decoder,
    decode: Box<dyn Decode>,
    done: bool,
}

impl Decoding {
    pub(crate) fn new(decode: Box<dyn Decode>) -> Self {
        Self { events: sse::Decoder::new(EVENT_BYTES), decode, done: false }
    }

    /// Takes bytes; says the most that any event in them brought.
    pub(crate) fn push(&mut self, bytes: &[u8], stream: &dyn Stream) -> Result<Progress, Fault> {
        self.events.push(bytes);
        let mut most = Progress::Quiet;
        while let Some(event) = self.events.take()? {
            if self.done {
                continue;
            }
            match self.decode.event(&event, stream)? {
                Progress::Quiet => {}
                Progress::Content => most = Progress::Content,
                Progress::Done => self.done = true,
            }
        }
        Ok(if self.done { Progress::Done } else { most })
    }

    pub(crate) fn begun(&self) -> Begun {
        self.decode.begun()
    }

    pub(crate) fn decode(&mut self) -> &mut dyn Decode {
        self.decode.as_mut()
    }

    /// The stream has ended.
    pub(crate) fn close(mut self, stream: &dyn Stream) -> Result<Reply, Fault> {
        if !self.done
            && let Some(event) = self.events.take_last()
        {
            self.decode.event(&event, stream)?;
        }
        self.decode.close(stream)
    }
}
