//! Messages of the turns: prompts, blocks of replies, results of calls, notes and interrupts.

use serde_json::Value;
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::outcome::{CallResult, OutcomeKind, ToolOutcome};
use windlass_core::log::ids::CallId;
use windlass_core::message::content_block::ContentBlock as CoreBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_core::run::conversation::Conversation;
use windlass_core::stop::StopCause;

use super::{MessageProjection, RecordPlace, failure_kind};
use crate::iso_time::format_iso_time;
use crate::message::{
    AssistantMessage, ContentBlock, Message, MessageBody, StreamEventMessage, TokenCounts,
    ToolResultBlock, UserMessage, UserMessageBody,
};
use crate::message_uuid::derive_uuid;
use crate::stop_text::stop_reason_with;

/// The model of a message that no model wrote.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The markers by which programs of the SDKs recognise an interrupt.
const INTERRUPTED: &str = "[Request interrupted by user]";
const INTERRUPTED_IN_TOOLS: &str = "[Request interrupted by user for tool use]";

/// Which reply a block belongs to.
pub(super) struct ReplyOrigin {
    message_id: String,
    model: String,
}

impl MessageProjection {
    /// The id and the model of a reply: the provider's own, as far as they are known.
    pub(super) fn reply_origin(&self, place: &RecordPlace<'_>, _reply: &ModelReply) -> ReplyOrigin {
        let derived = || {
            let seed = derive_uuid(self.lane.session_id(), &format!("reply {}", place.entry.seq));
            format!("msg_{}", seed.replace('-', ""))
        };
        let requested = || active_model(&self.conversation);
        ReplyOrigin {
            message_id: self.reply_events.message_id().map_or_else(derived, str::to_owned),
            model: self.reply_events.model().map_or_else(requested, str::to_owned),
        }
    }

    pub(super) fn add_block(
        &mut self,
        place: &RecordPlace<'_>,
        reply: &ModelReply,
        (index, block): (u16, &CoreBlock),
        origin: &ReplyOrigin,
    ) {
        let body = MessageBody {
            id: origin.message_id.clone(),
            kind: "message".to_owned(),
            role: "assistant".to_owned(),
            model: origin.model.clone(),
            content: vec![ContentBlock::from_core(block)],
            stop_reason: None,
            stop_sequence: None,
            usage: TokenCounts::from(&reply.usage),
        };
        let uuid = self.recorded_uuid(place, &format!("block {index}"));
        self.add_assistant(place, body, uuid, AssistantMark::Reply(reply.stop_reason.as_str()));
    }

    fn add_assistant(
        &mut self,
        place: &RecordPlace<'_>,
        message: MessageBody,
        uuid: String,
        mark: AssistantMark<'_>,
    ) {
        let sub = self.options.sub_agent.as_ref();
        let message = AssistantMessage {
            message,
            parent_tool_use_id: self.parent_tool_use_id(),
            session_id: self.session_id.clone(),
            uuid,
            timestamp: Some(format_iso_time(place.entry.at)),
            aborted: matches!(mark, AssistantMark::Aborted),
            final_stop_reason: mark.stop_reason(),
            error: mark.into_error(),
            agent_id: sub.map(|sub| sub.agent_id.clone()),
            subagent_type: sub.map(|sub| sub.subagent_type.clone()),
        };
        self.messages.push(Message::Assistant(message));
    }

    /// Adds the prompt of the run that has just started.
    pub(super) fn add_prompt(&mut self, place: &RecordPlace<'_>) {
        let Some(run) = self.conversation.run.as_ref() else { return };
        let (uuid, blocks) = (run.id.to_string(), std::mem::take(&mut self.prompt));
        self.add_user(place, blocks, uuid, UserMark::Prompt);
    }

    /// Adds a note of the runtime on the user's side.
    pub(super) fn add_note(&mut self, place: &RecordPlace<'_>, text: &str) {
        let uuid = self.recorded_uuid(place, "note");
        self.add_user(place, vec![ContentBlock::text(text)], uuid, UserMark::Synthetic);
    }

    /// Adds the summary that replaced older messages.
    pub(super) fn add_summary(&mut self, place: &RecordPlace<'_>, text: &str) {
        let uuid = self.recorded_uuid(place, "summary");
        self.add_user(place, vec![ContentBlock::text(text)], uuid, UserMark::Summary);
    }

    /// Adds the result of a call.
    pub(super) fn add_tool_result(&mut self, place: &RecordPlace<'_>, id: CallId) {
        let detail = self.detail.take();
        let Some(call) = self.conversation.call(id) else { return };
        let CallState::Finished(result) = &call.state else { return };
        if result.kind == OutcomeKind::Deferred {
            // The result of the run names the call; it has none of its own.
            return;
        }
        let content: Value = result.content.read().unwrap_or_default();
        let is_error = !call.has_succeeded();
        let view = self.result_view(call, result, &content, detail);
        let block =
            ToolResultBlock { tool_use_id: call.tool_use.id.to_string(), content, is_error };
        let uuid = self.recorded_uuid(place, "result");
        self.add_user(place, vec![ContentBlock::ToolResult(block)], uuid, UserMark::Result(view));
    }

    /// The result as an object that depends on the tool, or a sentence about the error.
    fn result_view(
        &self,
        call: &Call,
        result: &CallResult,
        content: &Value,
        detail: Option<RawJson>,
    ) -> Value {
        if !call.has_succeeded() {
            return Value::from(format!("Error: {}", content.as_str().unwrap_or_default()));
        }
        let outcome = match detail {
            Some(detail) => ToolOutcome::DoneWithDetail { content: result.content.clone(), detail },
            None => ToolOutcome::Done(result.content.clone()),
        };
        let view = self.options.tool_result_view;
        let shaped =
            view.and_then(|view| view(&call.tool_use.name, &call.tool_use.input, &outcome));
        shaped.unwrap_or_else(|| content.clone())
    }

    fn add_user(
        &mut self,
        place: &RecordPlace<'_>,
        content: Vec<ContentBlock>,
        uuid: String,
        mark: UserMark,
    ) {
        let sub = self.options.sub_agent.as_ref();
        let message = UserMessage {
            message: UserMessageBody::new(content),
            parent_tool_use_id: self.parent_tool_use_id(),
            session_id: self.session_id.clone(),
            uuid,
            timestamp: Some(format_iso_time(place.entry.at)),
            is_synthetic: matches!(mark, UserMark::Synthetic | UserMark::Summary),
            is_compact_summary: matches!(mark, UserMark::Summary),
            // A sub-agent's prompt is news to its reader.
            is_replay: matches!(mark, UserMark::Prompt) && sub.is_none(),
            tool_use_result: mark.into_view(),
            agent_id: sub.map(|sub| sub.agent_id.clone()),
            subagent_type: sub.map(|sub| sub.subagent_type.clone()),
        };
        self.messages.push(Message::User(message));
    }

    pub(super) fn add_stream_event(&mut self, event: Value) {
        let uuid = self.live_uuid();
        self.messages.push(Message::StreamEvent(StreamEventMessage {
            event,
            parent_tool_use_id: self.parent_tool_use_id(),
            session_id: self.session_id.clone(),
            uuid,
        }));
    }

    /// Adds what an SDK expects before the result of a run that ended without an answer: the rest of
    /// an interrupted reply with a marker, or the failure in the model's place.
    pub(super) fn add_run_end_messages(&mut self, place: &RecordPlace<'_>, cause: StopCause) {
        match cause {
            StopCause::UserCancel => self.add_interrupt(place),
            StopCause::ProviderFailed
            | StopCause::TruncationExhausted
            | StopCause::BlockingLimit => self.add_failure(place, cause),
            _ => {}
        }
    }

    fn add_interrupt(&mut self, place: &RecordPlace<'_>) {
        let in_tools = self.tally.is_in_tools;
        let live = std::mem::take(&mut self.live_text);
        let kept = place.entry.input.partial_reply().map(str::to_owned);
        if let (false, Some(text)) = (in_tools, kept.or(Some(live).filter(|it| !it.is_empty()))) {
            let origin_id = self.reply_events.message_id().map(str::to_owned);
            let uuid = self.recorded_uuid(place, "aborted");
            let body = synthetic_body(
                origin_id.unwrap_or_else(|| uuid.clone()),
                active_model(&self.conversation),
                &text,
                None,
            );
            self.add_assistant(place, body, uuid, AssistantMark::Aborted);
        }
        let marker = if in_tools { INTERRUPTED_IN_TOOLS } else { INTERRUPTED };
        let uuid = self.recorded_uuid(place, "interrupted");
        self.add_user(place, vec![ContentBlock::text(marker)], uuid, UserMark::Plain);
    }

    fn add_failure(&mut self, place: &RecordPlace<'_>, cause: StopCause) {
        let (kind, text) = match (cause, &self.tally.failure) {
            (StopCause::ProviderFailed, Some(failure)) => {
                let status = failure_kind::leading_status(failure);
                (failure_kind::name_of(status), format!("API Error: {failure}"))
            }
            (StopCause::TruncationExhausted, _) => {
                ("max_output_tokens", stop_reason_with(cause, self.tally.limit.as_deref()))
            }
            _ => ("invalid_request", stop_reason_with(cause, self.tally.limit.as_deref())),
        };
        let uuid = self.recorded_uuid(place, "failure");
        let model = SYNTHETIC_MODEL.to_owned();
        let body = synthetic_body(uuid.clone(), model, &text, Some("stop_sequence"));
        self.add_assistant(place, body, uuid, AssistantMark::Error(kind));
    }

    /// Returns an assistant message with a text that no model wrote, such as the answer of a local
    /// command.
    pub fn synthetic_text(&mut self, text: &str, timestamp: String) -> Message {
        let uuid = self.live_uuid();
        let model = SYNTHETIC_MODEL.to_owned();
        Message::Assistant(AssistantMessage {
            message: synthetic_body(uuid.clone(), model, text, Some("stop_sequence")),
            parent_tool_use_id: self.parent_tool_use_id(),
            session_id: self.session_id.clone(),
            uuid,
            timestamp: Some(timestamp),
            final_stop_reason: Some("stop_sequence".to_owned()),
            error: None,
            aborted: false,
            agent_id: None,
            subagent_type: None,
        })
    }
}

/// What distinguishes an assistant message.
enum AssistantMark<'a> {
    /// A reply that ended for this reason.
    Reply(&'a str),
    Aborted,
    Error(&'static str),
}

impl AssistantMark<'_> {
    fn stop_reason(&self) -> Option<String> {
        match self {
            Self::Reply(reason) => Some((*reason).to_owned()),
            Self::Error(_) => Some("stop_sequence".to_owned()),
            Self::Aborted => None,
        }
    }

    fn into_error(self) -> Option<String> {
        match self {
            Self::Error(kind) => Some(kind.to_owned()),
            Self::Reply(_) | Self::Aborted => None,
        }
    }
}

/// What distinguishes a user message.
enum UserMark {
    Plain,
    Prompt,
    Synthetic,
    Summary,
    Result(Value),
}

impl UserMark {
    fn into_view(self) -> Option<Value> {
        match self {
            Self::Result(view) => Some(view),
            Self::Plain | Self::Prompt | Self::Synthetic | Self::Summary => None,
        }
    }
}

fn synthetic_body(id: String, model: String, text: &str, stop_reason: Option<&str>) -> MessageBody {
    MessageBody {
        id,
        kind: "message".to_owned(),
        role: "assistant".to_owned(),
        model,
        content: vec![ContentBlock::text(text)],
        stop_reason: stop_reason.map(str::to_owned),
        stop_sequence: stop_reason.map(|_| String::new()),
        usage: TokenCounts::default(),
    }
}

/// The model that is called now.
fn active_model(conversation: &Conversation) -> String {
    conversation.active_model().map_or(String::new(), |model| model.name.to_string())
}
