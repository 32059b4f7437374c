//! Timeline of a conversation: prompts, replies, calls and their results.

mod timeline_page;

pub(crate) use timeline_page::render_timeline;

use std::sync::Arc;

use serde::Serialize;
use windlass::core::call::call_state::{Call, CallState};
use windlass::core::log::ids::{CallId, InboxMessageId, RunId, Seq};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::log::input::Input;
use windlass::core::log::record::Record;
use windlass::core::message::content_block::ErrorFlag;
use windlass::core::message::reply::ModelReply;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;

use super::history::{ConversationHistory, RecordContext};
use crate::messages::{self, MessageStyle, record_message};

/// One item of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TimelineItem {
    /// The log entry of the item.
    pub(crate) entry: Seq,
    /// The time of the entry.
    pub(crate) at_ms: u64,
    /// The run to which the item belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunId>,
    /// The kind of the item.
    pub(crate) kind: TimelineItemKind,
    /// The call that the item is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<String>,
    /// The tool of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<Arc<str>>,
    /// The text of the item.
    pub(crate) text: String,
}

/// The kind of a timeline item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimelineItemKind {
    /// A prompt of a person.
    Prompt,
    /// A reply of the model.
    Reply,
    /// A tool call of the model.
    Call,
    /// The result of a tool.
    Result,
    /// A call failed, or did not run.
    Error,
    /// A note of the runtime to the model.
    Note,
    /// A question to a human.
    Question,
    /// The answer of a human.
    Answer,
    /// Any other event.
    Event,
    /// The end of the run.
    End,
}

/// Builds the timeline of a conversation, or of one of its runs.
pub(crate) fn build_timeline(
    history: &ConversationHistory,
    run: Option<&RunId>,
) -> Vec<TimelineItem> {
    let mut scenes = Vec::new();
    history.for_each_record(|moment| {
        let found = items_of_record(moment);
        let mine = found.into_iter().filter(|scene| run.is_none() || scene.run.as_ref() == run);
        scenes.extend(mine);
    });
    scenes
}

fn items_of_record(moment: RecordContext<'_>) -> Vec<TimelineItem> {
    let one = |kind, text: Option<String>| {
        text.filter(|text| !text.trim().is_empty())
            .map(|text| new_item(moment, kind, text))
            .into_iter()
            .collect()
    };
    match moment.record {
        Record::PromptQueued { .. } => prompt_items(moment),
        Record::SteeringQueued { .. } => one(TimelineItemKind::Prompt, steering_text(moment.after)),
        Record::QuestionAnswered { message } => {
            one(TimelineItemKind::Answer, answer_text(&moment.entry.input, *message))
        }
        Record::ModelReplied { .. } => reply_items(moment),
        Record::RoundOpened { .. } => call_items(moment),
        Record::ResultFinalized { call, .. } => result_item(moment, *call).into_iter().collect(),
        Record::NoteAdded { text } => one(TimelineItemKind::Note, Some(text.to_string())),
        Record::QuestionAsked { question } => {
            let asked = messages::question_with_details(&question.kind, moment.after);
            one(TimelineItemKind::Question, Some(format!("question {}: {asked}", question.id)))
        }
        Record::RunFinished { cause, .. } => {
            one(TimelineItemKind::End, Some(messages::stop_line(*cause)))
        }
        // Every other record is an event; `record_message` says which of them are of interest.
        _ => one(TimelineItemKind::Event, event_line(moment)),
    }
}

/// The line about a record that has no item of its own.
fn event_line(moment: RecordContext<'_>) -> Option<String> {
    let message = record_message(MessageStyle::Timeline, &moment.message_context());
    message.map(|message| message.text)
}

fn new_item(moment: RecordContext<'_>, kind: TimelineItemKind, text: String) -> TimelineItem {
    TimelineItem {
        entry: moment.entry.seq,
        at_ms: moment.entry.at.0,
        run: moment.run().cloned(),
        kind,
        call: None,
        tool: None,
        text,
    }
}

/// The item of a prompt; it belongs to the run that it starts.
fn prompt_items(moment: RecordContext<'_>) -> Vec<TimelineItem> {
    let Some(queued) = moment.after.prompt_queue.back() else { return Vec::new() };
    let said = new_item(moment, TimelineItemKind::Prompt, messages::blocks_text(&queued.blocks));
    vec![TimelineItem { run: Some(queued.run.clone()), ..said }]
}

/// The reply of the model, and whether the output limit truncated it.
fn reply_items(moment: RecordContext<'_>) -> Vec<TimelineItem> {
    let text = reply_of_input(&moment.entry.input)
        .map(ModelReply::text)
        .filter(|text| !text.trim().is_empty());
    let said = text.map(|text| new_item(moment, TimelineItemKind::Reply, text));
    let cut = event_line(moment).map(|text| new_item(moment, TimelineItemKind::Event, text));
    said.into_iter().chain(cut).collect()
}

fn steering_text(now: &Conversation) -> Option<String> {
    Some(messages::blocks_text(now.run.as_ref()?.steers.last()?))
}

/// The reply of an entry.
fn reply_of_input(input: &Input) -> Option<&ModelReply> {
    match input {
        Input::ModelReplied { reply, .. } => Some(reply),
        _ => None,
    }
}

fn answer_text(input: &Input, id: InboxMessageId) -> Option<String> {
    let Input::CommandsReceived { messages } = input else { return None };
    match &messages.iter().find(|message| message.id == id)?.body {
        InboxCommand::Answer { question, answer, answered_by } => {
            let (said, by) =
                (messages::answer_phrase(answer), messages::answer_source(answered_by.as_ref()));
            Some(format!("answer to question {question}{by}: {said}"))
        }
        _ => None,
    }
}

fn call_items(moment: RecordContext<'_>) -> Vec<TimelineItem> {
    let round = moment.after.run.as_ref().and_then(Run::round);
    let called = |call: &Call| {
        let text = call.tool_use.input.text().to_owned();
        with_call(new_item(moment, TimelineItemKind::Call, text), call)
    };
    round.into_iter().flat_map(|round| &round.calls).map(called).collect()
}

fn result_item(moment: RecordContext<'_>, id: CallId) -> Option<TimelineItem> {
    let call = moment.after.run.as_ref().and_then(Run::round)?.call(id)?;
    let CallState::Finished(result) = &call.state else { return None };
    let (kind, text) = match result.error_flag {
        ErrorFlag::Success => (TimelineItemKind::Result, messages::result_text(result)),
        ErrorFlag::Error => (
            TimelineItemKind::Error,
            format!("{}: {}", result.kind.as_str(), messages::error_message(result)),
        ),
    };
    Some(with_call(new_item(moment, kind, text), call))
}

fn with_call(scene: TimelineItem, call: &Call) -> TimelineItem {
    let (id, tool) = (call.id.to_string(), call.tool_use.name.clone());
    TimelineItem { call: Some(id), tool: Some(tool), ..scene }
}
