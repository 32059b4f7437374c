//! The live items that did not fit into the owner's queue, in their order. Neighbours that belong
//! together are joined, so that no more than one reply is ever kept.

use std::collections::VecDeque;
use std::sync::Arc;

use windlass_core::log::ids::ModelCallId;

use super::joined_delta::JoinedDelta;
use super::{OWNER_QUEUE_ITEMS, StreamItem, TextKind};

/// Items newer than everything in the owner's queue.
#[derive(Default)]
pub(super) struct PendingItems(VecDeque<PendingItem>);

enum PendingItem {
    Text { model_call: ModelCallId, kind: TextKind, text: String },
    Event { model_call: ModelCallId, content: PendingEvent },
}

enum PendingEvent {
    /// An event as it came, and its content if later ones can be joined with it.
    Single(Arc<str>, Option<JoinedDelta>),
    /// Several deltas of one block.
    Joined(JoinedDelta),
}

impl PendingItems {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the oldest item.
    pub(super) fn pop_front(&mut self) -> Option<StreamItem> {
        self.0.pop_front().map(PendingItem::into_item)
    }

    /// Adds a piece of text.
    pub(super) fn push_text(&mut self, model_call: ModelCallId, kind: TextKind, chunk: &str) {
        let is_full = self.0.len() >= OWNER_QUEUE_ITEMS;
        // A model that alternates between text and thinking with every piece must not make a slow
        // owner slower: beyond a bound, text is joined with text of its kind, whatever came in
        // between.
        let joined = match is_full {
            true => self.0.iter_mut().rev().find_map(|waiting| waiting.text_mut(model_call, kind)),
            false => self.0.back_mut().and_then(|waiting| waiting.text_mut(model_call, kind)),
        };
        match joined {
            Some(text) => text.push_str(chunk),
            None => {
                self.0.push_back(PendingItem::Text { model_call, kind, text: chunk.to_owned() });
            }
        }
    }

    /// Adds an event. A delta is joined with the one before it of the same block; deltas of other
    /// blocks in between do not matter to either.
    pub(super) fn push_event(&mut self, model_call: ModelCallId, event: Arc<str>) {
        let delta = JoinedDelta::parse(&event);
        if let Some(delta) = &delta {
            for waiting in self.0.iter_mut().rev().take(OWNER_QUEUE_ITEMS) {
                match waiting.join_delta(model_call, delta) {
                    JoinResult::Joined => return,
                    JoinResult::OtherBlock => {}
                    JoinResult::NotJoinable => break,
                }
            }
        }
        let content = PendingEvent::Single(event, delta);
        self.0.push_back(PendingItem::Event { model_call, content });
    }
}

/// Whether a delta was joined with a pending item.
enum JoinResult {
    Joined,
    /// The item is a delta of another block: the delta may be joined with an older item.
    OtherBlock,
    NotJoinable,
}

impl PendingItem {
    fn into_item(self) -> StreamItem {
        match self {
            Self::Text { model_call, kind, text } => {
                StreamItem::from_delta(model_call, kind, &text)
            }
            Self::Event { model_call, content } => {
                StreamItem::ReplyEvent { model_call, event: content.into_event() }
            }
        }
    }

    /// The text of this kind in the item, to be appended to.
    fn text_mut(&mut self, of_call: ModelCallId, of_kind: TextKind) -> Option<&mut String> {
        match self {
            Self::Text { model_call, kind, text } if *model_call == of_call && *kind == of_kind => {
                Some(text)
            }
            Self::Text { .. } | Self::Event { .. } => None,
        }
    }

    fn join_delta(&mut self, of_call: ModelCallId, delta: &JoinedDelta) -> JoinResult {
        match self {
            Self::Event { model_call, content } if *model_call == of_call => content.join(delta),
            Self::Event { .. } | Self::Text { .. } => JoinResult::NotJoinable,
        }
    }
}

impl PendingEvent {
    fn into_event(self) -> Arc<str> {
        match self {
            Self::Single(event, _) => event,
            Self::Joined(delta) => delta.to_event(),
        }
    }

    fn join(&mut self, later: &JoinedDelta) -> JoinResult {
        let earlier = match self {
            Self::Single(_, delta) => delta.as_mut(),
            Self::Joined(delta) => Some(delta),
        };
        let Some(earlier) = earlier else { return JoinResult::NotJoinable };
        if !earlier.is_of_same_block(later) {
            return JoinResult::OtherBlock;
        }
        if !earlier.append(later) {
            return JoinResult::NotJoinable;
        }
        if let Self::Single(_, delta) = self
            && let Some(delta) = delta.take()
        {
            *self = Self::Joined(delta);
        }
        JoinResult::Joined
    }
}
