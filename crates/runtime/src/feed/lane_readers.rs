//! Everyone who reads a lane: the owner of the run, and subscribers.

use std::sync::Arc;

use super::{LaneFeed, OwnerFeed, StreamItem};
use crate::ports::HookMessages;

/// The readers of a lane.
#[derive(Clone)]
pub(crate) struct LaneReaders {
    pub(crate) feed: LaneFeed,
    pub(crate) owner: Option<OwnerFeed>,
}

impl LaneReaders {
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
