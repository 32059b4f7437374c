//! Per-conversation state of a model: whether earlier thinking is sent, and which notices were
//! reported already. Kept for as long as the conversation is held somewhere else.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::request::ModelRequest;

use crate::call::call_notice::CallNotice;
use crate::limits::MAX_CACHED_CONVERSATIONS;
use crate::request_cache::address_of;
use crate::wire::wire_protocol::PriorThinking;

/// The states of conversations, each identified by its first segment.
#[derive(Default)]
pub(crate) struct ConversationStates {
    states: Mutex<HashMap<usize, ConversationState>>,
}

struct ConversationState {
    /// Held, so that the address cannot be reused by another conversation.
    first: Weak<[ContentBlock]>,
    prior_thinking: PriorThinking,
    sent_notices: Vec<CallNotice>,
}

impl ConversationStates {
    /// Returns whether earlier thinking is sent to the model.
    pub(crate) fn prior_thinking(&self, request: &ModelRequest) -> PriorThinking {
        let kept = self.states.lock();
        if kept.is_empty() {
            return PriorThinking::Sent;
        }
        let first = first_segment(request).map(address_of);
        first
            .and_then(|first| kept.get(&first))
            .map_or(PriorThinking::Sent, |kept| kept.prior_thinking)
    }

    pub(crate) fn omit_prior_thinking(&self, request: &ModelRequest) {
        self.with_state(request, |remembered| remembered.prior_thinking = PriorThinking::Omitted);
    }

    /// Returns whether the notice was not reported for the conversation yet, and marks it as
    /// reported.
    pub(crate) fn mark_notice_sent(&self, request: &ModelRequest, notice: CallNotice) -> bool {
        let news = self.with_state(request, |remembered| {
            let news = !remembered.sent_notices.contains(&notice);
            if news {
                remembered.sent_notices.push(notice);
            }
            news
        });
        news.unwrap_or(true)
    }

    fn with_state<T>(
        &self,
        request: &ModelRequest,
        look: impl FnOnce(&mut ConversationState) -> T,
    ) -> Option<T> {
        let first = first_segment(request)?;
        let mut kept = self.states.lock();
        if kept.len() >= MAX_CACHED_CONVERSATIONS {
            kept.retain(|_, remembered| remembered.first.strong_count() > 0);
        }
        if kept.len() >= MAX_CACHED_CONVERSATIONS {
            kept.clear();
        }
        Some(look(kept.entry(address_of(first)).or_insert_with(|| ConversationState {
            first: Arc::downgrade(first),
            prior_thinking: PriorThinking::Sent,
            sent_notices: Vec::new(),
        })))
    }
}

fn first_segment(request: &ModelRequest) -> Option<&Arc<[ContentBlock]>> {
    request.transcript.segments().front().map(|segment| &segment.blocks)
}
