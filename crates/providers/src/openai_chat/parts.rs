//! The parts of a chat reply in the order they first appeared: reasoning, text, calls.
//!
//! A part is settled when a later one has begun and nothing can be added to it: a call when its
//! arguments are one JSON value. Calls that are streamed in turns therefore work, too.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::value::RawValue;
use windlass_core::block::Block;
use windlass_runtime::ports::Stream;

use super::chunk::CallDelta;
use crate::asked::Asked;
use crate::draft::{Call, Draft};
use crate::fault::Fault;
use crate::foreign;
use crate::limits::OPEN_BLOCKS;
use crate::lossless;
use crate::stops::StopWatch;

/// What a part costs besides its text, so that a flood of empty ones is bounded too.
const PART_BYTES: usize = 64;

#[derive(Debug)]
pub(super) struct Parts {
    model: Arc<str>,
    ask: u32,
    draft: Draft,
    open: VecDeque<Part>,
    calls: u64,
    settled: Vec<u64>,
}

#[derive(Debug)]
enum Part {
    /// Escaped text.
    Text(String),
    /// Escaped reasoning, and its field.
    Thought(&'static str, String),
    Call(OpenCall),
}

#[derive(Debug)]
struct OpenCall {
    index: u64,
    id: String,
    name: String,
    input: String,
    /// Bytes of the input when it was last found to be incomplete: it is not read again before
    /// there is more of it.
    incomplete_at: Option<usize>,
}

impl Parts {
    pub(super) fn new(asked: &Asked) -> Self {
        Self {
            model: Arc::clone(&asked.model),
            ask: asked.ask,
            draft: Draft::default(),
            open: VecDeque::new(),
            calls: 0,
            settled: Vec::new(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.draft.bytes()
    }

    pub(super) fn text(&mut self, piece: &RawValue, stream: &dyn Stream) -> Result<(), Fault> {
        let Some(piece) = lossless::escaped(piece) else { return self.list(piece, stream) };
        self.draft.count(piece.len())?;
        match self.open.back_mut() {
            Some(Part::Text(text)) => text.push_str(piece),
            _ => self.begin(Part::Text(piece.to_owned()), stream)?,
        }
        Ok(())
    }

    /// Content as a list of parts, as some servers send it.
    fn list(&mut self, parts: &RawValue, stream: &dyn Stream) -> Result<(), Fault> {
        #[derive(serde::Deserialize)]
        struct Piece<'a> {
            #[serde(borrow)]
            text: Option<&'a RawValue>,
            #[serde(borrow)]
            thinking: Option<Vec<Piece<'a>>>,
        }
        let pieces: Vec<Piece<'_>> = serde_json::from_str(parts.get()).unwrap_or_default();
        for piece in &pieces {
            for text in piece.text.iter().filter(|text| lossless::escaped(text).is_some()) {
                self.text(text, stream)?;
            }
            for thought in piece.thinking.iter().flatten().filter_map(|piece| piece.text) {
                self.thought("content", thought, stream)?;
            }
        }
        Ok(())
    }

    pub(super) fn thought(
        &mut self,
        field: &'static str,
        piece: &RawValue,
        stream: &dyn Stream,
    ) -> Result<(), Fault> {
        let Some(escaped) = lossless::escaped(piece) else { return Ok(()) };
        self.draft.count(escaped.len())?;
        stream.thinking(&lossless::text(piece).unwrap_or_default());
        match self.open.back_mut() {
            Some(Part::Thought(known, text)) if *known == field => text.push_str(escaped),
            _ => self.begin(Part::Thought(field, escaped.to_owned()), stream)?,
        }
        Ok(())
    }

    pub(super) fn call(&mut self, delta: &CallDelta<'_>, stream: &dyn Stream) -> Result<(), Fault> {
        let index = self.index_of(delta);
        if !self.open.iter().any(|part| part.is_call(index)) {
            if self.settled.contains(&index) {
                return late(delta);
            }
            let id = delta.id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned);
            let id = id.unwrap_or_else(|| format!("call_{}_{}", self.ask, self.calls));
            self.calls += 1;
            let (name, input) = (String::new(), String::new());
            self.begin(
                Part::Call(OpenCall { index, id, name, input, incomplete_at: None }),
                stream,
            )?;
        }
        let arguments = delta.function.as_ref().and_then(|function| function.arguments);
        self.draft.count(arguments.map_or(0, |arguments| arguments.get().len()))?;
        let call = self.open.iter_mut().find_map(|part| part.call_mut(index));
        if let Some(call) = call {
            call.add(delta);
        }
        Ok(())
    }

    /// The call a delta belongs to, also where the server does not number them.
    fn index_of(&self, delta: &CallDelta<'_>) -> u64 {
        if let Some(index) = delta.index {
            return index;
        }
        let last = self.open.iter().rev().find_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text(_) | Part::Thought(..) => None,
        });
        let is_new =
            |call: &OpenCall| delta.id.as_deref().is_some_and(|id| !id.is_empty() && id != call.id);
        match last {
            Some(call) if !is_new(call) => call.index,
            Some(_) | None => self.calls,
        }
    }

    fn begin(&mut self, part: Part, stream: &dyn Stream) -> Result<(), Fault> {
        self.draft.count(PART_BYTES)?;
        if self.open.len() >= OPEN_BLOCKS {
            return Err(Fault::Malformed(
                "the stream makes no sense: too many calls at the same time".to_owned(),
            ));
        }
        self.open.push_back(part);
        while self.open.len() > 1 && self.open.front_mut().is_some_and(Part::is_complete) {
            self.settle_first(stream)?;
        }
        Ok(())
    }

    fn settle_first(&mut self, stream: &dyn Stream) -> Result<(), Fault> {
        match self.open.pop_front() {
            Some(Part::Text(text)) => {
                self.draft.block(Block::text(&lossless::text_of_escaped(&text)), stream)
            }
            Some(Part::Thought(field, text)) => {
                match foreign::chat_thought(&text, &self.model, field) {
                    Some(block) => self.draft.block(block, stream),
                    None => Ok(()),
                }
            }
            Some(Part::Call(call)) => {
                self.settled.push(call.index);
                self.draft.call(Call::new(&call.id, &call.name, call.input), stream)
            }
            None => Ok(()),
        }
    }

    /// Ends the text before the stop string it holds, if it holds one.
    pub(super) fn cut_at_stop(&mut self, watch: &StopWatch) -> Option<Arc<str>> {
        let Some(Part::Text(text)) = self.open.back_mut() else { return None };
        let whole = lossless::text_of_escaped(text);
        let (before, stop) = watch.cut(&whole)?;
        let mut escaped = Vec::new();
        lossless::push_escaped(&mut escaped, before);
        *text = String::from_utf8(escaped).unwrap_or_default();
        if text.is_empty() {
            self.open.pop_back();
        }
        Some(stop)
    }

    pub(super) fn close(mut self, stream: &dyn Stream) -> Result<Draft, Fault> {
        while !self.open.is_empty() {
            self.settle_first(stream)?;
        }
        Ok(self.draft)
    }
}

impl Part {
    fn is_call(&self, index: u64) -> bool {
        matches!(self, Self::Call(call) if call.index == index)
    }

    fn call_mut(&mut self, index: u64) -> Option<&mut OpenCall> {
        match self {
            Self::Call(call) if call.index == index => Some(call),
            Self::Call(_) | Self::Text(_) | Self::Thought(..) => None,
        }
    }

    fn is_complete(&mut self) -> bool {
        match self {
            Self::Text(_) | Self::Thought(..) => true,
            Self::Call(call) => call.is_complete(),
        }
    }
}

impl OpenCall {
    fn is_complete(&mut self) -> bool {
        if self.incomplete_at == Some(self.input.len()) {
            return false;
        }
        let is_complete = serde_json::from_str::<&RawValue>(&self.input).is_ok();
        self.incomplete_at = (!is_complete).then_some(self.input.len());
        is_complete
    }

    fn add(&mut self, delta: &CallDelta<'_>) {
        let Some(function) = &delta.function else { return };
        if let Some(name) = function.name.as_deref().filter(|_| self.name.is_empty()) {
            name.clone_into(&mut self.name);
        }
        match function.arguments {
            None => {}
            Some(arguments) if arguments.get() == "null" => {}
            Some(arguments) => match lossless::text(arguments) {
                Some(piece) => self.input.push_str(&piece),
                None => arguments.get().clone_into(&mut self.input),
            },
        }
    }
}

/// A settled call may have been started already: nothing can be added to it.
fn late(delta: &CallDelta<'_>) -> Result<(), Fault> {
    let piece = delta.function.as_ref().and_then(|function| function.arguments);
    let piece = piece.and_then(lossless::text).unwrap_or_default();
    if piece.trim().is_empty() {
        return Ok(());
    }
    Err(Fault::Malformed(
        "the stream makes no sense: more arguments for a complete call".to_owned(),
    ))
}
