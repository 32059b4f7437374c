//! Reads a conversation as messages: its own entries and those of its sub-agents, in an order in
//! which each message makes sense.

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, LaneId, RunId};
use windlass_core::log::record::Record;
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::conversation_settings::Settings;
use windlass_messages::{
    ContentBlock, Message, MessageProjection, ProjectionOptions, ResultAudience, SystemEvent,
    ToolProgress,
};
use windlass_runtime::feed::{StreamItem, StreamOptions, SubscriptionError};
use windlass_runtime::ports::{CallProgress, HookMessage, HookMessageLevel};
use windlass_runtime::{RunOutcome, Session};

use super::child_feeds::{ChildFeeds, add_model_usage};

/// Which messages a reader wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// Who reads the results.
    pub audience: ResultAudience,
    /// Whether the provider's stream events are messages too (partial messages).
    pub partial_messages: bool,
    /// Whether prompts are messages too.
    pub prompts: bool,
    /// Whether text and thinking of sub-agents are messages; their tool calls always are.
    pub sub_agent_text: bool,
    /// Whether live output and progress of running calls are messages.
    pub tool_progress: bool,
    /// Whether lines about batches of tool calls are messages. The model for side requests writes
    /// them while the run goes on.
    pub tool_use_summaries: bool,
}

impl MessageOptions {
    /// Returns whether a reader with these options wants a message.
    #[must_use]
    pub fn wants(&self, message: &Message) -> bool {
        match message {
            Message::User(user) => (self.prompts || !user.is_replay) && !user.is_compact_summary,
            Message::Assistant(reply) if reply.parent_tool_use_id.is_some() => {
                let block = reply.message.content.first();
                let is_words =
                    matches!(block, Some(ContentBlock::Text(_) | ContentBlock::Thinking(_)));
                self.sub_agent_text || !is_words
            }
            _ => true,
        }
    }

    /// Returns the options of a session whose items a reader with these options needs.
    #[must_use]
    pub fn to_stream_options(self) -> StreamOptions {
        StreamOptions {
            reply_events: self.partial_messages,
            call_progress: self.tool_progress,
            call_summaries: self.tool_use_summaries,
        }
    }

    /// Returns the options of a projection with these options.
    #[must_use]
    pub fn to_projection(self) -> ProjectionOptions {
        ProjectionOptions {
            audience: self.audience,
            reply_events: self.partial_messages,
            prompts: true,
            sub_agent: None,
            tool_result_view: Some(windlass_tools::sdk_result),
            nonce: uuid::Uuid::now_v7().to_string(),
        }
    }
}

/// Turns what happens in a conversation into messages.
///
/// Give it every item of the [`RunStream`](crate::RunStream) with [`MessageReader::read`], and wait
/// for [`MessageReader::next_of_sub_agents`] beside it.
pub struct MessageReader {
    projection: MessageProjection,
    children: ChildFeeds,
    options: MessageOptions,
    /// The run whose messages are wanted, until it starts.
    awaited_run: Option<RunId>,
    observer: Option<MessageObserver>,
}

/// Sees every recorded message of a conversation and of its sub-agents, whatever the reader wants.
pub type MessageObserver = Box<dyn FnMut(&Message) + Send>;

impl MessageReader {
    /// Creates the reader of a conversation. `before` is its state before the first item that will
    /// be read.
    #[must_use]
    pub fn new(
        session: &Session,
        before: Conversation,
        settings: &Settings,
        options: MessageOptions,
    ) -> Self {
        let lane = session.lane();
        let projection = MessageProjection::new(lane, before, settings, options.to_projection());
        let children = ChildFeeds::new(session.clone(), options);
        Self { projection, children, options, awaited_run: None, observer: None }
    }

    /// Shows every message to `observer` first, prompts and text of sub-agents included.
    #[must_use]
    pub fn with_observer(mut self, observer: MessageObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Returns no messages of the runs before `run`, behind which its prompt is queued: they have
    /// readers of their own.
    #[must_use]
    pub fn for_run(mut self, run: Option<&RunId>) -> Self {
        let active = self.conversation().run.as_ref().map(|active| &active.id);
        self.awaited_run = run.filter(|run| Some(*run) != active).cloned();
        self
    }

    /// Shows the messages of an entry, without those of other runs.
    fn show_entry(&mut self, of_children: Vec<Message>, entry: &Entry) -> Vec<Message> {
        let Some(run) = self.awaited_run.clone() else {
            let own = self.projection.on_entry(entry);
            return self.show(of_children.into_iter().chain(own).collect());
        };
        let (earlier, own) = self.projection.on_entry_until(entry, &run);
        let earlier = of_children.into_iter().chain(earlier).collect();
        // The observer sees them all.
        self.show(earlier);
        let own = self.show(own);
        let starts = |record: &Record| match record {
            Record::RunStarted { run: started } => *started == run,
            _ => false,
        };
        if !entry.records.iter().any(starts) {
            return Vec::new();
        }
        self.awaited_run = None;
        own
    }

    fn show(&mut self, messages: Vec<Message>) -> Vec<Message> {
        if let Some(observer) = &mut self.observer {
            messages.iter().for_each(observer);
        }
        let options = self.options;
        messages.into_iter().filter(|message| options.wants(message)).collect()
    }

    /// Returns the projection, for messages that are not in the log.
    pub fn projection(&mut self) -> &mut MessageProjection {
        &mut self.projection
    }

    /// Returns the conversation as far as it was read.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        self.projection.conversation()
    }

    /// Returns the messages of an item. Messages of a sub-agent come before the result that it
    /// returns.
    ///
    /// # Errors
    ///
    /// Returns a [`SubscriptionError`] if the log of a sub-agent cannot be read.
    pub async fn read(&mut self, item: &StreamItem) -> Result<Vec<Message>, SubscriptionError> {
        match item {
            StreamItem::Entry(entry) => {
                let of_children = self.children.finish_returning(entry).await?;
                let messages = self.show_entry(of_children, entry);
                self.children.follow_started(&self.projection, entry);
                Ok(messages)
            }
            StreamItem::TextDelta { text, .. } => {
                self.projection.on_text_delta(text);
                Ok(Vec::new())
            }
            StreamItem::ReplyEvent { model_call, event } => {
                let messages = self.projection.on_reply_event(*model_call, event);
                Ok(self.show(messages))
            }
            StreamItem::CallProgress { call, elapsed_ms, progress } => {
                let progress = tool_progress(*call, *elapsed_ms, progress);
                Ok(self.projection.on_call_progress(progress).into_iter().collect())
            }
            // A run behind another one has calls of its own.
            StreamItem::CallSummary { .. } if self.awaited_run.is_some() => Ok(Vec::new()),
            StreamItem::CallSummary { tool_use_ids, summary } => {
                Ok(vec![self.projection.on_call_summary(tool_use_ids, summary)])
            }
            StreamItem::HookMessage(message) => {
                Ok(vec![self.projection.system_message(informational(message))])
            }
            StreamItem::ThinkingDelta { .. } | StreamItem::RunEnded(_) => Ok(Vec::new()),
        }
    }

    /// Waits for the next messages of sub-agents. Waits for ever while there are none.
    ///
    /// # Errors
    ///
    /// Returns a [`SubscriptionError`] if the log of a sub-agent cannot be read.
    pub async fn next_of_sub_agents(&mut self) -> Result<Vec<Message>, SubscriptionError> {
        let messages = self.children.next().await?;
        let messages = self.show(messages);
        Ok(if self.awaited_run.is_some() { Vec::new() } else { messages })
    }

    /// Returns the result message for the outcome of the run. `describe` makes sentences of open
    /// questions.
    pub fn result(
        &mut self,
        outcome: &RunOutcome,
        describe: impl FnOnce(&Conversation, &LaneId) -> Vec<String>,
        lane: &LaneId,
    ) -> windlass_messages::ResultMessage {
        let mut result = self.own_result(outcome, describe, lane);
        add_model_usage(&mut result.model_usage, self.children.take_model_usage());
        result
    }

    fn own_result(
        &mut self,
        outcome: &RunOutcome,
        describe: impl FnOnce(&Conversation, &LaneId) -> Vec<String>,
        lane: &LaneId,
    ) -> windlass_messages::ResultMessage {
        match outcome {
            RunOutcome::Finished(ended) => self.projection.finished_result(ended),
            RunOutcome::Parked(_) => {
                let (reason, asked) =
                    ("waiting_on_human", describe(self.projection.conversation(), lane));
                match self.awaited_run {
                    Some(_) => self.projection.queued_result(reason, asked),
                    None => self.projection.unfinished_result(reason, asked),
                }
            }
            RunOutcome::Rejected(_) => {
                let why = describe(self.projection.conversation(), lane);
                let reason = why.first().cloned().unwrap_or_default();
                self.projection.unfinished_result(&reason, why)
            }
            RunOutcome::HandedOver => {
                let reason = "handed_over";
                self.projection.unfinished_result(reason, vec![reason.to_owned()])
            }
        }
    }
}

/// Returns what a running call has reported, for the projection.
pub(super) fn tool_progress(
    call: CallId,
    elapsed_ms: u64,
    progress: &CallProgress,
) -> ToolProgress {
    let step = progress.step.as_ref().map(|step| {
        let text = step.text.as_deref().map(str::to_owned);
        (Some(step.done), step.total, text)
    });
    ToolProgress {
        call,
        elapsed_ms,
        output: progress.output.to_string(),
        omitted_bytes: progress.omitted_bytes,
        step,
    }
}

/// Returns what a hook says to the user as an event.
fn informational(message: &HookMessage) -> SystemEvent {
    let (level, verb) = match message.level {
        HookMessageLevel::Info => ("info", "says"),
        HookMessageLevel::Warning => ("warning", "hook failed"),
    };
    SystemEvent::Informational {
        content: format!("{} {verb}: {}", message.label(), message.text),
        level: level.to_owned(),
        tool_use_id: message.tool_use_id.as_deref().map(str::to_owned),
        prevent_continuation: false,
    }
}
