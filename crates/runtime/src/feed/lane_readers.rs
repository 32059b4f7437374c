//! Everyone who reads a lane: the owner of the run, and subscribers.

use std::sync::Arc;

use windlass_core::log::ids::CallId;

use super::{LaneFeed, OwnerFeed, StreamItem};
use crate::ports::{CallProgress, HookMessages};

/// The readers of a lane.
#[derive(Clone)]
pub(crate) struct LaneReaders {
    pub(crate) feed: LaneFeed,
    pub(crate) owner: Option<OwnerFeed>,
}

impl LaneReaders {
    /// Returns whether a reader wants live output of calls.
    pub(crate) fn want_call_progress(&self) -> bool {
        let owner_wants = || self.owner.as_ref().is_some_and(OwnerFeed::wants_call_progress);
        self.feed.has_progress_readers() || owner_wants()
    }

    /// Returns whether a reader wants summaries of calls.
    pub(crate) fn want_call_summaries(&self) -> bool {
        let owner_wants = || self.owner.as_ref().is_some_and(OwnerFeed::wants_call_summaries);
        self.feed.has_summary_readers() || owner_wants()
    }

    /// Publishes what a running call has reported. Only the owner of the run can make this wait.
    pub(crate) async fn publish_progress(
        &self,
        call: CallId,
        elapsed_ms: u64,
        progress: CallProgress,
    ) {
        let item = StreamItem::CallProgress { call, elapsed_ms, progress: Arc::new(progress) };
        self.feed.publish(&item);
        if let Some(owner) = self.owner.as_ref().filter(|owner| owner.wants_call_progress()) {
            // An owner that left is noticed where the driver waits.
            let _ = owner.send_item(item).await;
        }
    }

    /// Publishes what a hook has to say to the user. Only the owner of the run can make this wait.
    pub(crate) async fn publish_hook_messages(&self, messages: &HookMessages) {
        for message in messages.take() {
            let item = StreamItem::HookMessage(Arc::new(message));
            self.feed.publish(&item);
            if let Some(owner) = &self.owner {
                // An owner that left is noticed where the driver waits.
                let _ = owner.send_item(item).await;
            }
        }
    }
}
