//! A Messages stream becomes a reply.

use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::reply::{Reply, StopReason};
use windlass_runtime::ports::Stream;

use super::block::{Finished, OpenBlock};
use super::delta::{add, add_piece};
use super::ends::{self, End};
use super::event::Event;
use super::faults;
use super::flat::Flat;
use super::quick::{self, Quick};
use super::usage::Used;
use crate::asked::Asked;
use crate::draft::{Draft, Ending};
use crate::fault::{Begun, Fault};
use crate::limits::OPEN_BLOCKS;
use crate::notice::{Envelope, Notice};
use crate::numbers::ReportedUsage;
use crate::sse;
use crate::wire::{Closed, Decode, Progress};

/// Puts a reply together.
#[derive(Debug)]
pub(crate) struct Decoder {
    asked: Asked,
    draft: Draft,
    open: Vec<OpenBlock>,
    begun: Begun,
    stopped: bool,
    stop_reason: Option<Arc<str>>,
    stop_sequence: Option<Arc<str>>,
    usage: ReportedUsage,
    envelope: Envelope,
}

impl Decoder {
    pub(crate) fn new(asked: Asked) -> Self {
        Self {
            asked,
            draft: Draft::default(),
            open: Vec::new(),
            begun: Begun::No,
            stopped: false,
            stop_reason: None,
            stop_sequence: None,
            usage: ReportedUsage::default(),
            envelope: Envelope::default(),
        }
    }

    fn message_start(&mut self, event: &Event<'_>) -> Progress {
        match event.message.map(RawValue::get) {
            Some(message) => self.began(&used_in(message)),
            None => {
                self.begun = Begun::Yes;
                Progress::Content
            }
        }
    }

    fn began(&mut self, used: &Used) -> Progress {
        self.begun = Begun::Yes;
        self.usage.update(used.reported_at_start());
        Progress::Content
    }

    fn block_start(&mut self, event: &Event<'_>) -> Result<Progress, Fault> {
        self.begun = Begun::Yes;
        let Some(start) = event.content_block.filter(|_| !self.is_open(event.index)) else {
            return Ok(Progress::Content);
        };
        self.draft.count(start.get().len())?;
        let open = OpenBlock::new(event.index, start);
        let open = open.ok_or_else(|| malformed("a block that is no object"))?;
        self.begin(open)?;
        Ok(Progress::Content)
    }

    fn usual_block_start(&mut self, index: u64, block: &Flat<'_>) -> Result<Progress, Fault> {
        self.begun = Begun::Yes;
        if !self.is_open(index) {
            self.draft.count(block.text.len())?;
            self.begin(OpenBlock::with_fields(index, block.text, block.fields()))?;
        }
        Ok(Progress::Content)
    }

    fn begin(&mut self, block: OpenBlock) -> Result<(), Fault> {
        if self.open.len() >= OPEN_BLOCKS {
            return Err(malformed("too many blocks at the same time"));
        }
        self.open.push(block);
        Ok(())
    }

    fn is_open(&self, index: u64) -> bool {
        self.open.iter().any(|open| open.index == index)
    }

    fn block_delta(
        &mut self,
        event: &Event<'_>,
        data: &str,
        stream: &dyn Stream,
    ) -> Result<Progress, Fault> {
        let Some(delta) = &event.delta else { return Ok(Progress::Quiet) };
        add(self.added_to(event.index, data)?, delta, data, stream);
        Ok(Progress::Content)
    }

    /// The block that an event adds to.
    fn added_to(&mut self, index: u64, data: &str) -> Result<&mut OpenBlock, Fault> {
        self.draft.count(data.len())?;
        let open = self.open.iter_mut().find(|open| open.index == index);
        open.ok_or_else(|| malformed("a delta for a block that was not begun"))
    }

    fn quick(
        &mut self,
        event: &Quick<'_>,
        data: &str,
        stream: &dyn Stream,
    ) -> Result<Progress, Fault> {
        match event {
            Quick::Start { index, block } => self.usual_block_start(*index, block),
            Quick::Stop { index } => self.block_stop(*index, stream),
            Quick::End => self.message_stop(stream),
            Quick::Piece { index, of, piece } => {
                add_piece(self.added_to(*index, data)?, *of, piece, stream);
                Ok(Progress::Content)
            }
        }
    }

    fn block_stop(&mut self, index: u64, stream: &dyn Stream) -> Result<Progress, Fault> {
        if let Some(at) = self.open.iter().position(|open| open.index == index) {
            let open = self.open.remove(at);
            self.settle(open, stream)?;
        }
        Ok(Progress::Content)
    }

    fn settle(&mut self, open: OpenBlock, stream: &dyn Stream) -> Result<(), Fault> {
        match open.finish() {
            Finished::Block(block) => self.draft.block(block, stream),
            Finished::Call(call) => self.draft.call(call, stream),
        }
    }

    fn message_delta(&mut self, event: &Event<'_>) -> Progress {
        if let Some(usage) = event.usage {
            self.usage.update(Used::read(usage.get()).reported());
        }
        if let Some(delta) = &event.delta {
            self.stop_reason =
                delta.stop_reason.as_deref().map(Arc::from).or(self.stop_reason.take());
            self.stop_sequence =
                delta.stop_sequence.as_deref().map(Arc::from).or(self.stop_sequence.take());
        }
        Progress::Content
    }

    /// The same of a message that ends as usual.
    fn ended(&mut self, end: &End<'_>) -> Progress {
        self.usage.update(end.usage.reported());
        self.stop_reason = Some(Arc::from(&*end.delta.stop_reason));
        let sequence = end.delta.stop_sequence.as_deref();
        self.stop_sequence = sequence.map(Arc::from).or(self.stop_sequence.take());
        Progress::Content
    }

    fn message_stop(&mut self, stream: &dyn Stream) -> Result<Progress, Fault> {
        for open in std::mem::take(&mut self.open) {
            self.settle(open, stream)?;
        }
        self.stopped = true;
        Ok(Progress::Done)
    }

    fn finished(mut self) -> Closed {
        let said = self.stop_reason.unwrap_or_else(|| Arc::from("end_turn"));
        let stop_reason = StopReason::from(said);
        let ending = match stop_reason {
            StopReason::MaxTokens | StopReason::ContextWindowExceeded => Ending::Limit,
            _ => Ending::Other,
        };
        let usage = self.asked.usage(self.usage, self.draft.bytes(), &mut self.envelope);
        let (blocks, cut) = self.draft.close(ending);
        let stop_reason = match (stop_reason, &cut) {
            // Nothing is finished while a call is cut, whatever the server says.
            (StopReason::EndTurn, Some(_)) => StopReason::ToolUse,
            (said, _) => said,
        };
        let stop_sequence = self.stop_sequence;
        let reply = Reply { blocks, cut, stop_reason, stop_sequence, usage, envelope: None };
        Closed { reply, envelope: self.envelope }
    }
}

impl Decode for Decoder {
    fn event(&mut self, event: &sse::Event<'_>, stream: &dyn Stream) -> Result<Progress, Fault> {
        let data = event.data.as_ref();
        if let Some(event) = quick::read(data) {
            return self.quick(&event, data, stream);
        }
        if let Some(used) = ends::start(data) {
            return Ok(self.began(&used));
        }
        if let Some(end) = ends::end(data) {
            return Ok(self.ended(&end));
        }
        let event: Event<'_> = serde_json::from_str(data).map_err(|error| unreadable(&error))?;
        match event.kind.as_ref() {
            "message_start" => Ok(self.message_start(&event)),
            "content_block_start" => self.block_start(&event),
            "content_block_delta" => self.block_delta(&event, data, stream),
            "content_block_stop" => self.block_stop(event.index, stream),
            "message_delta" => Ok(self.message_delta(&event)),
            "message_stop" => self.message_stop(stream),
            "error" => Err(faults::reported(event.error.map(|error| error.get()).unwrap_or(data))),
            // Pings, and events nobody has invented yet.
            _ => Ok(Progress::Quiet),
        }
    }

    fn begun(&self) -> Begun {
        self.begun
    }

    fn close(mut self: Box<Self>, _stream: &dyn Stream) -> Result<Closed, Fault> {
        if !self.stopped {
            let place = if self.open.is_empty() { "between blocks" } else { "inside a block" };
            return Err(Fault::Cut(place.to_owned()));
        }
        if self.stop_reason.is_none() {
            self.envelope.notice(Notice::StopReasonMissing);
        }
        Ok(self.finished())
    }
}

/// What a message says it used; nothing if nobody can read it.
fn used_in(message: &str) -> Used {
    #[derive(Default, serde::Deserialize)]
    struct Message {
        usage: Option<Used>,
    }
    let message: Message = serde_json::from_str(message).unwrap_or_default();
    message.usage.unwrap_or_default()
}

fn malformed(what: &str) -> Fault {
    Fault::Malformed(format!("the stream makes no sense: {what}"))
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::Malformed(format!("an event is not the JSON it should be: {error}"))
}
