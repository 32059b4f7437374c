//! Which message follows which: a conversation that went back to a message has branches.

use std::collections::{HashMap, HashSet};

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::LaneId;
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};

use crate::message::{Message, SystemEvent, SystemMessage, UserMessage};
use crate::projection::{MessageProjection, ProjectionOptions};

/// The messages of a conversation by their ids, with the message before each.
#[derive(Debug, Default)]
pub struct MessageTree {
    parents: HashMap<String, Option<String>>,
    prompts: HashSet<String>,
    last: Option<String>,
}

impl MessageTree {
    /// Reads the log of a conversation.
    #[must_use]
    pub fn from_log(lane: &LaneId, log: &[Entry]) -> Self {
        let settings = Settings::new(ModelSpec::with_defaults(""));
        let options = ProjectionOptions { prompts: true, ..ProjectionOptions::default() };
        let mut projection =
            MessageProjection::new(lane, Conversation::default(), &settings, options);
        let mut tree = Self::default();
        for message in log.iter().flat_map(|entry| projection.on_entry(entry)) {
            tree.add(message);
        }
        tree
    }

    fn add(&mut self, message: Message) {
        let uuid = match message {
            Message::Assistant(message) => message.uuid,
            Message::User(UserMessage { uuid, is_replay, .. }) => {
                if is_replay {
                    self.prompts.insert(uuid.clone());
                }
                uuid
            }
            Message::System(SystemMessage {
                event:
                    SystemEvent::ConversationRewound { last_message }
                    | SystemEvent::ConversationImported { last_message },
                ..
            }) => {
                self.last = Some(last_message);
                return;
            }
            _ => return,
        };
        self.parents.insert(uuid.clone(), self.last.replace(uuid));
    }

    /// Returns whether the conversation has a message with this id.
    #[must_use]
    pub fn contains(&self, uuid: &str) -> bool {
        self.parents.contains_key(uuid)
    }

    /// Returns whether the message with this id is a prompt.
    #[must_use]
    pub fn is_prompt(&self, uuid: &str) -> bool {
        self.prompts.contains(uuid)
    }

    /// Returns the message before the one with this id; `None` for the first.
    #[must_use]
    pub fn parent(&self, uuid: &str) -> Option<&str> {
        self.parents.get(uuid)?.as_deref()
    }

    /// Returns the prompts that count now, the newest first.
    #[must_use]
    pub fn current_prompts(&self) -> Vec<&str> {
        let mut prompts = Vec::new();
        let mut seen = HashSet::new();
        let mut next = self.last.as_deref();
        while let Some(uuid) = next.filter(|uuid| seen.insert(*uuid)) {
            if self.is_prompt(uuid) {
                prompts.push(uuid);
            }
            next = self.parent(uuid);
        }
        prompts
    }
}
