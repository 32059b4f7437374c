//! Turns for tools: so many may execute at once in this process, and those that wait are let in one
//! conversation after the other, so that none can fill the place.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use windlass_core::ids::LaneId;

#[cfg(test)]
#[path = "turns_tests.rs"]
mod turns_tests;

/// Tools that execute at once in one process, unless somebody says otherwise.
pub const TOOLS_AT_ONCE: usize = 64;

/// Hands out turns.
#[derive(Clone)]
pub struct Turns {
    queue: Arc<Mutex<Queue>>,
}

struct Queue {
    free: usize,
    waiting: BTreeMap<LaneId, VecDeque<oneshot::Sender<Turn>>>,
    /// Lanes that wait, the next one first.
    order: VecDeque<LaneId>,
}

/// The right to execute; given back when dropped.
pub struct Turn {
    queue: Option<Arc<Mutex<Queue>>>,
}

impl Default for Turns {
    fn default() -> Self {
        Self::new(TOOLS_AT_ONCE)
    }
}

impl Turns {
    /// So many at once.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        let queue =
            Queue { free: at_once.max(1), waiting: BTreeMap::new(), order: VecDeque::new() };
        Self { queue: Arc::new(Mutex::new(queue)) }
    }

    /// Waits for a turn.
    pub async fn take(&self, lane: &LaneId) -> Turn {
        let waits = {
            let mut queue = lock(&self.queue);
            if queue.free > 0 {
                queue.free -= 1;
                return self.turn();
            }
            queue.line_up(lane)
        };
        match waits.await {
            Ok(turn) => turn,
            // Nobody drops a place in the queue; if somebody did, waiting for ever would be worse.
            Err(_) => Turn { queue: None },
        }
    }

    fn turn(&self) -> Turn {
        Turn { queue: Some(Arc::clone(&self.queue)) }
    }
}

impl Queue {
    fn line_up(&mut self, lane: &LaneId) -> oneshot::Receiver<Turn> {
        let (sender, receiver) = oneshot::channel();
        let waiting = self.waiting.entry(lane.clone()).or_default();
        if waiting.is_empty() {
            self.order.push_back(lane.clone());
        }
        waiting.push_back(sender);
        receiver
    }

    /// The next who waits; its lane goes to the end of the line.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        let lane = self.order.pop_front()?;
        let waiting = self.waiting.get_mut(&lane)?;
        let first = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&lane);
        } else {
            self.order.push_back(lane);
        }
        first
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        loop {
            let Some(next) = lock(&queue).next() else {
                lock(&queue).free += 1;
                return;
            };
            match next.send(Turn { queue: Some(Arc::clone(&queue)) }) {
                Ok(()) => return,
                // It no longer waits. Its turn must not come back here by being dropped.
                Err(mut unwanted) => unwanted.queue = None,
            }
        }
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
