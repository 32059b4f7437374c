//! The prefix cache: the encoded beginning of a request (tools and system prompt), reused for as
//! long as it stays the same, so that the provider's prompt cache sees the same bytes. When the
//! journal's digest or the offered tools change, only the beginning is encoded again; the
//! conversation behind it is not.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use parking_lot::Mutex;
use windlass_core::message::loaded_tools::{LoadedTools, ToolLoading};
use windlass_core::settings::conversation_settings::Settings;

use crate::call::request_plan::RequestPlan;
use crate::limits::MAX_CACHED_CONVERSATIONS;
use crate::request_cache::address_of;

#[derive(Default)]
pub(crate) struct PrefixCache {
    state: Mutex<PrefixCacheState>,
}

#[derive(Default)]
struct PrefixCacheState {
    by_settings: HashMap<usize, CachedPrefix>,
    /// The last encoding. Conversations of one agent have equal beginnings and share the bytes.
    last: Bytes,
}

struct CachedPrefix {
    /// Held, so that the address cannot be reused by other settings.
    settings: Weak<Settings>,
    journal_digest: Arc<str>,
    only_tool: Option<Arc<str>>,
    loaded_tools: LoadedTools,
    tool_loading: ToolLoading,
    bytes: Bytes,
}

impl CachedPrefix {
    fn is_valid_for(&self, plan: &RequestPlan<'_>) -> bool {
        self.only_tool.as_ref() == plan.tool_choice.only_offered_tool()
            && self.journal_digest == plan.request.journal_digest
            && self.tool_loading == plan.tool_loading
            && self.loaded_tools == plan.request.loaded_tools
    }
}

impl PrefixCache {
    /// Returns the encoded beginning for this call.
    pub(crate) fn get_or_encode(
        &self,
        plan: &RequestPlan<'_>,
        encode: impl FnOnce() -> Vec<u8>,
    ) -> Bytes {
        let settings = &plan.request.settings;
        let address = address_of(settings);
        let mut kept = self.state.lock();
        if let Some(head) = kept.by_settings.get(&address).filter(|head| head.is_valid_for(plan)) {
            return head.bytes.clone();
        }
        let fresh = encode();
        if kept.last != fresh {
            kept.last = Bytes::from(fresh);
        }
        let bytes = kept.last.clone();
        kept.evict();
        let head = CachedPrefix {
            settings: Arc::downgrade(settings),
            journal_digest: Arc::clone(&plan.request.journal_digest),
            only_tool: plan.tool_choice.only_offered_tool().cloned(),
            loaded_tools: plan.request.loaded_tools.clone(),
            tool_loading: plan.tool_loading,
            bytes: bytes.clone(),
        };
        kept.by_settings.insert(address, head);
        bytes
    }
}

impl PrefixCacheState {
    fn evict(&mut self) {
        if self.by_settings.len() < MAX_CACHED_CONVERSATIONS {
            return;
        }
        self.by_settings.retain(|_, head| head.settings.strong_count() > 0);
        if self.by_settings.len() >= MAX_CACHED_CONVERSATIONS {
            self.by_settings.clear();
        }
    }
}
