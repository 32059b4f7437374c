//! What a driver gets from its process, besides its lane and its agent.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use windlass_core::log::ids::LaneId;

use crate::fair_semaphore::FairSemaphore;
use crate::hook_notifications::HookNotifications;
use crate::watchdog_slot::WatchdogSlot;

/// Callback for lanes that may be runnable: they were sent a message, or a lane waits for them.
pub(crate) type LaneNotifier = Arc<dyn Fn(&LaneId) + Send + Sync>;

/// Options of a driver. The default is a driver without a process around it.
pub(crate) struct DriverOptions {
    pub(crate) lane_notifier: Option<LaneNotifier>,
    /// Limits the tools of the whole process.
    pub(crate) tool_semaphore: Option<FairSemaphore>,
    /// Whether raw responses of providers are kept.
    pub(crate) keeps_raw_responses: bool,
    /// The slot in which the watchdog sees this driver.
    pub(crate) watchdog_slot: WatchdogSlot,
    /// Notification hooks for questions, which the process waits for before it ends.
    pub(crate) notifications: HookNotifications,
    /// How long tool calls may continue after the request to hand over.
    pub(crate) grace_ms: Arc<AtomicU64>,
    /// Whether a driver before this one missed a time limit.
    pub(crate) replaces_stuck: bool,
}

impl Default for DriverOptions {
    fn default() -> Self {
        Self {
            lane_notifier: None,
            tool_semaphore: None,
            keeps_raw_responses: true,
            watchdog_slot: WatchdogSlot::default(),
            notifications: HookNotifications::default(),
            grace_ms: Arc::default(),
            replaces_stuck: false,
        }
    }
}
