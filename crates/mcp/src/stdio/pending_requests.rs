//! Requests that wait for their answers, by id.

use std::collections::HashMap;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;

/// Number of requests that wait at once; an older one that nobody waits for any more is dropped.
const MAX_PENDING: usize = 10_000;

/// Requests that wait for their answers.
#[derive(Default)]
pub(super) struct PendingRequests(Mutex<HashMap<u64, oneshot::Sender<Value>>>);

impl PendingRequests {
    /// Registers a request that is about to be sent.
    pub(super) fn expect(&self, id: u64) -> oneshot::Receiver<Value> {
        let (sender, receiver) = oneshot::channel();
        let mut pending = self.0.lock();
        if pending.len() >= MAX_PENDING {
            pending.retain(|_, waiting| !waiting.is_closed());
        }
        pending.insert(id, sender);
        receiver
    }

    /// Hands an answer to who waits for it. An answer to no question is ignored.
    pub(super) fn answer(&self, id: u64, message: Value) {
        if let Some(waiting) = self.0.lock().remove(&id) {
            drop(waiting.send(message));
        }
    }
}
