//! Messages of hooks to the user (not to the model). A hook may send one at any time; it is queued
//! and printed when no line is open on the terminal.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use windlass::ports::HookMessage;

/// Maximum number of queued messages; more would not be read.
const MAX_WAITING: usize = 1_000;

/// The queue of hook messages that wait to be printed.
#[derive(Default)]
pub(crate) struct HookMessages {
    waiting: Mutex<VecDeque<HookMessage>>,
    arrived: Notify,
}

impl HookMessages {
    /// Adds a message.
    pub(crate) fn push(&self, message: HookMessage) {
        let mut waiting = self.lock_queue();
        if waiting.len() < MAX_WAITING {
            waiting.push_back(message);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Takes the next queued message, if there is one.
    pub(crate) fn take(&self) -> Option<HookMessage> {
        self.lock_queue().pop_front()
    }

    /// Waits for the next message.
    pub(crate) async fn next(&self) -> HookMessage {
        loop {
            if let Some(message) = self.take() {
                return message;
            }
            self.arrived.notified().await;
        }
    }

    fn lock_queue(&self) -> MutexGuard<'_, VecDeque<HookMessage>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
