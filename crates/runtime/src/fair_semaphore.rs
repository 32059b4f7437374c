//! A fair semaphore for tool execution. The number of conversations is not limited; the number of
//! tools that execute at once is, because they take memory, processes and connections. Waiters are
//! served round-robin by tenant, and within a tenant by conversation, so that none can take all
//! permits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use windlass_core::log::ids::LaneId;

#[cfg(test)]
#[path = "fair_semaphore_tests.rs"]
mod fair_semaphore_tests;

/// The default number of tools that execute at once in one process.
pub const MAX_PARALLEL_TOOLS: usize = 64;

/// The largest number that can be set: a tool may be a process with open files of its own.
pub const MOST_TOOLS_AT_ONCE: usize = 1_024;

/// Hands out permits to the conversations of one tenant.
#[derive(Clone)]
pub struct FairSemaphore {
    queue: Arc<Mutex<PermitQueue>>,
    tenant: Arc<str>,
}

struct PermitQueue {
    free: usize,
    waiting: RoundRobin<Arc<str>, RoundRobin<LaneId, VecDeque<oneshot::Sender<Permit>>>>,
}

/// The permission to execute one tool; returned to the semaphore when dropped.
pub struct Permit {
    queue: Option<Arc<Mutex<PermitQueue>>>,
}

impl Default for FairSemaphore {
    fn default() -> Self {
        Self::new(MAX_PARALLEL_TOOLS)
    }
}

impl FairSemaphore {
    /// Creates a semaphore with `at_once` permits, at least one.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        let queue = PermitQueue { free: at_once.max(1), waiting: RoundRobin::default() };
        Self { queue: Arc::new(Mutex::new(queue)), tenant: Arc::from("") }
    }

    /// Returns a handle to the same semaphore for another tenant.
    #[must_use]
    pub fn for_tenant(&self, tenant: &Arc<str>) -> Self {
        Self { queue: Arc::clone(&self.queue), tenant: Arc::clone(tenant) }
    }

    /// Waits for a permit.
    pub async fn acquire(&self, lane: &LaneId) -> Permit {
        let waits = {
            let mut queue = lock_queue(&self.queue);
            if queue.free > 0 {
                queue.free -= 1;
                return self.new_permit();
            }
            let (sender, receiver) = oneshot::channel();
            queue.waiting.queue_for(&self.tenant).queue_for(lane).push_back(sender);
            receiver
        };
        match waits.await {
            Ok(turn) => turn,
            // Senders are never dropped; if one were, waiting for ever would be worse.
            Err(_) => Permit { queue: None },
        }
    }

    fn new_permit(&self) -> Permit {
        Permit { queue: Some(Arc::clone(&self.queue)) }
    }
}

/// A queue from which the next waiter is taken.
trait WaitQueue {
    type Item;
    fn pop_next(&mut self) -> Option<Self::Item>;
    fn is_empty(&self) -> bool;
}

impl<T> WaitQueue for VecDeque<T> {
    type Item = T;

    fn pop_next(&mut self) -> Option<T> {
        self.pop_front()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}

/// Queues by name that are served in turn. Empty queues are removed.
struct RoundRobin<K, L> {
    queues: BTreeMap<K, L>,
    /// The names of the queues, the next one to be served first.
    order: VecDeque<K>,
}

impl<K, L> Default for RoundRobin<K, L> {
    fn default() -> Self {
        Self { queues: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<K: Ord + Clone, L: Default> RoundRobin<K, L> {
    /// Returns the queue of this name, creating it if needed.
    fn queue_for(&mut self, name: &K) -> &mut L {
        if !self.queues.contains_key(name) {
            self.order.push_back(name.clone());
        }
        self.queues.entry(name.clone()).or_default()
    }
}

impl<K: Ord + Clone, L: WaitQueue> WaitQueue for RoundRobin<K, L> {
    type Item = L::Item;

    fn pop_next(&mut self) -> Option<L::Item> {
        let name = self.order.pop_front()?;
        let line = self.queues.get_mut(&name)?;
        let first = line.pop_next();
        if line.is_empty() {
            self.queues.remove(&name);
        } else {
            self.order.push_back(name);
        }
        first
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        loop {
            let Some(next) = lock_queue(&queue).waiting.pop_next() else {
                lock_queue(&queue).free += 1;
                return;
            };
            match next.send(Permit { queue: Some(Arc::clone(&queue)) }) {
                Ok(()) => return,
                // The waiter is gone. Dropping its permit must not return the permit from inside
                // this lock.
                Err(mut unwanted) => unwanted.queue = None,
            }
        }
    }
}

fn lock_queue(queue: &Mutex<PermitQueue>) -> MutexGuard<'_, PermitQueue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
