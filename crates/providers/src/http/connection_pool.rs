//! The pool of idle connections.

use std::collections::HashMap;

use super::api_target::Origin;
use super::http_connection::HttpConnection;
use crate::limits::{MAX_IDLE_CONNECTION_MS, MAX_IDLE_CONNECTIONS};

/// A connection that was used within this time is not checked: if it is closed after all, sending
/// fails.
const SKIP_LIVENESS_CHECK_MS: u64 = 1_000;

#[derive(Default)]
pub(super) struct ConnectionPool {
    idle: HashMap<Origin, Vec<IdleConnection>>,
    count: usize,
}

struct IdleConnection {
    connection: HttpConnection,
    since: u64,
}

impl ConnectionPool {
    /// Takes the connection that was used last, so that the others can expire and be closed.
    pub(super) fn take(&mut self, origin: &Origin, now: u64) -> Option<HttpConnection> {
        let idle = self.idle.get_mut(origin)?;
        while let Some(IdleConnection { mut connection, since }) = idle.pop() {
            self.count -= 1;
            let used_just_now = now.saturating_sub(since) < SKIP_LIVENESS_CHECK_MS;
            if used_just_now || (is_fresh(since, now) && !connection.is_closed()) {
                return Some(connection);
            }
        }
        None
    }

    pub(super) fn put(&mut self, origin: &Origin, connection: HttpConnection, now: u64) {
        if self.count >= MAX_IDLE_CONNECTIONS {
            return;
        }
        match self.idle.get_mut(origin) {
            Some(idle) => {
                // The oldest connections come first.
                let stale = idle.iter().take_while(|idle| !is_fresh(idle.since, now)).count();
                idle.drain(..stale);
                self.count -= stale;
                idle.push(IdleConnection { connection, since: now });
            }
            None => {
                self.idle.insert(origin.clone(), vec![IdleConnection { connection, since: now }]);
            }
        }
        self.count += 1;
    }

    pub(super) fn idle_count(&self) -> usize {
        self.count
    }
}

fn is_fresh(since: u64, now: u64) -> bool {
    now.saturating_sub(since) < MAX_IDLE_CONNECTION_MS
}
