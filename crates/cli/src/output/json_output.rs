//! JSON output: one message per line, in the format of the SDKs.

use std::cell::Cell;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};
use windlass::core::apply::apply;
use windlass::core::call::call_state::CallState;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::{CallId, LaneId, UnixMillis};
use windlass::core::log::input::Input;
use windlass::core::log::record::{Record, Transition};
use windlass::core::message::raw_json::RawJson;
use windlass::core::message::reply::ModelReply;
use windlass::core::permission::PermissionDecision;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::{CompactionRequest, Conversation};
use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::Clock;
use windlass::{RunOutcome, StreamItem, SystemClock};

use super::init_message;
use super::partial_message::{self, PartialMessage, StreamPart};
use super::result_message::{self, ResultTally};
use super::sdk_messages::{self, CompactTrigger};
use crate::args::{OutputArgs, OutputFormat};
use crate::setup::{self, RunSetup};

/// Whether the blocks of a reply are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockOutput {
    Emit,
    /// The reply was discarded; only the end of its events is written.
    Suppress,
}

/// Converts entries of the log to messages.
pub(super) struct JsonOutput {
    lane: LaneId,
    session_id: String,
    model: Arc<str>,
    streams: bool,
    /// The message that is being streamed, if partial messages are enabled.
    partial: Option<PartialMessage>,
    conversation: Conversation,
    call_started_at: Option<UnixMillis>,
    /// Details from the tool about the call that finishes next, for observers.
    detail: Option<RawJson>,
    /// The trigger of the last compaction.
    trigger: CompactTrigger,
    tally: ResultTally,
    /// Whether an interrupt was counted.
    interrupted: bool,
    /// The error of the last write; the reader is gone.
    write_error: Cell<Option<io::ErrorKind>>,
}

impl JsonOutput {
    /// Creates the output; `before` is the conversation before the first entry that will be shown.
    /// The log may be further by now: entries are never mistaken for old ones.
    pub(super) fn new(
        lane: &LaneId,
        before: Conversation,
        settings: &Settings,
        output: &OutputArgs,
    ) -> Self {
        let streams = output.format() == OutputFormat::StreamJson;
        Self {
            lane: lane.clone(),
            session_id: result_message::session_id(lane),
            model: settings.model.name.clone(),
            streams,
            partial: (streams && output.include_partial_messages).then(PartialMessage::default),
            tally: ResultTally::for_resumed_run(&before, settings),
            conversation: before,
            call_started_at: None,
            detail: None,
            trigger: CompactTrigger::Auto,
            interrupted: false,
            write_error: Cell::default(),
        }
    }

    /// Writes the init message.
    pub(super) fn write_init(&self, setup: &RunSetup) {
        self.write(init_message::build_init_message(setup));
    }

    /// Writes that another conversation ends here, and this one starts.
    pub(super) fn write_reset(&self, old: &LaneId) {
        let message = json!({"type": "conversation_reset", "new_conversation_id": self.session_id});
        self.write_for_session(&result_message::session_id(old), message);
    }

    /// Writes a message with the fields of every message.
    fn write(&self, message: Value) {
        self.write_for_session(&self.session_id, message);
    }

    fn write_for_session(&self, session_id: &str, mut message: Value) {
        if !self.streams {
            return;
        }
        if let Some(fields) = message.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(session_id));
            fields.insert("uuid".to_owned(), json!(setup::new_id()));
        }
        let mut out = io::stdout();
        if let Err(error) = writeln!(out, "{message}").and_then(|()| out.flush()) {
            self.write_error.set(Some(error.kind()));
        }
    }

    pub(super) fn on_item(&mut self, item: &StreamItem) -> io::Result<()> {
        match item {
            StreamItem::TextDelta { text, .. } => {
                self.on_piece(partial_message::PieceKind::Text, text);
            }
            StreamItem::ThinkingDelta { text, .. } => {
                self.on_piece(partial_message::PieceKind::Thinking, text);
            }
            StreamItem::RunEnded(_) => {}
            StreamItem::Entry(entry) => self.on_entry(entry),
        }
        self.write_error.get().map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn on_piece(&mut self, kind: partial_message::PieceKind, chunk: &str) {
        let model = self.model_in_use();
        let Some(partial) = &mut self.partial else { return };
        let events = partial.push_piece(kind, chunk, &model);
        events.into_iter().for_each(|event| self.write_stream_event(event));
    }

    fn write_stream_event(&self, event: Value) {
        self.write(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}));
    }

    fn on_entry(&mut self, entry: &Entry) {
        if entry.seq <= self.conversation.head {
            return;
        }
        for record in &entry.records {
            self.before_record(entry, record);
            let counted = self.tally.snapshot_usage(&self.conversation, record);
            let tokens = self.tokens_before(record);
            apply(&mut self.conversation, entry.at, &entry.input, record);
            self.tally.add_usage_since(&self.conversation, counted);
            self.after_record(entry, record, tokens);
        }
        self.conversation.head = entry.seq;
    }

    /// Tokens of the context before a record that compacts it.
    fn tokens_before(&self, record: &Record) -> u64 {
        match record {
            Record::Compacted { .. } if self.streams => self.estimate_tokens(),
            _ => 0,
        }
    }

    fn estimate_tokens(&self) -> u64 {
        self.conversation.meter.estimate(self.conversation.request_bytes())
    }

    /// The model in use.
    fn model_in_use(&self) -> Arc<str> {
        let fallback =
            self.conversation.active_settings().filter(|_| self.conversation.run.is_some());
        fallback.map_or_else(|| self.model.clone(), |settings| settings.model.name.clone())
    }

    fn before_record(&mut self, entry: &Entry, record: &Record) {
        if let Input::ModelFailed { failure, .. } = &entry.input {
            self.tally.set_failure(&failure.message);
        }
        match record {
            Record::ModelReplied { .. } => {
                if let Input::ModelReplied { reply, .. } = &entry.input {
                    let since =
                        self.call_started_at.take().map_or(0, |asked| entry.at.ms_since(asked));
                    self.tally.add_reply(reply, since);
                }
            }
            Record::ReplyKept {} | Record::RoundOpened { .. } if self.streams => {
                if let Input::ModelReplied { reply, .. } = &entry.input {
                    self.write_reply((reply, entry.at), BlockOutput::Emit);
                }
            }
            Record::ReplyDropped { .. } if self.streams => {
                if let Input::ModelReplied { reply, .. } = &entry.input {
                    self.write_reply((reply, entry.at), BlockOutput::Suppress);
                }
            }
            Record::ModelCallAbandoned { .. } => {
                self.partial.iter_mut().for_each(PartialMessage::reset);
            }
            Record::ResultFinalized { call, .. } if self.streams => {
                self.detail = self.tool_detail(*call);
            }
            Record::Compacted { .. } => {
                self.trigger = match self.conversation.compaction_request {
                    CompactionRequest::Requested => CompactTrigger::Manual,
                    CompactionRequest::NotRequested => CompactTrigger::Auto,
                };
            }
            Record::RunFinished { cause, .. } => self.tally.ends(&self.conversation, *cause),
            Record::PermissionDecided {
                call,
                verdict: PermissionDecision::Deny { reason, .. },
            } => {
                self.on_denied(*call, reason);
            }
            _ => {}
        }
    }

    fn after_record(&mut self, entry: &Entry, record: &Record, tokens_before: u64) {
        if matches!(record, Record::ModelCallStarted { .. }) {
            self.call_started_at = Some(entry.at);
        }
        if self.adds_user_message(record) {
            self.tally.count_turn();
        }
        // Messages are built only if they are written.
        if self.streams {
            self.write_record_messages(entry, record, tokens_before);
        }
    }

    /// Returns whether a record adds a user message: the result of a call, or what the runtime or a
    /// person adds there.
    fn adds_user_message(&mut self, record: &Record) -> bool {
        match record {
            Record::ResultFinalized { call, .. } => {
                let round = self.conversation.run.as_ref().and_then(Run::round);
                round.is_some_and(|round| round.call(*call).is_some())
            }
            // A second Ctrl-C interrupts the same turn.
            Record::CancelRequested { .. } => !std::mem::replace(&mut self.interrupted, true),
            Record::ModelCallStarted { transition, .. } => matches!(
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

    /// Writes the messages about a record that was applied.
    fn write_record_messages(&self, entry: &Entry, record: &Record, tokens_before: u64) {
        match record {
            Record::ModelCallStarted { .. } if self.partial.is_some() => {
                self.write(json!({"type": "system", "subtype": "status", "status": "requesting"}));
            }
            Record::ResultFinalized { call, .. } => self.write_tool_result(*call, entry.at),
            Record::Compacted { .. } => {
                self.write(sdk_messages::compact_boundary(
                    self.trigger,
                    tokens_before,
                    self.estimate_tokens(),
                ));
            }
            Record::ModelRetryScheduled { until, failures } => {
                let most = self.conversation.settings.as_ref().map(|s| s.limits.model_retries);
                let after_ms = until.ms_since(entry.at);
                self.write(sdk_messages::api_retry(&entry.input, *failures, most, after_ms));
            }
            Record::FallbackModelSelected { why } => {
                let settings = self.conversation.settings.as_ref();
                let other = settings.and_then(|s| s.fallback.as_ref()).map(|m| &*m.name);
                self.write(sdk_messages::model_fallback(&entry.input, &self.model, other, why));
            }
            _ => {}
        }
    }

    /// Writes one message for each block, as the SDKs expect, in its position among the events.
    fn write_reply(&mut self, (reply, at): (&ModelReply, UnixMillis), whole: BlockOutput) {
        let model = self.model_in_use();
        let mut alone = PartialMessage::default();
        let partial = self.partial.as_mut();
        let is_streamed = partial.is_some();
        let partial = partial.unwrap_or(&mut alone);
        let id = partial.message_id();
        for part in partial.complete(reply, &model) {
            match part {
                StreamPart::Event(event) if is_streamed => self.write_stream_event(event),
                StreamPart::Block(index) if whole == BlockOutput::Emit => {
                    self.write_block((reply, at), index, (&model, &id));
                }
                StreamPart::Event(_) | StreamPart::Block(_) => {}
            }
        }
    }

    fn write_block(&self, (reply, at): (&ModelReply, UnixMillis), index: usize, of: (&str, &str)) {
        let Some(block) = reply.blocks.get(index) else { return };
        self.write(sdk_messages::assistant_block(block, of, &reply.usage, at));
    }

    fn tool_detail(&self, id: CallId) -> Option<RawJson> {
        let round = self.conversation.run.as_ref().and_then(Run::round);
        match &round?.call(id)?.state {
            CallState::AwaitingPostHook(outcome) => outcome.detail().cloned(),
            _ => None,
        }
    }

    fn write_tool_result(&self, id: CallId, at: UnixMillis) {
        let round = self.conversation.run.as_ref().and_then(Run::round);
        let Some(call) = round.and_then(|round| round.call(id)) else { return };
        if let CallState::Finished(result) = &call.state {
            self.write(sdk_messages::tool_result_message(call, result, self.detail.as_ref(), at));
        }
    }

    fn on_denied(&mut self, id: CallId, reason: &str) {
        let round = self.conversation.run.as_ref().and_then(Run::round);
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

    /// Writes a text that is not from the model.
    pub(super) fn write_synthetic_text(&self, text: &str) {
        self.write(sdk_messages::synthetic_text(text, SystemClock::start().now()));
    }

    /// Writes the result message, of which there is one.
    pub(super) fn finish(&mut self, end: &RunOutcome) -> anyhow::Result<()> {
        self.write_result(result_message::build_result(
            end,
            &self.tally,
            &self.conversation,
            &self.lane,
        )?)
    }

    /// Writes the result of a run whose model stayed unreachable.
    pub(super) fn finish_unreachable(&self, text: &str) -> anyhow::Result<()> {
        self.write_result(result_message::unreachable_result(
            text,
            &self.tally,
            &self.conversation,
        )?)
    }

    /// Writes any message as the result.
    pub(super) fn write_result(&self, mut message: Value) -> anyhow::Result<()> {
        if let Some(fields) = message.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(self.session_id));
            fields.insert("uuid".to_owned(), json!(setup::new_id()));
        }
        let mut out = io::stdout();
        let written = writeln!(out, "{message}").and_then(|()| out.flush());
        written.map_err(|error| anyhow::anyhow!("cannot write the result ({error})"))
    }
}

#[cfg(test)]
#[path = "json_output_tests.rs"]
mod json_output_tests;
