//! The three wire formats behind the `WireProtocol` trait.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use windlass_core::message::loaded_tools::ToolLoading;
use windlass_runtime::ports::ReplyObserver;

use crate::call::request_plan::RequestPlan;
use crate::catalog::provider_table::WireFormat;
use crate::error::call_error::CallError;
use crate::request_cache::body_cache::{BodyCache, SegmentEncoder};
use crate::request_cache::prefix_cache::PrefixCache;
use crate::wire::decode_context::DecodeContext;
use crate::wire::wire_protocol::{DecodedReply, PriorThinking, StreamDecoder, WireProtocol};
use crate::wire::{anthropic, openai_chat, openai_responses};

/// The version of the Messages API.
const ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// The number of chunks of a usual body, allocated at once.
const EXPECTED_BODY_PIECES: usize = 24;

/// Creates the wire format for one model.
pub(crate) fn new_protocol(format: WireFormat, model: &str) -> Arc<dyn WireProtocol> {
    let model = model.to_owned();
    match format {
        WireFormat::AnthropicMessages => Arc::new(AnthropicProtocol {
            prefix_cache: PrefixCache::default(),
            by_reference: MessageCaches::new(ToolLoading::ByReference),
            by_request: MessageCaches::new(ToolLoading::ByRequest),
        }),
        WireFormat::OpenAiChat => Arc::new(OpenAiProtocol {
            format,
            path: "/chat/completions",
            prefix_cache: PrefixCache::default(),
            body_cache: BodyCache::new(openai_chat::ChatEncoder { model }),
            body_head: openai_chat::encode_head,
            body_tail: openai_chat::encode_tail,
            decode_whole: decode_whole_chat,
        }),
        WireFormat::OpenAiResponses => Arc::new(OpenAiProtocol {
            format,
            path: "/responses",
            prefix_cache: PrefixCache::default(),
            body_cache: BodyCache::new(openai_responses::InputItemsEncoder { model }),
            body_head: openai_responses::encode_head,
            body_tail: openai_responses::encode_tail,
            decode_whole: decode_whole_response,
        }),
    }
}

/// Creates a decoder for bytes without a connection (replay, fuzzing).
pub(crate) fn new_decoder(format: WireFormat, context: DecodeContext) -> Box<dyn StreamDecoder> {
    match format {
        WireFormat::AnthropicMessages => Box::new(anthropic::MessagesDecoder::new(context)),
        WireFormat::OpenAiChat => Box::new(openai_chat::ChatDecoder::new(context)),
        WireFormat::OpenAiResponses => Box::new(openai_responses::ResponsesDecoder::new(context)),
    }
}

struct AnthropicProtocol {
    prefix_cache: PrefixCache,
    by_reference: MessageCaches,
    by_request: MessageCaches,
}

/// The messages, with prior thinking and without.
struct MessageCaches {
    with_thinking: BodyCache<anthropic::MessagesEncoder>,
    without_thinking: BodyCache<anthropic::MessagesEncoder>,
}

impl MessageCaches {
    fn new(tool_loading: ToolLoading) -> Self {
        let cache = |prior_thinking| {
            BodyCache::new(anthropic::MessagesEncoder { prior_thinking, tool_loading })
        };
        Self {
            with_thinking: cache(PriorThinking::Sent),
            without_thinking: cache(PriorThinking::Omitted),
        }
    }
}

impl WireProtocol for AnthropicProtocol {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        headers.insert("anthropic-version", ANTHROPIC_VERSION);
    }

    fn encode_body(&self, plan: &RequestPlan<'_>) -> Vec<Bytes> {
        let mut out = self.body_prefix(plan);
        out.push(Bytes::from(anthropic::encode_tail(plan)));
        out
    }

    fn encode_count_tokens_body(&self, plan: &RequestPlan<'_>) -> Vec<Bytes> {
        let mut out = self.body_prefix(plan);
        out.push(Bytes::from_static(b"]}"));
        out
    }

    fn new_decoder(&self, context: DecodeContext) -> Box<dyn StreamDecoder> {
        new_decoder(WireFormat::AnthropicMessages, context)
    }

    fn decode_whole(
        &self,
        body: &str,
        context: DecodeContext,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodedReply, CallError> {
        anthropic::decode_whole_reply(body, &context, stream)
    }
}

impl AnthropicProtocol {
    /// Encodes everything but what may change from call to call.
    fn body_prefix(&self, plan: &RequestPlan<'_>) -> Vec<Bytes> {
        let caches = match plan.tool_loading {
            ToolLoading::ByReference => &self.by_reference,
            ToolLoading::ByRequest => &self.by_request,
        };
        let encodings = match plan.attempt.prior_thinking {
            PriorThinking::Sent => &caches.with_thinking,
            PriorThinking::Omitted => &caches.without_thinking,
        };
        let marker = anthropic::cache_marker(plan.cache_lifetime)
            .map(|marker| Bytes::from_static(marker.as_bytes()));
        let mut out = Vec::with_capacity(EXPECTED_BODY_PIECES);
        out.push(self.prefix_cache.get_or_encode(plan, || anthropic::encode_head(plan)));
        encodings.append_body(&plan.request.transcript, marker.as_ref(), &mut out);
        out
    }
}

/// Either OpenAI format: they differ in what is written, not in how it is assembled.
struct OpenAiProtocol<E: SegmentEncoder> {
    format: WireFormat,
    path: &'static str,
    prefix_cache: PrefixCache,
    body_cache: BodyCache<E>,
    body_head: fn(&RequestPlan<'_>) -> Vec<u8>,
    body_tail: fn(&RequestPlan<'_>) -> Vec<u8>,
    decode_whole: fn(&str, DecodeContext, &dyn ReplyObserver) -> Result<DecodedReply, CallError>,
}

impl<E: SegmentEncoder> WireProtocol for OpenAiProtocol<E> {
    fn path(&self) -> &'static str {
        self.path
    }

    fn add_headers(&self, _headers: &mut HeaderMap) {}

    fn encode_body(&self, plan: &RequestPlan<'_>) -> Vec<Bytes> {
        let mut out = Vec::with_capacity(EXPECTED_BODY_PIECES);
        out.push(self.prefix_cache.get_or_encode(plan, || (self.body_head)(plan)));
        self.body_cache.append_body(&plan.request.transcript, None, &mut out);
        out.push(Bytes::from((self.body_tail)(plan)));
        out
    }

    fn new_decoder(&self, context: DecodeContext) -> Box<dyn StreamDecoder> {
        new_decoder(self.format, context)
    }

    fn decode_whole(
        &self,
        body: &str,
        context: DecodeContext,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodedReply, CallError> {
        (self.decode_whole)(body, context, stream)
    }
}

fn decode_whole_chat(
    body: &str,
    context: DecodeContext,
    stream: &dyn ReplyObserver,
) -> Result<DecodedReply, CallError> {
    let mut decoder = Box::new(openai_chat::ChatDecoder::new(context));
    decoder.decode_chunk(body, stream)?;
    decoder.finish(stream)
}

fn decode_whole_response(
    body: &str,
    context: DecodeContext,
    stream: &dyn ReplyObserver,
) -> Result<DecodedReply, CallError> {
    let mut decoder = Box::new(openai_responses::ResponsesDecoder::new(context));
    decoder.decode_response(body, stream)?;
    decoder.finish(stream)
}
