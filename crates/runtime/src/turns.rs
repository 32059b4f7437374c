//! Turns at executing tools. Conversations are not limited; what executes at once is, because it
//! takes memory, processes and connections. Those who wait are let in one tenant after the other,
//! and of a tenant one conversation after the other, so that none can fill the place.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use windlass_core::ids::LaneId;

#[cfg(test)]
#[path = "turns_tests.rs"]
mod turns_tests;

/// Tools that execute at once in one process, unless somebody says otherwise.
pub const TOOLS_AT_ONCE: usize = 64;

/// The most that can be set: a tool may be a process with open files of its own.
pub const MOST_TOOLS_AT_ONCE: usize = 1_024;

/// Hands out turns to the conversations of one tenant.
#[derive(Clone)]
pub struct Turns {
    queue: Arc<Mutex<Queue>>,
    tenant: Arc<str>,
}

struct Queue {
    free: usize,
    waiting: Rota<Arc<str>, Rota<LaneId, VecDeque<oneshot::Sender<Turn>>>>,
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
        let queue = Queue { free: at_once.max(1), waiting: Rota::default() };
        Self { queue: Arc::new(Mutex::new(queue)), tenant: Arc::from("") }
    }

    /// Turns at the same place for another tenant.
    #[must_use]
    pub fn of(&self, tenant: &Arc<str>) -> Self {
        Self { queue: Arc::clone(&self.queue), tenant: Arc::clone(tenant) }
    }

    /// Waits for a turn.
    pub async fn take(&self, lane: &LaneId) -> Turn {
        let waits = {
            let mut queue = lock(&self.queue);
            if queue.free > 0 {
                queue.free -= 1;
                return self.turn();
            }
            let (sender, receiver) = oneshot::channel();
            queue.waiting.of(&self.tenant).of(lane).push_back(sender);
            receiver
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

/// Something from which the next is taken.
trait Line {
    type Item;
    fn next(&mut self) -> Option<Self::Item>;
    fn is_empty(&self) -> bool;
}

impl<T> Line for VecDeque<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pop_front()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

/// Lines by name, of which one after the other gives its next. Whose line is empty is not kept.
struct Rota<K, L> {
    lines: BTreeMap<K, L>,
    /// Who waits, the next one first.
    order: VecDeque<K>,
}

impl<K, L> Default for Rota<K, L> {
    fn default() -> Self {
        Self { lines: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<K: Ord + Clone, L: Default> Rota<K, L> {
    /// The line of this name, to be waited in.
    fn of(&mut self, name: &K) -> &mut L {
        if !self.lines.contains_key(name) {
            self.order.push_back(name.clone());
        }
        self.lines.entry(name.clone()).or_default()
    }
}

impl<K: Ord + Clone, L: Line> Line for Rota<K, L> {
    type Item = L::Item;

    fn next(&mut self) -> Option<L::Item> {
        let name = self.order.pop_front()?;
        let line = self.lines.get_mut(&name)?;
        let first = line.next();
        if line.is_empty() {
            self.lines.remove(&name);
        } else {
            self.order.push_back(name);
        }
        first
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        loop {
            let Some(next) = lock(&queue).waiting.next() else {
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
