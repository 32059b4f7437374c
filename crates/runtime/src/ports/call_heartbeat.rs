//! The heartbeat of a long tool call: how a call reports that it is still working.

use std::sync::Arc;

use tokio::sync::Notify;

/// The heartbeat of a tool call. A tool that works longer than its timeout beats now and then; each
/// beat restarts the timeout. The time limit of the run still applies.
#[derive(Debug, Clone, Default)]
pub struct CallHeartbeat(Arc<Notify>);

impl CallHeartbeat {
    /// Reports that the call is still working, which restarts its timeout.
    pub fn beat(&self) {
        self.0.notify_one();
    }

    /// Waits for the next beat; a beat that was sent before the wait counts.
    pub(crate) async fn wait_for_beat(&self) {
        self.0.notified().await;
    }
}
