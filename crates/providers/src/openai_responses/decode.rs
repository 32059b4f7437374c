//! A Responses stream becomes a reply.

use windlass_core::block::Block;
use windlass_core::reply::{Reply, StopReason};
use windlass_runtime::ports::Stream;

use super::event::{Event, Response, Used};
use super::item::{self, Found};
use crate::asked::Asked;
use crate::draft::{Call, Draft, Ending};
use crate::fault::{Begun, Fault};
use crate::limits::OPEN_BLOCKS;
use crate::notice::Envelope;
use crate::numbers::ReportedUsage;
use crate::openai_chat::reported;
use crate::sse;
use crate::stops::StopWatch;
use crate::wire::{Closed, Decode, Progress};
use crate::{lossless, openai};

/// Puts a reply together.
#[derive(Debug)]
pub(crate) struct Decoder {
    asked: Asked,
    draft: Draft,
    watch: StopWatch,
    open: Vec<OpenItem>,
    begun: Begun,
    end: Option<End>,
    found: Found,
    usage: ReportedUsage,
    envelope: Envelope,
}

/// Why the output ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Completed,
    Incomplete(String),
    /// We saw a stop string and want no more.
    Stopped,
}

/// An item that has begun.
#[derive(Debug)]
struct OpenItem {
    index: u64,
    call: Option<Call>,
    text: String,
}

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Self {
        Self {
            watch: StopWatch::new(asked.stops.iter().cloned()),
            asked,
            draft: Draft::default(),
            open: Vec::new(),
            begun: Begun::No,
            end: None,
            found: Found::default(),
            usage: ReportedUsage::default(),
            envelope: Envelope::default(),
        }
    }

    fn item_added(&mut self, event: &Event<'_>) -> Result<Progress, Fault> {
        self.begun = Begun::Yes;
        let Some(item) = event.item.and_then(item::item) else { return Ok(Progress::Quiet) };
        if self.open.len() >= OPEN_BLOCKS {
            return Err(Fault::Malformed(
                "the stream makes no sense: too many items at the same time".to_owned(),
            ));
        }
        let is_call = item.kind == "function_call";
        let call = is_call.then(|| item::call(&item, &self.asked, &self.draft, String::new()));
        self.open.push(OpenItem { index: event.output_index, call, text: String::new() });
        Ok(Progress::Content)
    }

    fn item_done(&mut self, event: &Event<'_>, stream: &dyn Stream) -> Result<Progress, Fault> {
        self.begun = Begun::Yes;
        self.open.retain(|open| open.index != event.output_index);
        if let Some(raw) = event.item {
            self.settle(raw, stream)?;
        }
        Ok(Progress::Content)
    }

    fn settle(
        &mut self,
        raw: &serde_json::value::RawValue,
        stream: &dyn Stream,
    ) -> Result<(), Fault> {
        let found = item::settle(raw, &self.asked, (&mut self.draft, &self.watch), stream)?;
        self.found.refused |= found.refused;
        self.found.stop = found.stop.or(self.found.stop.take());
        Ok(())
    }

    fn arguments(&mut self, event: &Event<'_>) -> Progress {
        let piece = event.delta.and_then(lossless::text).unwrap_or_default();
        let open = self.open.iter_mut().find(|open| open.index == event.output_index);
        if let Some(call) = open.and_then(|open| open.call.as_mut()) {
            call.input.push_str(&piece);
        }
        Progress::Content
    }

    fn text(&mut self, event: &Event<'_>, stream: &dyn Stream) -> Progress {
        let piece = event.delta.and_then(lossless::text).unwrap_or_default();
        stream.text(&piece);
        let open = self.open.iter_mut().find(|open| open.index == event.output_index);
        if let Some(open) = open {
            open.text.push_str(&piece);
        }
        if self.watch.sees(&piece) {
            self.end = Some(End::Stopped);
            return Progress::Enough;
        }
        Progress::Content
    }

    /// The last event, or an answer that came whole.
    pub(crate) fn response(&mut self, json: &str, stream: &dyn Stream) -> Result<Progress, Fault> {
        self.begun = Begun::Yes;
        let response: Response<'_> = serde_json::from_str(json)
            .map_err(|error| Fault::Malformed(format!("the answer is no response: {error}")))?;
        let error = response.error.filter(|error| error.get() != "null");
        if let Some(error) = error {
            return Err(reported(error.get()));
        }
        if let Some(used) = openai::read_usage::<Used<'_>>(response.usage) {
            self.usage.update(used.usage());
        }
        if self.draft.len() == 0 && self.open.is_empty() {
            for raw in &response.output {
                self.settle(raw, stream)?;
            }
        }
        let reason = response.incomplete_details.map(|details| details.reason.into_owned());
        self.end = match response.status.as_deref() {
            Some("completed") => Some(End::Completed),
            Some("incomplete") => Some(End::Incomplete(reason.unwrap_or_default())),
            Some("failed" | "cancelled") => {
                return Err(Fault::Cut("the server gave up".to_owned()));
            }
            _ => None,
        };
        Ok(Progress::Done)
    }

    /// Items that never came to their end keep what was streamed of them.
    fn settle_open(&mut self, stream: &dyn Stream) -> Result<(), Fault> {
        for open in std::mem::take(&mut self.open) {
            if let Some(call) = open.call {
                self.draft.call(call, stream)?;
            } else if !open.text.is_empty() {
                let cut = self.watch.cut(&open.text);
                let text = cut.as_ref().map_or(open.text.as_str(), |(before, _)| before);
                if !text.is_empty() {
                    self.draft.block(Block::text(text), stream)?;
                }
                self.found.stop = cut.map(|(_, stop)| stop).or(self.found.stop.take());
            }
        }
        Ok(())
    }

    fn finished(mut self, end: &End, stream: &dyn Stream) -> Result<Closed, Fault> {
        self.settle_open(stream)?;
        let limited = matches!(end, End::Incomplete(reason) if reason == "max_output_tokens");
        let ending = if limited { Ending::Limit } else { Ending::Other };
        let (has_calls, bytes) = (self.draft.has_calls(), self.draft.bytes());
        let (blocks, cut) = self.draft.close(ending);
        let stop_reason = stop_reason(end, has_calls, &self.found);
        let usage = self.asked.usage(self.usage, bytes, &mut self.envelope);
        let stop_sequence = self.found.stop;
        let reply = Reply { blocks, cut, stop_reason, stop_sequence, usage, envelope: None };
        Ok(Closed { reply, envelope: self.envelope })
    }
}

fn stop_reason(end: &End, has_calls: bool, found: &Found) -> StopReason {
    match end {
        _ if found.refused => StopReason::Refusal,
        End::Incomplete(reason) => match reason.as_str() {
            "max_output_tokens" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            other => StopReason::from(other),
        },
        End::Completed | End::Stopped if has_calls => StopReason::ToolUse,
        End::Completed | End::Stopped if found.stop.is_some() => StopReason::StopSequence,
        End::Completed | End::Stopped => StopReason::EndTurn,
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: &sse::Event<'_>, stream: &dyn Stream) -> Result<Progress, Fault> {
        let data = event.data.as_ref();
        if data.trim() == "[DONE]" {
            return Ok(Progress::Quiet);
        }
        self.draft.count(data.len())?;
        let event: Event<'_> = serde_json::from_str(data).map_err(|error| {
            Fault::Malformed(format!("an event is not the JSON it should be: {error}"))
        })?;
        match event.kind.as_ref() {
            "response.output_item.added" => self.item_added(&event),
            "response.output_item.done" => self.item_done(&event, stream),
            "response.output_text.delta" | "response.refusal.delta" => {
                Ok(self.text(&event, stream))
            }
            "response.function_call_arguments.delta" => Ok(self.arguments(&event)),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                stream.thinking(&event.delta.and_then(lossless::text).unwrap_or_default());
                Ok(Progress::Content)
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.map_or("{}", |response| response.get());
                self.response(response, stream)
            }
            "response.created" => {
                self.begun = Begun::Yes;
                Ok(Progress::Content)
            }
            "error" => Err(reported(data)),
            kind if kind.ends_with(".delta") => Ok(Progress::Content),
            // Signs of life, and events nobody has invented yet.
            _ => Ok(Progress::Quiet),
        }
    }

    fn begun(&self) -> Begun {
        self.begun
    }

    fn close(mut self: Box<Self>, stream: &dyn Stream) -> Result<Closed, Fault> {
        match self.end.take() {
            Some(end) => self.finished(&end, stream),
            None => {
                let place = if self.open.is_empty() { "between items" } else { "inside an item" };
                Err(Fault::Cut(place.to_owned()))
            }
        }
    }
}
