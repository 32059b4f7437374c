//! The state of a simulated process: all its access to the world passes here, so it can be cut off,
//! frozen or killed at any instant without its code knowing.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// The state of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProcessLife {
    /// The process runs.
    Up,
    /// The process runs, and its store does not answer.
    CutOff,
    /// Stopped as by SIGSTOP: nothing of it continues.
    Frozen,
    /// Killed; nothing of it ever continues.
    Dead,
}

/// What a process needs from the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorldAccess {
    /// An answer of the store.
    Store,
    /// Time, a tool, the model.
    Work,
}

/// Wakes waiting tasks in the order of their arrival: the order of a `watch` channel is random.
pub(crate) struct ProcessGate {
    life: Mutex<ProcessLife>,
    changed: Notify,
}

impl ProcessGate {
    pub(crate) fn open() -> Self {
        Self { life: Mutex::new(ProcessLife::Up), changed: Notify::new() }
    }

    pub(crate) fn life(&self) -> ProcessLife {
        *self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; a killed process stays killed.
    pub(crate) fn set(&self, life: ProcessLife) {
        let mut now = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != ProcessLife::Dead {
            *now = life;
        }
        drop(now);
        self.changed.notify_waiters();
    }

    /// Waits until the process may continue; for ever if it was killed.
    pub(crate) async fn pass(&self, door: WorldAccess) {
        while !lets(self.life(), door) {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if !lets(self.life(), door) {
                changed.await;
            }
        }
    }
}

fn lets(life: ProcessLife, door: WorldAccess) -> bool {
    match (life, door) {
        (ProcessLife::Up, _) | (ProcessLife::CutOff, WorldAccess::Work) => true,
        (ProcessLife::CutOff, WorldAccess::Store)
        | (ProcessLife::Frozen | ProcessLife::Dead, _) => false,
    }
}
