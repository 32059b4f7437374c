//! The three wire formats behind one trait.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use windlass_runtime::ports::Stream;

use crate::asked::Asked;
use crate::encodings::{Encode, Encodings};
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
        Format::OpenAiChat => Arc::new(OpenAi {
            format,
            path: "/chat/completions",
            heads: Heads::default(),
            encodings: Encodings::new(openai_chat::Chat { model }),
            head: openai_chat::head,
            tail: openai_chat::tail,
            whole: whole_chat,
        }),
        Format::OpenAiResponses => Arc::new(OpenAi {
            format,
            path: "/responses",
            heads: Heads::default(),
            encodings: Encodings::new(openai_responses::Items { model }),
            head: openai_responses::head,
            tail: openai_responses::tail,
            whole: whole_response,
        }),
    }
}

/// A decoder for a format, for whoever has bytes and no connection.
pub(crate) fn decoder(format: Format, asked: Asked) -> Box<dyn Decode> {
    match format {
        Format::AnthropicMessages => Box::new(anthropic::Decoder::new(asked)),
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

    fn whole(&self, body: &str, asked: Asked, _stream: &dyn Stream) -> Result<Closed, Fault> {
        anthropic::reply(body, &asked)
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
            anthropic::marker(plan.cache).map(|marker| Bytes::from_static(marker.as_bytes()));
        let mut out = Vec::with_capacity(USUAL_PIECES);
        out.push(self.heads.of(plan, || anthropic::head(plan)));
        encodings.share(&plan.request.transcript, marker.as_ref(), &mut out);
        out
    }
}

/// Either of OpenAI's formats: they differ in what is written, not in how it is put together.
struct OpenAi<E: Encode> {
    format: Format,
    path: &'static str,
    heads: Heads,
    encodings: Encodings<E>,
    head: fn(&Plan<'_>) -> Vec<u8>,
    tail: fn(&Plan<'_>) -> Vec<u8>,
    whole: fn(&str, Asked, &dyn Stream) -> Result<Closed, Fault>,
}

impl<E: Encode> Wire for OpenAi<E> {
    fn path(&self) -> &'static str {
        self.path
    }

    fn headers(&self, _headers: &mut HeaderMap) {}

    fn body(&self, plan: &Plan<'_>) -> Vec<Bytes> {
        let mut out = Vec::with_capacity(USUAL_PIECES);
        out.push(self.heads.of(plan, || (self.head)(plan)));
        self.encodings.share(&plan.request.transcript, None, &mut out);
        out.push(Bytes::from((self.tail)(plan)));
        out
    }

    fn decoder(&self, asked: Asked) -> Box<dyn Decode> {
        decoder(self.format, asked)
    }

    fn whole(&self, body: &str, asked: Asked, stream: &dyn Stream) -> Result<Closed, Fault> {
        (self.whole)(body, asked, stream)
    }
}

fn whole_chat(body: &str, asked: Asked, stream: &dyn Stream) -> Result<Closed, Fault> {
    let mut decoder = Box::new(openai_chat::Decoder::new(asked));
    decoder.chunk(body, stream)?;
    decoder.close(stream)
}

fn whole_response(body: &str, asked: Asked, stream: &dyn Stream) -> Result<Closed, Fault> {
    let mut decoder = Box::new(openai_responses::Decoder::new(asked));
    decoder.response(body, stream)?;
    decoder.close(stream)
}
