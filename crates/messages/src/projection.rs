//! The projection: from entries of the log and live items to messages. It folds its own copy of the
//! conversation, so it can start at any entry, and it decides nothing.

mod child_tasks;
mod failure_kind;
mod live_messages;
mod reply_events;
mod result_label;
mod result_message;
mod result_tally;
mod system_messages;
mod turn_messages;

pub use child_tasks::StartedTask;
pub use live_messages::ToolProgress;
pub use result_label::{ResultAudience, ResultLabel};

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use windlass_core::apply::apply;
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::outcome::{OutcomeKind, ToolOutcome};
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, LaneId, ModelCallId, RunId, UnixMillis};
use windlass_core::log::input::Input;
use windlass_core::log::record::{Record, Transition};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_core::permission::{PermissionDecision, PermissionUpdate};
use windlass_core::run::conversation::{Conversation, RunEnd};
use windlass_core::run::review::Review;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::stop::StopCause;

use crate::message::{
    ContentBlock, Message, ModelUsage, SystemEvent, SystemMessage, TombstoneMessage,
};
use crate::message_uuid::derive_uuid;
use reply_events::ReplyEvents;
use result_tally::ResultTally;

/// Makes the SDK's object for the result of a call, from its tool, its input and its outcome.
pub type ToolResultView = fn(&str, &RawJson, &ToolOutcome) -> Option<Value>;

/// What a projection produces, and for whom.
#[derive(Debug, Clone, Default)]
pub struct ProjectionOptions {
    /// Who reads the results.
    pub audience: ResultAudience,
    /// Whether the provider's stream events are passed on (partial messages).
    pub reply_events: bool,
    /// Whether prompts are messages too; their sender has them already.
    pub prompts: bool,
    /// The call that this conversation works for, if it is a sub-agent.
    pub sub_agent: Option<SubAgentOrigin>,
    /// Makes the objects in `tool_use_result`.
    pub tool_result_view: Option<ToolResultView>,
    /// Makes the ids of live messages unique; those of recorded messages do not depend on it.
    pub nonce: String,
}

/// The call that a sub-agent works for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgentOrigin {
    /// The session id of the conversation whose messages these are.
    pub session_id: String,
    /// The provider's id of the call.
    pub tool_use_id: String,
    /// The id of the sub-agent.
    pub agent_id: String,
    /// The kind of the sub-agent.
    pub subagent_type: String,
}

/// Turns the entries of one conversation into messages.
pub struct MessageProjection {
    lane: LaneId,
    session_id: String,
    options: ProjectionOptions,
    conversation: Conversation,
    reply_events: ReplyEvents,
    /// Text of the reply in flight, for the case that it is interrupted.
    live_text: String,
    call_started_at: Option<UnixMillis>,
    /// The tool's details about the call that finishes next.
    detail: Option<RawJson>,
    /// The content of the prompt whose run starts next.
    prompt: Vec<ContentBlock>,
    tally: ResultTally,
    /// The tasks of sub-agents that have not returned, by their ids.
    tasks: BTreeMap<String, StartedTask>,
    /// The run before the active one, with what was counted for its result: an entry may end one
    /// run and start the next.
    ended_run: Option<(RunId, ResultTally)>,
    /// Whether an interrupt of the run was counted.
    is_interrupted: bool,
    live_count: u64,
    messages: Vec<Message>,
}

impl MessageProjection {
    /// Creates the projection of the conversation on `lane`. `before` is its state before the first
    /// entry that will be shown; the log may be further by now.
    #[must_use]
    pub fn new(
        lane: &LaneId,
        before: Conversation,
        settings: &Settings,
        options: ProjectionOptions,
    ) -> Self {
        let own = || lane.session_id().to_owned();
        let session_id = options.sub_agent.as_ref().map_or_else(own, |sub| sub.session_id.clone());
        Self {
            lane: lane.clone(),
            session_id,
            options,
            tally: ResultTally::for_resumed_run(&before, settings),
            ended_run: None,
            tasks: BTreeMap::new(),
            conversation: before,
            reply_events: ReplyEvents::default(),
            live_text: String::new(),
            call_started_at: None,
            detail: None,
            prompt: Vec::new(),
            is_interrupted: false,
            live_count: 0,
            messages: Vec::new(),
        }
    }

    /// Returns the conversation as far as it was shown.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Returns the session id that the messages have.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Returns the messages of an entry. An entry that was shown already has none.
    pub fn on_entry(&mut self, entry: &Entry) -> Vec<Message> {
        self.project_records(entry, |_| false).1
    }

    /// Returns the messages of an entry like [`MessageProjection::on_entry`], in two parts: those
    /// before the start of `run`, and those from its start on. An entry may end one run and start
    /// the next.
    pub fn on_entry_until(&mut self, entry: &Entry, run: &RunId) -> (Vec<Message>, Vec<Message>) {
        self.project_records(
            entry,
            |record| matches!(record, Record::RunStarted { run: started } if started == run),
        )
    }

    /// Projects the records of an entry; the messages before the record at `is_split` come first.
    fn project_records(
        &mut self,
        entry: &Entry,
        is_split: impl Fn(&Record) -> bool,
    ) -> (Vec<Message>, Vec<Message>) {
        let mut earlier = Vec::new();
        if entry.seq <= self.conversation.head {
            return (earlier, Vec::new());
        }
        self.tally.observe_time(entry.at);
        for (index, record) in entry.records.iter().enumerate() {
            if is_split(record) {
                earlier = std::mem::take(&mut self.messages);
            }
            let place = RecordPlace { entry, index };
            self.before_record(&place, record);
            let counted = self.tally.snapshot_usage(&self.conversation, record);
            let tokens = self.tokens_before(record);
            apply(&mut self.conversation, entry.at, &entry.input, record);
            self.tally.add_usage_since(&self.conversation, counted);
            self.after_record(&place, record, tokens);
        }
        self.conversation.head = entry.seq;
        (earlier, std::mem::take(&mut self.messages))
    }

    /// Returns the messages for an event of the provider's stream.
    pub fn on_reply_event(&mut self, model_call: ModelCallId, event: &str) -> Vec<Message> {
        if self.options.reply_events {
            for event in self.reply_events.push(model_call, event) {
                let text = event.pointer("/delta/text").and_then(Value::as_str);
                self.live_text.push_str(text.unwrap_or_default());
                self.add_stream_event(event);
            }
        }
        std::mem::take(&mut self.messages)
    }

    /// Takes a piece of the reply in flight, of which an interrupt leaves nothing else.
    pub fn on_text_delta(&mut self, text: &str) {
        self.live_text.push_str(text);
    }

    /// Returns what was seen of the reply in flight.
    #[must_use]
    pub fn live_text(&self) -> &str {
        &self.live_text
    }

    /// Returns the provider's id of a call of the run, and the name of its tool.
    #[must_use]
    pub fn tool_use_of(&self, id: CallId) -> Option<(Arc<str>, Arc<str>)> {
        let run = self.conversation.run.as_ref()?;
        let of_round = run.round().and_then(|round| round.call(id)).map(|call| &call.tool_use);
        let early = || {
            let asking = run.pending_model_call()?;
            let early = asking.early_calls.iter().find(|early| early.id == id)?;
            Some(&early.tool_use)
        };
        of_round.or_else(early).map(|tool_use| (tool_use.id.clone(), tool_use.name.clone()))
    }

    fn parent_tool_use_id(&self) -> Option<String> {
        self.options.sub_agent.as_ref().map(|sub| sub.tool_use_id.clone())
    }

    /// Tokens of the context before a record that compacts it.
    fn tokens_before(&self, record: &Record) -> u64 {
        match record {
            Record::Compacted { .. } => self.estimate_tokens(),
            _ => 0,
        }
    }

    fn estimate_tokens(&self) -> u64 {
        self.conversation.meter.estimate(self.conversation.request_bytes())
    }

    fn before_record(&mut self, place: &RecordPlace<'_>, record: &Record) {
        if let Input::ModelFailed { failure, .. } = &place.entry.input {
            self.tally.set_failure(&failure.message);
        }
        match record {
            Record::RunStarted { .. } => self.take_queued_prompt(),
            Record::ModelReplied { .. } => self.count_reply(place),
            Record::ReplyKept {} => self.add_reply(place, &[]),
            Record::RoundOpened { dropped, .. } => self.add_reply(place, dropped),
            Record::ReplyDropped { why } => self.drop_reply(why.as_deref()),
            Record::ModelCallAbandoned { .. } => self.abandon_reply(),
            Record::ResultFinalized { call, .. } => self.detail = self.tool_detail(*call),
            Record::RunFinished { cause, .. } => self.before_run_end(place, *cause),
            Record::PermissionDecided {
                call,
                verdict: PermissionDecision::Deny { reason, by },
            } => self.add_denial(place, *call, reason, *by),
            _ => {}
        }
    }

    fn after_record(&mut self, place: &RecordPlace<'_>, record: &Record, tokens_before: u64) {
        if self.adds_user_message(record) {
            self.tally.count_turn();
        }
        match record {
            Record::RunStarted { .. } => self.after_run_start(place),
            Record::ModelCallStarted { .. } => self.after_call_start(place.entry.at),
            Record::RoundOpened { .. } => self.tally.is_in_tools = true,
            Record::NoteAdded { text } => self.add_note(place, text),
            Record::ResultFinalized { call, .. } => self.add_tool_result(place, *call),
            Record::Compacted { trigger, note, .. } => {
                self.add_compaction(place, *trigger, tokens_before);
                self.add_summary(place, note);
            }
            Record::ReviewRequested { review: Review::Summary { .. }, .. } => {
                self.add_status(Some("compacting"), None);
            }
            Record::ModeChanged { mode }
            | Record::PermissionsUpdated { update: PermissionUpdate::SetMode { mode }, .. } => {
                self.add_mode(mode);
            }
            Record::ModelRetryScheduled { until, failures } => {
                self.add_retry(place, *failures, until.ms_since(place.entry.at));
            }
            Record::HistoryReplaced { message } => self.add_replaced_history(place, *message),
            Record::FallbackModelSelected { why } => self.add_fallback(place, why),
            Record::ChildrenSpawned { call, from, to, .. } => {
                self.add_started_tasks(place, *call, *from..*to);
            }
            Record::ChildResultReceived { message } => self.add_finished_task(place, *message),
            _ => {}
        }
    }

    /// Takes the prompt that becomes the run: afterwards it is one with the transcript.
    fn take_queued_prompt(&mut self) {
        let next = self.conversation.prompt_queue.front().filter(|_| self.options.prompts);
        let blocks = next.map(|prompt| prompt.blocks.iter().map(ContentBlock::from_core));
        self.prompt = blocks.map(Iterator::collect).unwrap_or_default();
    }

    fn count_reply(&mut self, place: &RecordPlace<'_>) {
        if let Some(reply) = place.reply() {
            let started = self.call_started_at.take();
            let took = started.map_or(0, |started| place.entry.at.ms_since(started));
            self.tally.add_reply(reply, took);
        }
    }

    fn after_run_start(&mut self, place: &RecordPlace<'_>) {
        let ended = self.conversation.last_run_end.as_ref().map(|ended| ended.run.clone());
        self.ended_run = ended.map(|run| (run, self.tally.clone()));
        self.tally.start(place.entry.at, self.conversation.settings.as_deref());
        self.is_interrupted = false;
        if self.options.prompts {
            self.add_prompt(place);
        }
    }

    fn after_call_start(&mut self, at: UnixMillis) {
        self.call_started_at = Some(at);
        self.tally.is_in_tools = false;
        self.live_text.clear();
        if self.options.reply_events {
            self.add_status(Some("requesting"), None);
        }
    }

    /// Returns whether a record adds a user message: the result of a call, or what the runtime or a
    /// person adds there.
    fn adds_user_message(&mut self, record: &Record) -> bool {
        match record {
            Record::ResultFinalized { call, .. } => {
                self.conversation.call(*call).is_some_and(|call| !is_deferred(call))
            }
            // A second interrupt is one of the same turn.
            Record::CancelRequested { .. } => !std::mem::replace(&mut self.is_interrupted, true),
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

    /// Adds the blocks of a reply that counts, and what was held back of its events.
    fn add_reply(&mut self, place: &RecordPlace<'_>, dropped: &[u16]) {
        let Some(reply) = place.reply() else { return };
        let origin = self.reply_origin(place, reply);
        for (index, block) in reply.indexed_blocks() {
            if !dropped.contains(&index) {
                self.add_block(place, reply, (index, block), &origin);
            }
        }
        self.finish_reply_events();
    }

    fn finish_reply_events(&mut self) {
        for event in self.reply_events.finish() {
            self.add_stream_event(event);
        }
        self.live_text.clear();
    }

    /// A reply does not count: readers of its events remove it.
    fn drop_reply(&mut self, why: Option<&str>) {
        let id = self.reply_events.message_id().map(str::to_owned);
        self.finish_reply_events();
        self.add_tombstone(id, why.unwrap_or("the reply was dropped"));
    }

    fn abandon_reply(&mut self) {
        let id = self.reply_events.message_id().map(str::to_owned);
        self.reply_events.reset();
        self.add_tombstone(id, "the model call was abandoned");
    }

    /// Adds a tombstone if events of the reply were passed on.
    fn add_tombstone(&mut self, message_id: Option<String>, reason: &str) {
        let Some(id) = message_id.filter(|_| self.options.reply_events) else { return };
        let uuid = self.live_uuid();
        self.messages.push(Message::Tombstone(TombstoneMessage {
            message: serde_json::json!({ "id": id, "role": "assistant", "type": "message" }),
            reason: reason.to_owned(),
            parent_tool_use_id: self.parent_tool_use_id(),
            session_id: self.session_id.clone(),
            uuid,
        }));
    }

    fn tool_detail(&self, id: CallId) -> Option<RawJson> {
        match &self.conversation.call(id)?.state {
            CallState::AwaitingPostHook(outcome) => outcome.detail().cloned(),
            _ => None,
        }
    }

    fn before_run_end(&mut self, place: &RecordPlace<'_>, cause: StopCause) {
        self.tally.set_limit(&self.conversation, cause);
        if self.options.audience == ResultAudience::AgentSdk {
            self.add_run_end_messages(place, cause);
        }
    }

    /// Adds a system message that follows from a record.
    fn add_system(&mut self, place: &RecordPlace<'_>, name: &str, event: SystemEvent) {
        let uuid = self.recorded_uuid(place, name);
        let session_id = self.session_id.clone();
        self.messages.push(Message::System(SystemMessage { event, session_id, uuid }));
    }

    /// The id of a message that follows from a record: the same for every reader of the log.
    fn recorded_uuid(&self, place: &RecordPlace<'_>, name: &str) -> String {
        let (lane, seq, index) = (self.lane.session_id(), place.entry.seq, place.index);
        derive_uuid(lane, &format!("{seq}.{index} {name}"))
    }

    /// Returns the result of a run that ended.
    #[must_use]
    pub fn finished_result(&self, ended: &RunEnd) -> crate::ResultMessage {
        let uuid = derive_uuid(self.lane.session_id(), &format!("result {}", ended.run));
        let earlier = self.ended_run.as_ref().filter(|(run, _)| *run == ended.run);
        let tally = earlier.map_or(&self.tally, |(_, tally)| tally);
        let spent = match self.options.audience {
            // Programs of the SDKs take it for the sum of the whole conversation.
            ResultAudience::AgentSdk => self.conversation.spent.usd_micros,
            ResultAudience::Programs => ended.spent.usd_micros,
        };
        let ids = (&*self.session_id, uuid);
        result_message::finished(ended, tally, spent, self.options.audience, ids)
    }

    /// Returns the usage of each model that was called, without that of sub-agents.
    #[must_use]
    pub fn model_usage(&self) -> BTreeMap<String, ModelUsage> {
        result_message::model_usage(&self.tally)
    }

    /// Returns the result of a run that did not end here: it waits, was handed over or rejected.
    /// `reason` is a word, `errors` are sentences.
    pub fn unfinished_result(&mut self, reason: &str, errors: Vec<String>) -> crate::ResultMessage {
        let uuid = self.live_uuid();
        let ids = (&*self.session_id, uuid);
        result_message::unfinished(reason, errors, &self.tally, &self.conversation, ids)
    }

    /// Returns the result of a prompt that is still queued, of which nothing was counted.
    pub fn queued_result(&mut self, reason: &str, errors: Vec<String>) -> crate::ResultMessage {
        let uuid = self.live_uuid();
        let tally = ResultTally::new(&Settings::new(ModelSpec::with_defaults("")));
        let ids = (&*self.session_id, uuid);
        result_message::unfinished(reason, errors, &tally, &Conversation::default(), ids)
    }

    /// Returns the result of a command that needs no model.
    pub fn local_result(&mut self, command: &str, text: &str) -> crate::ResultMessage {
        let uuid = self.live_uuid();
        let ids = (&*self.session_id, uuid);
        result_message::local(command, text, &self.conversation, &self.tally, ids)
    }
}

/// A record in its entry.
struct RecordPlace<'a> {
    entry: &'a Entry,
    index: usize,
}

impl RecordPlace<'_> {
    fn reply(&self) -> Option<&ModelReply> {
        match &self.entry.input {
            Input::ModelReplied { reply, .. } => Some(reply),
            _ => None,
        }
    }
}

/// Returns whether a hook deferred the call.
fn is_deferred(call: &Call) -> bool {
    matches!(&call.state, CallState::Finished(result) if result.kind == OutcomeKind::Deferred)
}
