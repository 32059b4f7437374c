//! How a call that takes long says that it still works.

use std::sync::Arc;

use tokio::sync::Notify;

/// The heart of a call. A tool that works longer than its time beats it now and then, and has its
/// whole time again from there; the time of the run ends it nevertheless.
#[derive(Debug, Clone, Default)]
pub struct Heartbeat(Arc<Notify>);

impl Heartbeat {
    /// The call still works.
    pub fn beat(&self) {
        self.0.notify_one();
    }

    /// Waits for the next beat; one that nobody waited for counts.
    pub(crate) async fn heard(&self) {
        self.0.notified().await;
    }
}
