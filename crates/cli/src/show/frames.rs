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
use windlass::core::outcome::Outcome;
use windlass::core::permission::Verdict;
use windlass::core::record::Record;
use windlass::core::reply::{Reply, Usage};
use windlass::core::run::Run;
use windlass::tools::shape;
use windlass::{End, Item, Session};

use super::result::{self, Tally};
use crate::args::AgentArgs;
use crate::setup::{self, Setup};

/// The level of the SDKs' protocol that these messages have.
const PROTOCOL: &str = "2.1.265";

/// Turns what happens into messages.
pub(super) struct Frames {
    lane: LaneId,
    session_id: String,
    model: Arc<str>,
    mode: Value,
    cwd: String,
    tools: Vec<Arc<str>>,
    streams: bool,
    partial: bool,
    now: Conversation,
    asked_at: Option<Millis>,
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
            mode: serde_json::to_value(settings.rules.mode)?,
            cwd: setup.workspace.display().to_string(),
            tools: settings.tools.iter().map(|tool| tool.name.clone()).collect(),
            streams,
            partial: streams && args.output.include_partial_messages,
            now: session.conversation().await.unwrap_or_default(),
            asked_at: None,
            tally: Tally::new(settings),
            unread: Cell::default(),
        })
    }

    /// The first message.
    pub(super) fn init(&self) {
        self.write(json!({
            "type": "system",
            "subtype": "init",
            "cwd": self.cwd,
            "tools": self.tools,
            "mcp_servers": [],
            "model": self.model,
            "permissionMode": self.mode,
            "slash_commands": ["compact"],
            "apiKeySource": if std::env::var_os("ANTHROPIC_API_KEY").is_some() {
                "ANTHROPIC_API_KEY"
            } else {
                "none"
            },
            "claude_code_version": PROTOCOL,
            "windlass_version": env!("CARGO_PKG_VERSION"),
            "output_style": "default",
            "skills": [],
            "plugins": [],
            "agents": [],
        }));
    }

    /// Writes a message with what every message has.
    fn write(&self, mut message: Value) {
        if !self.streams {
            return;
        }
        if let Some(fields) = message.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(self.session_id));
            fields.insert("uuid".to_owned(), json!(setup::new_id()));
        }
        let mut out = io::stdout();
        if let Err(error) = writeln!(out, "{message}").and_then(|()| out.flush()) {
            self.unread.set(Some(error.kind()));
        }
    }

    pub(super) fn show(&mut self, item: &Item) -> io::Result<()> {
        match item {
            Item::Text { piece, .. } if self.partial => self.piece("text_delta", "text", piece),
            Item::Thinking { piece, .. } if self.partial => {
                self.piece("thinking_delta", "thinking", piece);
            }
            Item::Text { .. } | Item::Thinking { .. } | Item::Ended(_) => {}
            Item::Entry(entry) => self.entry(entry),
        }
        self.unread.get().map_or(Ok(()), |kind| Err(kind.into()))
    }

    fn piece(&self, kind: &str, field: &str, piece: &str) {
        self.write(json!({
            "type": "stream_event",
            "event": {
                "type": "content_block_delta",
                "index": 0,
                "delta": { "type": kind, field: piece },
            },
            "parent_tool_use_id": null,
        }));
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
                    self.assistant(reply);
                }
            }
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
            Record::Asked { .. } if self.partial => {
                self.write(json!({"type": "system", "subtype": "status", "status": "requesting"}));
            }
            Record::Settled { call, .. } => self.tool_result(*call),
            Record::Compacted { .. } | Record::Pruned { .. } => {
                let tokens = self.now.meter.estimate(self.now.request_bytes());
                self.write(json!({
                    "type": "system",
                    "subtype": "compact_boundary",
                    "compact_metadata": { "trigger": "auto", "post_tokens": tokens },
                }));
            }
            Record::Deferred { until, failures } => {
                self.write(json!({
                    "type": "system",
                    "subtype": "api_retry",
                    "attempt": failures,
                    "max_retries": self.now.settings.as_ref().map(|s| s.limits.model_retries),
                    "retry_delay_ms": until.since(entry.at),
                    "error_status": null,
                    "error": "unknown",
                }));
            }
            Record::FellBack { why } => {
                let settings = self.now.settings.as_ref();
                self.write(json!({
                    "type": "system",
                    "subtype": "model_fallback",
                    "trigger": "overloaded",
                    "original_model": self.model,
                    "fallback_model": settings.and_then(|s| s.fallback.as_ref()).map(|m| &m.name),
                    "content": why,
                }));
            }
            _ => {}
        }
    }

    /// One message for each block, as the SDKs expect.
    fn assistant(&self, reply: &Reply) {
        let id = format!("msg_{}", setup::new_id().replace('-', ""));
        for block in &reply.blocks {
            let content: Value = block.raw().read().unwrap_or_default();
            self.write(json!({
                "type": "assistant",
                "message": {
                    "id": id,
                    "type": "message",
                    "role": "assistant",
                    "model": self.model,
                    "content": [content],
                    "stop_reason": null,
                    "stop_sequence": null,
                    "usage": usage(&reply.usage),
                },
                "parent_tool_use_id": null,
            }));
        }
    }

    fn tool_result(&self, id: CallId) {
        let round = self.now.run.as_ref().and_then(Run::round);
        let Some(call) = round.and_then(|round| round.call(id)) else { return };
        let CallState::Settled(shown) = &call.state else { return };
        let content: Value = shown.content.read().unwrap_or_default();
        let is_error = !call.has_worked();
        let done = Outcome::Done(shown.content.clone());
        let result = match is_error {
            true => json!(format!("Error: {}", content.as_str().unwrap_or_default())),
            false => shape(&call.tool_use.name, &call.tool_use.input, &done)
                .unwrap_or_else(|| content.clone()),
        };
        self.write(json!({
            "type": "user",
            "message": {
                "role": "user",
                "content": [{
                    "type": "tool_result",
                    "tool_use_id": call.tool_use.id,
                    "content": content,
                    "is_error": is_error,
                }],
            },
            "parent_tool_use_id": null,
            "tool_use_result": result,
        }));
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

    /// The one result.
    pub(super) fn finish(&mut self, end: &End) -> anyhow::Result<()> {
        let mut message = result::message(end, &self.tally, &self.now, &self.lane)?;
        if let Some(fields) = message.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(self.session_id));
            fields.insert("uuid".to_owned(), json!(setup::new_id()));
        }
        writeln!(io::stdout(), "{message}")?;
        Ok(io::stdout().flush()?)
    }
}

/// Tokens under the names of the API.
pub(super) fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    })
}
