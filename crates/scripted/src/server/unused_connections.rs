//! Connections without a request yet. When the server is full, the oldest of them is closed: a
//! client that opens many and sends nothing must not keep others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The connections without a request yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct UnusedConnections {
    waiting: Mutex<UnusedConnectionQueue>,
}

#[derive(Debug, Default)]
struct UnusedConnectionQueue {
    latest: u64,
    by_age: BTreeMap<u64, Arc<Notify>>,
}

/// One of these connections, until it sends a request or ends.
#[derive(Debug)]
pub(super) struct UnusedConnection {
    number: u64,
    eviction: Arc<Notify>,
    registry: Arc<UnusedConnections>,
}

impl UnusedConnections {
    /// Registers a new connection.
    pub(super) fn register(self: &Arc<Self>) -> UnusedConnection {
        let eviction = Arc::new(Notify::new());
        let mut waiting = self.lock_queue();
        waiting.latest += 1;
        let number = waiting.latest;
        waiting.by_age.insert(number, Arc::clone(&eviction));
        drop(waiting);
        UnusedConnection { number, eviction, registry: Arc::clone(self) }
    }

    /// Tells the oldest connection to close.
    pub(super) fn evict_oldest(&self) {
        if let Some((_, oldest)) = self.lock_queue().by_age.pop_first() {
            oldest.notify_one();
        }
    }

    fn lock_queue(&self) -> MutexGuard<'_, UnusedConnectionQueue> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnusedConnection {
    /// A request has arrived: the connection is no longer unused.
    pub(super) fn mark_used(&self) {
        self.registry.lock_queue().by_age.remove(&self.number);
    }

    /// Waits until the connection must close in favour of another.
    pub(super) async fn wait_for_eviction(&self) {
        self.eviction.notified().await;
    }
}

impl Drop for UnusedConnection {
    fn drop(&mut self) {
        self.mark_used();
    }
}
