//! Connections that wait for their next request.

use std::collections::HashMap;

use super::connection::Connection;
use super::target::Origin;
use crate::limits::{IDLE_CONNECTION_MS, IDLE_CONNECTIONS};

/// A connection used so shortly ago is not looked at: if it is over after all, sending says so.
const JUST_NOW_MS: u64 = 1_000;

#[derive(Default)]
pub(super) struct Pool {
    idle: HashMap<Origin, Vec<Idle>>,
    count: usize,
}

struct Idle {
    connection: Connection,
    since: u64,
}

impl Pool {
    /// The connection that was used last: the others may grow old and be closed.
    pub(super) fn take(&mut self, origin: &Origin, now: u64) -> Option<Connection> {
        let idle = self.idle.get_mut(origin)?;
        while let Some(Idle { mut connection, since }) = idle.pop() {
            self.count -= 1;
            let used_just_now = now.saturating_sub(since) < JUST_NOW_MS;
            if used_just_now || (is_fresh(since, now) && !connection.is_over()) {
                return Some(connection);
            }
        }
        None
    }

    pub(super) fn put(&mut self, origin: &Origin, connection: Connection, now: u64) {
        if self.count >= IDLE_CONNECTIONS {
            return;
        }
        match self.idle.get_mut(origin) {
            Some(idle) => {
                // The oldest stand first.
                let stale = idle.iter().take_while(|idle| !is_fresh(idle.since, now)).count();
                idle.drain(..stale);
                self.count -= stale;
                idle.push(Idle { connection, since: now });
            }
            None => {
                self.idle.insert(origin.clone(), vec![Idle { connection, since: now }]);
            }
        }
        self.count += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}

fn is_fresh(since: u64, now: u64) -> bool {
    now.saturating_sub(since) < IDLE_CONNECTION_MS
}
