//! The three wire formats behind one trait.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use windlass_runtime::ports::Stream;

use crate::asked::Asked;
use crate::encodings::Encodings;
use crate::fault::Fault;
use crate::heads::Heads;
use crate::names::Format;
use crate::plan::Plan;
use crate::wire::{Closed, Decode, Thoughts, Wire};
use crate::{anthropic, openai_chat, openai_responses};

/// The version of the Messages API that is spoken.
const ANTHROPIC_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// Pieces of a usual body: room for them is made at once.
const USUAL_PIECES: usize = 24;

/// A wire format for one model.
pub(crate) fn wire(format: Format, model: &str) -> Arc<dyn Wire> {
    let model = model.to_owned();
    match format {
        Format::AnthropicMessages => Arc::new(Anthropic {
            heads: Heads::default(),
            messages: Encodings::new(anthropic::Messages { thoughts: Thoughts::Returned }),
            thoughtless: Encodings::new(anthropic::Messages { thoughts: Thoughts::LeftOut }),
        }),
        Format::OpenAiChat => Arc::new(Chat {
            heads: Heads::default(),
            messages: Encodings::new(openai_chat::Chat { model }),
        }),
        Format::OpenAiResponses => Arc::new(Responses {
            heads: Heads::default(),
            items: Encodings::new(openai_responses::Items { model }),
        }),
    }
}

/// A decoder for a format, for whoever has bytes and no connection.
pub(crate) fn decoder(format: Format, asked: Asked) -> Box<dyn Decode> {
    match format {
        Format::AnthropicMessages => Box::new(anthropic::Decoder::new()),
        Format::OpenAiChat => Box::new(openai_chat::Decoder::new(asked)),
        Format::OpenAiResponses => Box::new(openai_responses::Decoder::new(asked)),
    }
}

struct Anthropic {
    heads: Heads,
    messages: Encodings<anthropic::Messages>,
    thoughtless: Encodings<anthropic::Messages>,
}

impl Wire for Anthropic {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn headers(&self, headers: &mut HeaderMap) {
        headers.insert("anthropic-version", ANTHROPIC_VERSION);
    }

    fn body(&self, plan: &Plan<'_>) -> Vec<Bytes> {
        let mut out = self.up_to_tail(plan);
        out.push(Bytes::from(anthropic::tail(plan)));
        out
    }

    fn counting_body(&self, plan: &Plan<'_>) -> Vec<Bytes> {
        let mut out = self.up_to_tail(plan);
        out.push(Bytes::from_static(b"]}"));
        out
    }

    fn decoder(&self, asked: Asked) -> Box<dyn Decode> {
        decoder(Format::AnthropicMessages, asked)
    }

    fn whole(&self, body: &str, _asked: Asked, _stream: &dyn Stream) -> Result<Closed, Fault> {
        anthropic::reply(body)
    }
}

impl Anthropic {
    /// Everything but what may change from call to call.
    fn up_to_tail(&self, plan: &Plan<'_>) -> Vec<Bytes> {
        let encodings = match plan.how.thoughts {
            Thoughts::Returned => &self.messages,
            Thoughts::LeftOut => &self.thoughtless,
        };
        let marker =
            anthropic::marker(plan.known.cache).map(|marker| Bytes::from_static(marker.as_bytes()));
        let mut out = Vec::with_capacity(USUAL_PIECES);
        out.push(self.heads.of(plan, || anthropic::head(plan)));
        encodings.of(&plan.request.transcript).share(marker.as_ref(), &mut out);
        out
    }
}

struct Chat {
    heads: Heads,
    messages: Encodings<openai_chat::Chat>,
}

impl Wire for Chat {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, _headers: &mut HeaderMap) {}

    fn body(&self, plan: &Plan<'_>) -> Vec<Bytes> {
        let mut out = vec![self.heads.of(plan, || openai_chat::head(plan))];
        self.messages.of(&plan.request.transcript).share(None, &mut out);
        out.push(Bytes::from(openai_chat::tail(plan)));
        out
    }

    fn decoder(&self, asked: Asked) -> Box<dyn Decode> {
        decoder(Format::OpenAiChat, asked)
    }

    fn whole(&self, body: &str, asked: Asked, stream: &dyn Stream) -> Result<Closed, Fault> {
        let mut decoder = Box::new(openai_chat::Decoder::new(asked));
        decoder.chunk(body, stream)?;
        decoder.close(stream)
    }
}

struct Responses {
    heads: Heads,
    items: Encodings<openai_responses::Items>,
}

impl Wire for Responses {
    fn path(&self) -> &'static str {
        "/responses"
    }

    fn headers(&self, _headers: &mut HeaderMap) {}

    fn body(&self, plan: &Plan<'_>) -> Vec<Bytes> {
        let mut out = vec![self.heads.of(plan, || openai_responses::head(plan))];
        self.items.of(&plan.request.transcript).share(None, &mut out);
        out.push(Bytes::from(openai_responses::tail(plan)));
        out
    }

    fn decoder(&self, asked: Asked) -> Box<dyn Decode> {
        decoder(Format::OpenAiResponses, asked)
    }

    fn whole(&self, body: &str, asked: Asked, stream: &dyn Stream) -> Result<Closed, Fault> {
        let mut decoder = Box::new(openai_responses::Decoder::new(asked));
        decoder.response(body, stream)?;
        decoder.close(stream)
    }
}
