//! What a program does in a session beside its runs, and its end, as hooks learn of them.

use windlass_core::run::review::ReviewResult;

use super::Session;
use crate::ports::{SessionEndReason, SessionEvent};

impl Session {
    /// Calls the hooks about something that this program does in the session beside its runs, and returns
    /// their objection or their context for the model. Waits for them no longer than the hook timeout.
    pub async fn announce(&self, event: SessionEvent) -> ReviewResult {
        self.host.announce(self.lane.clone(), event).await
    }

    /// Calls the session-end hooks: this program is done with the conversation. Waits for them no
    /// longer than the hook timeout. Hooks cannot prevent anything here; the conversation can be
    /// resumed later.
    pub async fn close(&self, reason: SessionEndReason) {
        self.host.finish_notifications().await;
        self.host.end_session(self.lane.clone(), reason).await;
    }
}
