//! What hooks say to the user rather than to the model. A hook speaks at any time, and whoever draws
//! the terminal prints it when no line is open.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Messages that may wait to be printed; more of them would be read by nobody.
const MAX_WAITING: usize = 1_000;

/// Messages of hooks that wait to be printed.
#[derive(Default)]
pub(crate) struct HookMessages {
    waiting: Mutex<VecDeque<String>>,
    arrived: Notify,
}

impl HookMessages {
    /// Adds a message.
    pub(crate) fn push(&self, text: &str) {
        let mut waiting = self.waiting();
        if waiting.len() < MAX_WAITING {
            waiting.push_back(text.to_owned());
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Takes the next message that waits, if there is one.
    pub(crate) fn take(&self) -> Option<String> {
        self.waiting().pop_front()
    }

    /// Waits for the next message.
    pub(crate) async fn next(&self) -> String {
        loop {
            if let Some(text) = self.take() {
                return text;
            }
            self.arrived.notified().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
