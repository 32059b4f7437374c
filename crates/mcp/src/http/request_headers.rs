//! The headers of requests to a server.

use parking_lot::Mutex;

/// Length of a session id, in characters.
const MAX_SESSION_ID_CHARS: usize = 1_024;

/// The headers that follow from the state of a session.
#[derive(Default)]
pub(super) struct SessionHeaders {
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    session_id: Option<String>,
    protocol_version: Option<String>,
}

impl SessionHeaders {
    /// The server gave the session this id. An id that no header can carry is ignored.
    pub(super) fn set_session_id(&self, id: &str) {
        let is_valid = id.len() <= MAX_SESSION_ID_CHARS && id.bytes().all(|b| b.is_ascii_graphic());
        if is_valid && !id.is_empty() {
            self.state.lock().session_id = Some(id.to_owned());
        }
    }

    pub(super) fn set_protocol_version(&self, version: &str) {
        self.state.lock().protocol_version = Some(version.to_owned());
    }

    pub(super) fn has_session(&self) -> bool {
        self.state.lock().session_id.is_some()
    }

    /// Returns the headers of the next request.
    pub(super) fn to_headers(&self) -> Vec<(String, String)> {
        let state = self.state.lock();
        let id = state.session_id.iter().map(|id| ("Mcp-Session-Id".to_owned(), id.clone()));
        let version = state.protocol_version.iter();
        let version = version.map(|version| ("MCP-Protocol-Version".to_owned(), version.clone()));
        id.chain(version).collect()
    }
}
