//! The run as messages for programs: one JSON object a line, in the shapes the SDKs read.

use std::cell::Cell;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};
use windlass::core::apply::apply;
use windlass::core::call::CallState;
use windlass::core::conversation::Conversation;
use windlass::core::ids::{CallId, LaneId, Millis};
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::permission::Verdict;
use windlass::core::raw::Raw;
use windlass::core::record::Record;
use windlass::core::reply::Reply;
use windlass::core::run::Run;
use windlass::ports::Clock;
use windlass::{End, Item, Session, SystemClock};

use super::init;
use super::messages;
use super::partial::{self, Part, Partial};
use super::result::{self, Tally};
use crate::args::AgentArgs;
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
    tally: Tally,
    /// Why the last message could not be written: whoever read them is gone.
    unread: Cell<Option<io::ErrorKind>>,
}

impl Frames {
    pub(super) async fn new(
        session: &Session,
        setup: &Setup,
        args: &AgentArgs,
        streams: bool,
    ) -> anyhow::Result<Self> {
        let settings = &setup.settings;
        Ok(Self {
            lane: session.lane().clone(),
            session_id: result::session_id(session.lane()),
            model: settings.model.name.clone(),
            streams,
            partial: (streams && args.output.include_partial_messages).then(Partial::default),
            now: session.conversation().await.unwrap_or_default(),
            asked_at: None,
            detail: None,
            tally: Tally::new(settings),
            unread: Cell::default(),
        })
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
        let Some(partial) = &mut self.partial else { return };
        let events = partial.piece(kind, piece, &self.model);
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
            apply(&mut self.now, entry.at, &entry.input, record);
            self.after(entry, record);
        }
        self.now.head = entry.seq;
    }

    fn before(&mut self, entry: &Entry, record: &Record) {
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
            Record::Judged { call, verdict: Verdict::Deny { reason } } => {
                self.denied(*call, reason);
            }
            _ => {}
        }
    }

    fn after(&mut self, entry: &Entry, record: &Record) {
        if matches!(record, Record::Asked { .. }) {
            self.asked_at = Some(entry.at);
        }
        // Nothing is composed that nobody reads.
        if self.streams {
            self.tell(entry, record);
        }
    }

    /// The messages about a record that was applied.
    fn tell(&self, entry: &Entry, record: &Record) {
        match record {
            Record::Asked { .. } if self.partial.is_some() => {
                self.write(json!({"type": "system", "subtype": "status", "status": "requesting"}));
            }
            Record::Settled { call, .. } => self.tool_result(*call, entry.at),
            Record::Compacted { .. } | Record::Pruned { .. } => {
                let tokens = self.now.meter.estimate(self.now.request_bytes());
                self.write(messages::compacted(tokens));
            }
            Record::Deferred { until, failures } => {
                let most = self.now.settings.as_ref().map(|s| s.limits.model_retries);
                let after_ms = until.since(entry.at);
                self.write(messages::retry(&entry.input, *failures, most, after_ms));
            }
            Record::FellBack { why } => {
                let settings = self.now.settings.as_ref();
                let other = settings.and_then(|s| s.fallback.as_ref()).map(|m| &*m.name);
                self.write(messages::fell_back(&self.model, other, why));
            }
            _ => {}
        }
    }

    /// One message for each block, as the SDKs expect, in its place among the events.
    fn replied(&mut self, (reply, at): (&Reply, Millis), whole: Whole) {
        let mut alone = Partial::default();
        let partial = self.partial.as_mut();
        let is_streamed = partial.is_some();
        let partial = partial.unwrap_or(&mut alone);
        let id = partial.id();
        for part in partial.replied(reply, &self.model) {
            match part {
                Part::Event(event) if is_streamed => self.event(event),
                Part::Block(place) if whole == Whole::Told => self.block((reply, at), place, &id),
                Part::Event(_) | Part::Block(_) => {}
            }
        }
    }

    fn block(&self, (reply, at): (&Reply, Millis), place: usize, id: &str) {
        let Some(block) = reply.blocks.get(place) else { return };
        self.write(messages::block(block, (&self.model, id), &reply.usage, at));
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
