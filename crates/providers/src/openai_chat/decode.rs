//! A chat stream becomes a reply.

use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::reply::{Reply, StopReason};
use windlass_runtime::ports::Stream;

use super::chunk::{Choice, Chunk, Delta, Used};
use super::faults;
use super::parts::Parts;
use crate::asked::Asked;
use crate::draft::Ending;
use crate::fault::{Begun, Fault};
use crate::few::Few;
use crate::lossless;
use crate::notice::{Envelope, Notice};
use crate::numbers::ReportedUsage;
use crate::openai;
use crate::sse;
use crate::stops::StopWatch;
use crate::wire::{Closed, Decode, Progress};

/// How the stream says that it is over.
const DONE: &str = "[DONE]";

/// Puts a reply together.
#[derive(Debug)]
pub(crate) struct Decoder {
    asked: Asked,
    parts: Parts,
    watch: StopWatch,
    begun: Begun,
    end: End,
    refused: bool,
    finish_reason: Option<String>,
    stop_sequence: Option<Arc<str>>,
    usage: ReportedUsage,
    envelope: Envelope,
}

/// How far the stream got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It goes on.
    Open,
    /// The server said it was over.
    Said,
    /// We saw a stop string and want no more.
    Stopped,
}

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Self {
        let watch = StopWatch::new(asked.stops.iter().cloned());
        Self {
            parts: Parts::new(&asked),
            asked,
            watch,
            begun: Begun::No,
            end: End::Open,
            refused: false,
            finish_reason: None,
            stop_sequence: None,
            usage: ReportedUsage::default(),
            envelope: Envelope::default(),
        }
    }

    /// Takes a chunk of a stream, or an answer that came whole.
    pub(crate) fn chunk(&mut self, data: &str, stream: &dyn Stream) -> Result<Progress, Fault> {
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| {
            Fault::Malformed(format!("an event is not the JSON it should be: {error}"))
        })?;
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(faults::reported(error.get()));
        }
        if let Some(used) = openai::read_usage::<Used<'_>>(chunk.usage) {
            self.usage.update(used.usage());
        }
        let mut progress = Progress::Quiet;
        for choice in chunk.choices.iter().filter(|choice| choice.index == 0) {
            if self.choice(choice, stream)? == Progress::Content {
                progress = Progress::Content;
            }
        }
        Ok(if self.end == End::Stopped { Progress::Enough } else { progress })
    }

    fn choice(&mut self, choice: &Choice<'_>, stream: &dyn Stream) -> Result<Progress, Fault> {
        if self.begun == Begun::No {
            self.begun = Begun::Yes;
        }
        let mut progress = Progress::Quiet;
        if let Some(delta) = &choice.delta {
            progress = self.delta(delta, stream)?;
        }
        if let Some(reason) = &choice.finish_reason {
            self.finish_reason = Some(reason.clone().into_owned());
            self.stop_sequence = choice.stop_reason.and_then(lossless::text).map(Arc::from);
            progress = Progress::Content;
        }
        Ok(progress)
    }

    fn delta(&mut self, delta: &Delta<'_>, stream: &dyn Stream) -> Result<Progress, Fault> {
        let mut progress = Progress::Quiet;
        let thoughts =
            [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)];
        for (field, piece) in thoughts {
            if let Some(piece) = piece.filter(|piece| is_text(piece)) {
                self.parts.thought(field, piece, stream)?;
                progress = Progress::Content;
                // Some servers send the same words in both fields.
                break;
            }
        }
        if let Some(piece) = delta.content.filter(|piece| is_text(piece)) {
            self.text(piece, stream)?;
            progress = Progress::Content;
        }
        if let Some(piece) = delta.refusal.filter(|piece| is_text(piece)) {
            self.refused = true;
            self.text(piece, stream)?;
            progress = Progress::Content;
        }
        for call in delta.tool_calls.iter().flat_map(Few::iter) {
            self.parts.call(call, stream)?;
            progress = Progress::Content;
        }
        Ok(progress)
    }

    fn text(&mut self, piece: &RawValue, stream: &dyn Stream) -> Result<(), Fault> {
        let text = lossless::text(piece).unwrap_or_default();
        self.parts.text(piece, stream)?;
        stream.text(&text);
        if self.watch.sees(&text) {
            self.end = End::Stopped;
        }
        Ok(())
    }

    fn finished(mut self, stream: &dyn Stream) -> Result<Closed, Fault> {
        let stopped = self.parts.cut_at_stop(&self.watch);
        let said = self.finish_reason.as_deref().unwrap_or_default();
        let ending = match said {
            "length" | "model_length" => Ending::Limit,
            _ => Ending::Other,
        };
        let bytes = self.parts.bytes();
        let draft = self.parts.close(stream)?;
        let has_calls = draft.has_calls();
        let (blocks, cut) = draft.close(ending);
        let stop_sequence = stopped.or(self.stop_sequence);
        let usage = self.asked.usage(self.usage, bytes, &mut self.envelope);
        let stop_reason = match (self.refused, &stop_sequence, has_calls) {
            (true, _, _) => StopReason::Refusal,
            (false, Some(_), false) => StopReason::StopSequence,
            (false, _, true) => with_calls(said),
            (false, None, false) => without_calls(said)?,
        };
        let reply = Reply { blocks, cut, stop_reason, stop_sequence, usage, envelope: None };
        Ok(Closed { reply, envelope: self.envelope })
    }
}

/// Whatever a server says, calls are calls; only the output limit is news.
fn with_calls(said: &str) -> StopReason {
    match said {
        "length" => StopReason::MaxTokens,
        "model_length" => StopReason::ContextWindowExceeded,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::ToolUse,
    }
}

fn without_calls(said: &str) -> Result<StopReason, Fault> {
    match said {
        "" | "stop" | "eos" | "tool_calls" | "function_call" => Ok(StopReason::EndTurn),
        "length" => Ok(StopReason::MaxTokens),
        "content_filter" => Ok(StopReason::Refusal),
        "model_length" => Ok(StopReason::ContextWindowExceeded),
        "error" | "insufficient_system_resource" | "abort" => {
            Err(Fault::Cut(format!("the server gave up: {said}")))
        }
        other => Ok(StopReason::from(other)),
    }
}

fn is_text(piece: &RawValue) -> bool {
    !matches!(piece.get(), "null" | "\"\"" | "[]")
}

impl Decode for Decoder {
    fn event(&mut self, event: &sse::Event<'_>, stream: &dyn Stream) -> Result<Progress, Fault> {
        if event.data.trim() == DONE {
            self.end = End::Said;
            return Ok(Progress::Done);
        }
        if event.name == "error" {
            return Err(faults::reported(&event.data));
        }
        self.chunk(&event.data, stream)
    }

    fn begun(&self) -> Begun {
        self.begun
    }

    fn close(mut self: Box<Self>, stream: &dyn Stream) -> Result<Closed, Fault> {
        if self.finish_reason.is_none() {
            match self.end {
                End::Open => return Err(Fault::Cut("before its finish reason".to_owned())),
                End::Said => self.envelope.notice(Notice::StopReasonMissing),
                End::Stopped => {}
            }
        }
        self.finished(stream)
    }
}
