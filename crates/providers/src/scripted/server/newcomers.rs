//! Connections on which no request has come yet. When the server is full, the oldest of them makes
//! room: whoever opens many and says nothing must not keep others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The connections that have not asked for anything yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    latest: u64,
    by_age: BTreeMap<u64, Arc<Notify>>,
}

/// One connection among them, until it asks or ends.
#[derive(Debug)]
pub(super) struct Newcomer {
    number: u64,
    told_to_leave: Arc<Notify>,
    among: Arc<Newcomers>,
}

impl Newcomers {
    /// A new connection.
    pub(super) fn welcome(self: &Arc<Self>) -> Newcomer {
        let told_to_leave = Arc::new(Notify::new());
        let mut waiting = self.waiting();
        waiting.latest += 1;
        let number = waiting.latest;
        waiting.by_age.insert(number, Arc::clone(&told_to_leave));
        drop(waiting);
        Newcomer { number, told_to_leave, among: Arc::clone(self) }
    }

    /// Tells the oldest one to leave.
    pub(super) fn send_away_oldest(&self) {
        if let Some((_, oldest)) = self.waiting().by_age.pop_first() {
            oldest.notify_one();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Newcomer {
    /// A request has come: the connection is nobody's newcomer any more.
    pub(super) fn has_asked(&self) {
        self.among.waiting().by_age.remove(&self.number);
    }

    /// Waits until it must make room for another.
    pub(super) async fn told_to_leave(&self) {
        self.told_to_leave.notified().await;
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        self.has_asked();
    }
}
