//! The feeds of the sub-agents that work for a conversation.
//!
//! A sub-agent is a conversation of its own, possibly in another process. Its entries are read from
//! its own log; its last entry is committed before its result reaches the parent.

use std::collections::BTreeMap;

use futures_util::FutureExt;
use futures_util::future::select_all;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, LaneId};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::run::child_runs::child_lane;
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_messages::{
    Message, MessageProjection, ModelUsage, ProjectionOptions, SubAgentOrigin, sub_agent_id,
};
use windlass_runtime::Session;
use windlass_runtime::feed::{StreamItem, StreamOptions, Subscription, SubscriptionError};

use super::message_reader::{MessageOptions, tool_progress};

/// The feeds of the sub-agents of a conversation, and of theirs.
pub(super) struct ChildFeeds {
    session: Session,
    options: MessageOptions,
    feeds: BTreeMap<LaneId, ChildFeed>,
    /// What the sub-agents that have returned used of each model.
    used: BTreeMap<String, ModelUsage>,
}

/// The feed of one sub-agent.
struct ChildFeed {
    lane: LaneId,
    items: Subscription,
    projection: MessageProjection,
    is_over: bool,
}

impl ChildFeeds {
    pub(super) fn new(session: Session, options: MessageOptions) -> Self {
        Self { session, options, feeds: BTreeMap::new(), used: BTreeMap::new() }
    }

    /// Starts to follow the sub-agents that an entry of the conversation has started.
    pub(super) fn follow_started(&mut self, parent: &MessageProjection, entry: &Entry) {
        let lane = self.session.lane().clone();
        self.follow_children_of(&lane, parent, entry);
    }

    fn follow_children_of(&mut self, lane: &LaneId, parent: &MessageProjection, entry: &Entry) {
        for record in &entry.records {
            if let Record::ChildrenSpawned { call, from, to, .. } = record {
                for part in *from..*to {
                    self.follow_child(lane, parent, *call, part);
                }
            }
        }
    }

    fn follow_child(&mut self, lane: &LaneId, parent: &MessageProjection, call: CallId, part: u16) {
        let child = child_lane(lane, call, part);
        if self.feeds.contains_key(&child) {
            return;
        }
        let task = parent.started_task(call, part);
        let origin = SubAgentOrigin {
            session_id: self.session.lane().session_id().to_owned(),
            tool_use_id: task.map(|task| task.tool_use_id.clone()).unwrap_or_default(),
            agent_id: sub_agent_id(&child),
            subagent_type: task.map(|task| task.subagent_type.clone()).unwrap_or_default(),
        };
        let options = ProjectionOptions {
            prompts: true,
            sub_agent: Some(origin),
            ..self.options.to_projection()
        };
        let settings = Settings::new(ModelSpec::with_defaults(""));
        let projection =
            MessageProjection::new(&child, Conversation::default(), &settings, options);
        let details =
            StreamOptions { call_progress: self.options.tool_progress, ..StreamOptions::default() };
        let sibling = self.session.sibling(child.clone()).with_stream_options(details);
        let items = sibling.subscribe(0);
        let feed = ChildFeed { lane: child.clone(), items, projection, is_over: false };
        self.feeds.insert(child, feed);
    }

    /// Returns the rest of the messages of the sub-agents whose result an entry has brought.
    pub(super) async fn finish_returning(
        &mut self,
        entry: &Entry,
    ) -> Result<Vec<Message>, SubscriptionError> {
        let mut messages = Vec::new();
        let Input::CommandsReceived { messages: received } = &entry.input else {
            return Ok(messages);
        };
        for command in received {
            if let InboxCommand::ChildFinished { child, result: Some(_), .. } = &command.body {
                messages.extend(self.finish_child(child).await?);
            }
        }
        Ok(messages)
    }

    /// Reads a sub-agent to its end. Its last entry is in the log already.
    async fn finish_child(&mut self, child: &LaneId) -> Result<Vec<Message>, SubscriptionError> {
        let mut messages = Vec::new();
        while let Some(feed) = self.feeds.get_mut(child).filter(|feed| !feed.is_over) {
            let item = feed.items.next().await?;
            messages.extend(self.read_child(child, &item));
        }
        let returned = self.feeds.remove(child);
        let used = returned.map(|feed| feed.projection.model_usage()).unwrap_or_default();
        add_model_usage(&mut self.used, used);
        Ok(messages)
    }

    /// Takes what the sub-agents that have returned used of each model.
    pub(super) fn take_model_usage(&mut self) -> BTreeMap<String, ModelUsage> {
        std::mem::take(&mut self.used)
    }

    /// Waits for the next messages of any sub-agent.
    pub(super) async fn next(&mut self) -> Result<Vec<Message>, SubscriptionError> {
        let working = self.feeds.values_mut().filter(|feed| !feed.is_over);
        let waits: Vec<_> = working
            .map(|feed| {
                let lane = feed.lane.clone();
                feed.items.next().map(move |item| (lane, item)).boxed()
            })
            .collect();
        if waits.is_empty() {
            return std::future::pending().await;
        }
        let ((lane, item), ..) = select_all(waits).await;
        Ok(self.read_child(&lane, &item?))
    }

    fn read_child(&mut self, lane: &LaneId, item: &StreamItem) -> Vec<Message> {
        let Some(mut feed) = self.feeds.remove(lane) else { return Vec::new() };
        let messages = match item {
            StreamItem::Entry(entry) => {
                let messages = feed.projection.on_entry(entry);
                feed.is_over =
                    entry.records.iter().any(|record| matches!(record, Record::RunFinished { .. }));
                self.follow_children_of(lane, &feed.projection, entry);
                messages
            }
            StreamItem::CallProgress { call, elapsed_ms, progress } => {
                let progress = tool_progress(*call, *elapsed_ms, progress);
                feed.projection.on_call_progress(progress).into_iter().collect()
            }
            // Live text is not a message of a sub-agent.
            StreamItem::TextDelta { .. }
            | StreamItem::ThinkingDelta { .. }
            | StreamItem::ReplyEvent { .. }
            | StreamItem::CallSummary { .. }
            | StreamItem::HookMessage(_)
            | StreamItem::RunEnded(_) => Vec::new(),
        };
        self.feeds.insert(lane.clone(), feed);
        messages
    }
}

/// Adds usage to what is known of the same models.
pub(super) fn add_model_usage(
    known: &mut BTreeMap<String, ModelUsage>,
    more: BTreeMap<String, ModelUsage>,
) {
    for (model, usage) in more {
        match known.get_mut(&model) {
            Some(known) => known.add(&usage),
            None => _ = known.insert(model, usage),
        }
    }
}
