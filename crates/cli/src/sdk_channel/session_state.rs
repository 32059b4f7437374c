//! Frames about the state of the session: whether it works, waits for the program, or is idle. The
//! SDKs close standard input when the session is idle, so a state that is reported once is kept up
//! to date until the end.

use serde_json::json;
use tokio::sync::Mutex;

use super::frame_writer::{FrameWriter, OutputClosed};
use crate::setup;

#[cfg(test)]
#[path = "session_state_tests.rs"]
mod session_state_tests;

/// The variable with which an SDK asks for the frames on its own behalf.
const FOR_SDK_VARIABLE: &str = "CLAUDE_CODE_SDK_READS_SESSION_STATE";

/// The variable with which a program asks for the frames.
const FOR_PROGRAM_VARIABLE: &str = "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS";

/// For whom the frames are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateReaders {
    /// No one reads them: none are written.
    Nobody,
    /// The SDK itself, which does not pass them on.
    Sdk,
    /// The program too.
    Program,
}

impl StateReaders {
    /// Reads from the environment who wants the frames.
    pub(super) fn from_environment() -> Self {
        let is_set = |name: &str| {
            std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
        };
        match (is_set(FOR_PROGRAM_VARIABLE), is_set(FOR_SDK_VARIABLE)) {
            (true, _) => Self::Program,
            (false, true) => Self::Sdk,
            (false, false) => Self::Nobody,
        }
    }
}

/// Reports the state of the session.
pub(super) struct SessionState {
    writer: FrameWriter,
    readers: StateReaders,
    state: Mutex<CurrentState>,
}

#[derive(Debug, Default)]
struct CurrentState {
    is_running: bool,
    /// Requests that a person may have to answer.
    open_prompts: usize,
    reported: Option<&'static str>,
}

impl CurrentState {
    fn name(&self) -> &'static str {
        match (self.is_running, self.open_prompts) {
            (_, 1..) => "requires_action",
            (true, 0) => "running",
            (false, 0) => "idle",
        }
    }
}

impl SessionState {
    pub(super) fn new(writer: FrameWriter, readers: StateReaders) -> Self {
        Self { writer, readers, state: Mutex::default() }
    }

    /// The session has work from here on, or none.
    pub(super) async fn set_running(
        &self,
        session_id: &str,
        is_running: bool,
    ) -> Result<(), OutputClosed> {
        self.change(session_id, |state| state.is_running = is_running).await
    }

    /// The program is asked something that it may ask a person.
    pub(super) async fn begin_prompt(&self, session_id: &str) -> Result<(), OutputClosed> {
        self.change(session_id, |state| state.open_prompts += 1).await
    }

    /// The program has answered, or is not asked any more.
    pub(super) async fn end_prompt(&self, session_id: &str) -> Result<(), OutputClosed> {
        let end = |state: &mut CurrentState| {
            state.open_prompts = state.open_prompts.saturating_sub(1);
        };
        self.change(session_id, end).await
    }

    /// The name of the current state.
    pub(super) async fn name(&self) -> &'static str {
        self.state.lock().await.name()
    }

    /// Changes the state and reports it if it is another one. The lock is held until the frame is
    /// queued: frames are in the order of the changes.
    async fn change(
        &self,
        session_id: &str,
        change: impl FnOnce(&mut CurrentState),
    ) -> Result<(), OutputClosed> {
        let mut state = self.state.lock().await;
        change(&mut state);
        let name = state.name();
        let is_news = state.reported != Some(name) && (state.reported.is_some() || name != "idle");
        if self.readers == StateReaders::Nobody || !is_news {
            return Ok(());
        }
        state.reported = Some(name);
        let mut frame = json!({
            "type": "system",
            "subtype": "session_state_changed",
            "state": name,
            "session_id": session_id,
            "uuid": setup::new_id(),
        });
        if let (StateReaders::Sdk, Some(fields)) = (self.readers, frame.as_object_mut()) {
            fields.insert("sdk_host_only".to_owned(), json!(true));
        }
        self.writer.send(&frame).await
    }
}
