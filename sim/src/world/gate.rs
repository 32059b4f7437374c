//! The life of a simulated process: everything it asks of the world passes here, so it can be cut
//! off, frozen or killed at any instant without its code knowing.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// What becomes of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Life {
    /// It runs.
    Up,
    /// It runs, and its store does not answer.
    CutOff,
    /// Stopped as by SIGSTOP: nothing of it goes on.
    Frozen,
    /// Gone; nothing of it ever goes on.
    Dead,
}

/// What a process asks the world for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// An answer of the store.
    Store,
    /// Time, a tool, the model.
    Work,
}

/// Wakes whoever waits in the order of their coming: a `watch` channel would draw lots.
pub(crate) struct Gate {
    life: Mutex<Life>,
    changed: Notify,
}

impl Gate {
    pub(crate) fn open() -> Self {
        Self { life: Mutex::new(Life::Up), changed: Notify::new() }
    }

    pub(crate) fn life(&self) -> Life {
        *self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes its life; the dead stay dead.
    pub(crate) fn set(&self, life: Life) {
        let mut now = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != Life::Dead {
            *now = life;
        }
        drop(now);
        self.changed.notify_waiters();
    }

    /// Waits until the process may go on; for ever if it is dead.
    pub(crate) async fn pass(&self, door: Door) {
        while !lets(self.life(), door) {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if !lets(self.life(), door) {
                changed.await;
            }
        }
    }
}

fn lets(life: Life, door: Door) -> bool {
    match (life, door) {
        (Life::Up, _) | (Life::CutOff, Door::Work) => true,
        (Life::CutOff, Door::Store) | (Life::Frozen | Life::Dead, _) => false,
    }
}
