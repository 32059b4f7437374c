//! In-process wake-up hints for new inbox messages. A hint may be spurious or lost: the inbox table
//! is the truth, and waiters also poll it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use windlass_core::log::ids::LaneId;

/// Maximum number of lanes with a hint and no waiter; above it their hints are dropped.
const MAX_IDLE_LANES: usize = 16_384;

#[derive(Debug, Default)]
pub(crate) struct InboxHints {
    lanes: Mutex<HashMap<LaneId, Arc<Notify>>>,
    any_lane: Notify,
    /// Whether a task has waited for any lane since the last check.
    was_awaited: AtomicBool,
}

impl InboxHints {
    /// Notifies that a message arrived; without a waiter the next wait returns at once.
    pub(crate) fn notify_lane(&self, lane: &LaneId) {
        self.any_lane.notify_one();
        let mut lanes = self.lock_lanes();
        if lanes.len() > MAX_IDLE_LANES {
            lanes.retain(|_, waiting| Arc::strong_count(waiting) > 1);
        }
        lanes.entry(lane.clone()).or_default().notify_one();
    }

    /// Wakes a task that waits for any lane.
    pub(crate) fn notify_any(&self) {
        self.any_lane.notify_one();
    }

    /// Wakes a task that waits for this lane, also for a message sent by another process; does
    /// nothing without a waiter.
    pub(crate) fn notify_if_waiting(&self, lane: &LaneId) {
        if let Some(waiting) = self.lock_lanes().get(lane) {
            waiting.notify_one();
        }
    }

    /// Waits until any lane is notified.
    pub(crate) async fn wait_for_any(&self) {
        self.was_awaited.store(true, Ordering::Relaxed);
        self.any_lane.notified().await;
    }

    /// Returns whether a task has waited for any lane since the last call.
    pub(crate) fn take_was_awaited(&self) -> bool {
        self.was_awaited.swap(false, Ordering::Relaxed)
    }

    /// Waits for the next [`Self::notify_lane`] of this lane.
    pub(crate) async fn wait_for_lane(&self, lane: LaneId) {
        let notify = Arc::clone(self.lock_lanes().entry(lane.clone()).or_default());
        notify.notified().await;
        drop(notify);
        self.drop_if_unused(&lane);
    }

    /// Drops the lane's entry if no task holds it, so that the map does not grow with history.
    fn drop_if_unused(&self, lane: &LaneId) {
        let mut lanes = self.lock_lanes();
        if lanes.get(lane).is_some_and(|waiting| Arc::strong_count(waiting) == 1) {
            lanes.remove(lane);
        }
    }

    fn lock_lanes(&self) -> MutexGuard<'_, HashMap<LaneId, Arc<Notify>>> {
        crate::lock_ignoring_poison(&self.lanes)
    }
}
