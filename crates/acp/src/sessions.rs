//! The sessions that are open.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Error;
use futures_util::future::join_all;

use crate::host::HostError;
use crate::session::{SharedSession, invalid, to_error};

/// Maximum number of sessions that are open at once.
const MAX_SESSIONS: usize = 256;

/// The sessions that are open, by id.
#[derive(Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, SharedSession>>,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, SharedSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session with this id.
    pub(crate) fn find(&self, id: &str) -> Result<SharedSession, Error> {
        let found = self.lock().get(id).cloned();
        found.ok_or_else(|| to_error(HostError::NoSession(id.chars().take(100).collect())))
    }

    /// Checks that another session may be opened.
    pub(crate) fn check_room(&self) -> Result<(), Error> {
        match self.lock().len() {
            0..MAX_SESSIONS => Ok(()),
            _ => Err(invalid(&format!(
                "more than {MAX_SESSIONS} sessions are open; close those that are not used"
            ))),
        }
    }

    /// Adds a session; returns the one that had its id before.
    pub(crate) fn insert(&self, id: String, session: SharedSession) -> Option<SharedSession> {
        self.lock().insert(id, session)
    }

    /// Removes a session.
    pub(crate) fn remove(&self, id: &str) -> Option<SharedSession> {
        self.lock().remove(id)
    }

    /// Ends the use of every session by this process; their runs continue later.
    pub(crate) async fn leave_all(&self) {
        let open: Vec<SharedSession> = self.lock().drain().map(|(_, session)| session).collect();
        join_all(open.iter().map(|session| session.leave())).await;
    }
}
