//! The run as messages for programs: one JSON object a line, in the shapes the SDKs read.

use std::cell::Cell;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};
use windlass::core::apply::apply;
use windlass::core::call::CallState;
use windlass::core::conversation::Asked;
use windlass::core::conversation::Conversation;
use windlass::core::ids::{CallId, LaneId, Millis};
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::permission::Verdict;
use windlass::core::raw::Raw;
use windlass::core::record::{Record, Transition};
use windlass::core::reply::Reply;
use windlass::core::run::Run;
use windlass::core::settings::Settings;
use windlass::ports::Clock;
use windlass::{End, Item, SystemClock};

use super::init;
use super::messages::{self, Trigger};
use super::partial::{self, Part, Partial};
use super::result::{self, Tally};
use crate::args::{OutputArgs, OutputFormat};
use crate::setup::{self, Setup};

/// Whether the blocks of a reply are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Told,
    /// It was thrown away; only that its events are over is told.
    Untold,
}

/// Turns what happens into messages.
pub(super) struct Frames {
    lane: LaneId,
    session_id: String,
    model: Arc<str>,
    streams: bool,
    /// The message on its way, for those who want its pieces.
    partial: Option<Partial>,
    now: Conversation,
    asked_at: Option<Millis>,
    /// What the tool brought of the call that settles next, for those who watch.
    detail: Option<Raw>,
    /// What the last compaction was for.
    trigger: Trigger,
    tally: Tally,
    /// Whether an interrupt was counted.
    interrupted: bool,
    /// Why the last message could not be written: whoever read them is gone.
    unread: Cell<Option<io::ErrorKind>>,
}

impl Frames {
    /// `before` is the conversation before the first entry that will be shown. The log may be
    /// further by now: entries are never taken for old ones.
    pub(super) fn new(
        lane: &LaneId,
        before: Conversation,
        settings: &Settings,
        output: &OutputArgs,
    ) -> Self {
        let streams = output.format() == OutputFormat::StreamJson;
        Self {
            lane: lane.clone(),
            session_id: result::session_id(lane),
            model: settings.model.name.clone(),
            streams,
            partial: (streams && output.include_partial_messages).then(Partial::default),
            tally: Tally::after(&before, settings),
            now: before,
            asked_at: None,
            detail: None,
            trigger: Trigger::Auto,
            interrupted: false,
            unread: Cell::default(),
        }
    }

    /// The first message.
    pub(super) fn init(&self, setup: &Setup) {
        self.write(init::message(setup));
    }

    /// Another conversation ends here, and this one begins.
    pub(super) fn reset(&self, old: &LaneId) {
        let message = json!({"type": "conversation_reset", "new_conversation_id": self.session_id});
        self.write_as(&result::session_id(old), message);
    }

    /// Writes a message with what every message has.
    fn write(&self, message: Value) {
        self.write_as(&self.session_id, message);
    }

    fn write_as(&self, session_id: &str, mut message: Value) {
        if !self.streams {
            return;
        }
        if let Some(fields) = message.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(session_id));
            fields.insert("uuid".to_owned(), json!(setup::new_id()));
        }
        let mut out = io::stdout();
        if let Err(error) = writeln!(out, "{message}").and_then(|()| out.flush()) {
            self.unread.set(Some(error.kind()));
        }
    }

    pub(super) fn show(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Text { piece, .. } => self.piece(partial::Kind::Text, piece),
            Item::Thinking { piece, .. } => self.piece(partial::Kind::Thinking, piece),
            Item::Ended(_) => {}
            Item::Entry(entry) => self.entry(entry),
        }
        self.unread.get().map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn piece(&mut self, kind: partial::Kind, piece: &str) {
        let model = self.model();
        let Some(partial) = &mut self.partial else { return };
        let events = partial.piece(kind, piece, &model);
        events.into_iter().for_each(|event| self.event(event));
    }

    fn event(&self, event: Value) {
        self.write(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}));
    }

    fn entry(&mut self, entry: &Entry) {
        if entry.seq <= self.now.head {
            return;
        }
        for record in &entry.records {
            self.before(entry, record);
            let counted = self.tally.begin_count(&self.now, record);
            let tokens = self.tokens_before(record);
            apply(&mut self.now, entry.at, &entry.input, record);
            self.tally.end_count(&self.now, counted);
            self.after(entry, record, tokens);
        }
        self.now.head = entry.seq;
    }

    /// Tokens of the context before a record that makes room in it.
    fn tokens_before(&self, record: &Record) -> u64 {
        match record {
            Record::Compacted { .. } if self.streams => self.tokens(),
            _ => 0,
        }
    }

    fn tokens(&self) -> u64 {
        self.now.meter.estimate(self.now.request_bytes())
    }

    /// The model that is asked now.
    fn model(&self) -> Arc<str> {
        let fallback = self.now.settings_in_use().filter(|_| self.now.run.is_some());
        fallback.map_or_else(|| self.model.clone(), |settings| settings.model.name.clone())
    }

    fn before(&mut self, entry: &Entry, record: &Record) {
        if let Input::ModelFailed { failure, .. } = &entry.input {
            self.tally.failed(&failure.message);
        }
        match record {
            Record::Replied { .. } => {
                if let Input::Replied { reply, .. } = &entry.input {
                    let since = self.asked_at.take().map_or(0, |asked| entry.at.since(asked));
                    self.tally.replied(reply, since);
                }
            }
            Record::ReplyKept {} | Record::RoundOpened { .. } if self.streams => {
                if let Input::Replied { reply, .. } = &entry.input {
                    self.replied((reply, entry.at), Whole::Told);
                }
            }
            Record::ReplyDropped { .. } if self.streams => {
                if let Input::Replied { reply, .. } = &entry.input {
                    self.replied((reply, entry.at), Whole::Untold);
                }
            }
            Record::AttemptAbandoned { .. } => {
                self.partial.iter_mut().for_each(Partial::abandon);
            }
            Record::Settled { call, .. } if self.streams => self.detail = self.detail(*call),
            Record::Compacted { .. } => {
                self.trigger = match self.now.compaction {
                    Asked::Yes => Trigger::Manual,
                    Asked::No => Trigger::Auto,
                };
            }
            Record::Finished { cause, .. } => self.tally.ends(&self.now, *cause),
            Record::Judged { call, verdict: Verdict::Deny { reason } } => {
                self.denied(*call, reason);
            }
            _ => {}
        }
    }

    fn after(&mut self, entry: &Entry, record: &Record, tokens_before: u64) {
        if matches!(record, Record::Asked { .. }) {
            self.asked_at = Some(entry.at);
        }
        if self.is_on_the_users_side(record) {
            self.tally.count_turn();
        }
        // Nothing is composed that nobody reads.
        if self.streams {
            self.tell(entry, record, tokens_before);
        }
    }

    /// Whether a record puts a message on the user's side: the result of a call, or what the runtime
    /// or a person says there.
    fn is_on_the_users_side(&mut self, record: &Record) -> bool {
        match record {
            Record::Settled { call, .. } => {
                let round = self.now.run.as_ref().and_then(Run::round);
                round.is_some_and(|round| round.call(*call).is_some())
            }
            // Pressing Ctrl-C again interrupts the same turn.
            Record::CancelRequested { .. } => !std::mem::replace(&mut self.interrupted, true),
            Record::Asked { transition, .. } => matches!(
                transition,
                Transition::ContinueText
                    | Transition::ReissueToolUse
                    | Transition::Reprompt
                    | Transition::Rejected
                    | Transition::Steer
            ),
            _ => false,
        }
    }

    /// The messages about a record that was applied.
    fn tell(&self, entry: &Entry, record: &Record, tokens_before: u64) {
        match record {
            Record::Asked { .. } if self.partial.is_some() => {
                self.write(json!({"type": "system", "subtype": "status", "status": "requesting"}));
            }
            Record::Settled { call, .. } => self.tool_result(*call, entry.at),
            Record::Compacted { .. } => {
                self.write(messages::compacted(self.trigger, tokens_before, self.tokens()));
            }
            Record::Deferred { until, failures } => {
                let most = self.now.settings.as_ref().map(|s| s.limits.model_retries);
                let after_ms = until.since(entry.at);
                self.write(messages::retry(&entry.input, *failures, most, after_ms));
            }
            Record::FellBack { why } => {
                let settings = self.now.settings.as_ref();
                let other = settings.and_then(|s| s.fallback.as_ref()).map(|m| &*m.name);
                self.write(messages::fell_back(&entry.input, &self.model, other, why));
            }
            _ => {}
        }
    }

    /// One message for each block, as the SDKs expect, in its place among the events.
    fn replied(&mut self, (reply, at): (&Reply, Millis), whole: Whole) {
        let model = self.model();
        let mut alone = Partial::default();
        let partial = self.partial.as_mut();
        let is_streamed = partial.is_some();
        let partial = partial.unwrap_or(&mut alone);
        let id = partial.id();
        for part in partial.replied(reply, &model) {
            match part {
                Part::Event(event) if is_streamed => self.event(event),
                Part::Block(place) if whole == Whole::Told => {
                    self.block((reply, at), place, (&model, &id));
                }
                Part::Event(_) | Part::Block(_) => {}
            }
        }
    }

    fn block(&self, (reply, at): (&Reply, Millis), place: usize, of: (&str, &str)) {
        let Some(block) = reply.blocks.get(place) else { return };
        self.write(messages::block(block, of, &reply.usage, at));
    }

    fn detail(&self, id: CallId) -> Option<Raw> {
        let round = self.now.run.as_ref().and_then(Run::round);
        match &round?.call(id)?.state {
            CallState::AfterHook(outcome) => outcome.detail().cloned(),
            _ => None,
        }
    }

    fn tool_result(&self, id: CallId, at: Millis) {
        let round = self.now.run.as_ref().and_then(Run::round);
        let Some(call) = round.and_then(|round| round.call(id)) else { return };
        if let CallState::Settled(shown) = &call.state {
            self.write(messages::tool_result(call, shown, self.detail.as_ref(), at));
        }
    }

    fn denied(&mut self, id: CallId, reason: &str) {
        let round = self.now.run.as_ref().and_then(Run::round);
        let Some(call) = round.and_then(|round| round.call(id)) else { return };
        let input: Value = call.tool_use.input.read().unwrap_or_default();
        let (tool, call_id) = (call.tool_use.name.clone(), call.tool_use.id.clone());
        self.tally.denials.push(json!({
            "tool_name": tool,
            "tool_use_id": call_id,
            "tool_input": input,
            "reason": reason,
        }));
        self.write(json!({
            "type": "system",
            "subtype": "permission_denied",
            "tool_name": tool,
            "tool_use_id": call_id,
            "message": reason,
        }));
    }

    /// Words that no model said.
    pub(super) fn said(&self, text: &str) {
        self.write(messages::said(text, SystemClock::start().now()));
    }

    /// The one result.
    pub(super) fn finish(&mut self, end: &End) -> anyhow::Result<()> {
        self.result(result::message(end, &self.tally, &self.now, &self.lane)?)
    }

    /// The same for a run that is left waiting for its provider.
    pub(super) fn leave(&self, said: &str) -> anyhow::Result<()> {
        self.result(result::left(said, &self.tally, &self.now)?)
    }

    /// The same, whatever it says.
    pub(super) fn result(&self, mut message: Value) -> anyhow::Result<()> {
        if let Some(fields) = message.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(self.session_id));
            fields.insert("uuid".to_owned(), json!(setup::new_id()));
        }
        let mut out = io::stdout();
        let written = writeln!(out, "{message}").and_then(|()| out.flush());
        written.map_err(|error| anyhow::anyhow!("the result cannot be written ({error})"))
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod frames_tests;
