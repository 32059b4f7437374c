//! The wire protocol trait: encodes requests and decodes responses.

use bytes::Bytes;
use http::HeaderMap;
use windlass_core::message::reply::ModelReply;
use windlass_runtime::ports::ReplyObserver;

use crate::call::call_notice::ReplyEnvelope;
use crate::call::call_options::ReplyDelivery;
use crate::call::request_plan::RequestPlan;
use crate::error::call_error::CallError;
use crate::limits::MAX_EVENT_BYTES;
use crate::wire::decode_context::DecodeContext;
use crate::wire::sse;

/// A wire format, with what it keeps from call to call.
pub(crate) trait WireProtocol: Send + Sync {
    /// The path of requests below the base URL.
    fn path(&self) -> &'static str;

    /// Adds the headers of the format.
    fn add_headers(&self, headers: &mut HeaderMap);

    /// Encodes the body of a request, in chunks that are shared with the request cache.
    fn encode_body(&self, plan: &RequestPlan<'_>) -> Vec<Bytes>;

    /// Encodes the body of a token count request, where the format has one.
    fn encode_count_tokens_body(&self, plan: &RequestPlan<'_>) -> Vec<Bytes> {
        self.encode_body(plan)
    }

    /// Creates a decoder for the response.
    fn new_decoder(&self, context: DecodeContext) -> Box<dyn StreamDecoder>;

    /// Decodes the reply in a response that was not streamed.
    fn decode_whole(
        &self,
        body: &str,
        context: DecodeContext,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodedReply, CallError>;
}

/// The options of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttemptOptions {
    pub(crate) max_tokens: u64,
    pub(crate) delivery: ReplyDelivery,
    pub(crate) prior_thinking: PriorThinking,
}

/// Whether earlier thinking is sent to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PriorThinking {
    Sent,
    Omitted,
}

/// What an event contributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecodeProgress {
    /// A part of the reply: resets the idle timeout.
    Content,
    /// A ping or another keepalive without content.
    Keepalive,
    /// The reply is complete.
    Done,
    /// No more is read, although the server would continue.
    StopReading,
}

/// A reply, and the envelope to be added to it. The reply's own envelope is not filled yet.
#[derive(Debug)]
pub(crate) struct DecodedReply {
    pub(crate) reply: ModelReply,
    pub(crate) envelope: ReplyEnvelope,
}

/// Builds a reply from the events of a stream.
pub(crate) trait StreamDecoder: Send {
    /// Decodes one event.
    fn decode_event(
        &mut self,
        event: &sse::SseEvent<'_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError>;

    /// Returns whether the response has started and is billed.
    fn has_started(&self) -> bool;

    /// Returns the reply, or the error: a stream that ended early is one.
    fn finish(self: Box<Self>, stream: &dyn ReplyObserver) -> Result<DecodedReply, CallError>;
}

/// A decoder for the bytes of a stream.
pub(crate) struct ReplyStreamDecoder {
    events: sse::SseDecoder,
    decoder: Box<dyn StreamDecoder>,
    end: Option<DecodeProgress>,
}

impl ReplyStreamDecoder {
    pub(crate) fn new(decoder: Box<dyn StreamDecoder>) -> Self {
        Self { events: sse::SseDecoder::new(MAX_EVENT_BYTES), decoder, end: None }
    }

    /// Adds bytes; returns the most significant progress of the events in them.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        stream: &dyn ReplyObserver,
    ) -> Result<DecodeProgress, CallError> {
        self.events.push(bytes);
        let mut most = DecodeProgress::Keepalive;
        while let Some(event) = self.events.next_event()? {
            if self.end.is_some() {
                continue;
            }
            match self.decoder.decode_event(&event, stream)? {
                DecodeProgress::Keepalive => {}
                DecodeProgress::Content => most = DecodeProgress::Content,
                end @ (DecodeProgress::Done | DecodeProgress::StopReading) => self.end = Some(end),
            }
        }
        Ok(self.end.unwrap_or(most))
    }

    pub(crate) fn has_started(&self) -> bool {
        self.decoder.has_started()
    }

    /// Ends the stream and returns the reply.
    pub(crate) fn finish(mut self, stream: &dyn ReplyObserver) -> Result<DecodedReply, CallError> {
        if self.end.is_none()
            && let Some(event) = self.events.last_event()
        {
            self.decoder.decode_event(&event, stream)?;
        }
        self.decoder.finish(stream)
    }
}
