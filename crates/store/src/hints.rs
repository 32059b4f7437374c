//! Who in this process waits for mail. A hint may come for nothing and may be lost: the mailbox is
//! the truth, and whoever waits polls it too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use windlass_core::ids::LaneId;

/// More lanes than this with nobody waiting, and their hints are dropped.
const MOST_IDLE: usize = 16_384;

#[derive(Debug, Default)]
pub(crate) struct Hints {
    lanes: Mutex<HashMap<LaneId, Arc<Notify>>>,
    any: Notify,
    /// Whether somebody has waited for any lane since it was last asked.
    awaited: AtomicBool,
}

impl Hints {
    /// Mail arrived. With nobody waiting, the next one to wait is told at once.
    pub(crate) fn tell(&self, lane: &LaneId) {
        self.any.notify_one();
        let mut lanes = self.lock();
        if lanes.len() > MOST_IDLE {
            lanes.retain(|_, waiting| Arc::strong_count(waiting) > 1);
        }
        lanes.entry(lane.clone()).or_default().notify_one();
    }

    /// Mail lies in some lane: whoever waits for any is told.
    pub(crate) fn tell_any(&self) {
        self.any.notify_one();
    }

    /// Mail lies in a lane, also by way of another process: whoever waits for it here is told. Who
    /// does not wait has no use for it.
    pub(crate) fn remind(&self, lane: &LaneId) {
        if let Some(waiting) = self.lock().get(lane) {
            waiting.notify_one();
        }
    }

    /// Waits until somebody is told of any lane.
    pub(crate) async fn wait_any(&self) {
        self.awaited.store(true, Ordering::Relaxed);
        self.any.notified().await;
    }

    /// Whether somebody has waited for any lane since this was last asked.
    pub(crate) fn take_awaited(&self) -> bool {
        self.awaited.swap(false, Ordering::Relaxed)
    }

    /// Waits for the next `tell`.
    pub(crate) async fn wait(&self, lane: LaneId) {
        let told = Arc::clone(self.lock().entry(lane.clone()).or_default());
        told.notified().await;
        drop(told);
        self.forget(&lane);
    }

    /// Drops the lane's place if nobody holds it, so that the map does not grow with history.
    fn forget(&self, lane: &LaneId) {
        let mut lanes = self.lock();
        if lanes.get(lane).is_some_and(|waiting| Arc::strong_count(waiting) == 1) {
            lanes.remove(lane);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LaneId, Arc<Notify>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
