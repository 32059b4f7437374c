//! Notification hooks: nothing waits for them until the process ends.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

/// The number of notification hooks that are still running.
#[derive(Clone, Default)]
pub(crate) struct HookNotifications(Arc<watch::Sender<usize>>);

impl HookNotifications {
    /// Starts a notification hook in the background.
    pub(crate) fn spawn(&self, hearing: impl Future<Output = ()> + Send + 'static) {
        let open = PendingNotification::register(self.clone());
        tokio::spawn(async move {
            hearing.await;
            drop(open);
        });
    }

    /// Waits until no notification hook is running.
    pub(crate) async fn wait_until_done(&self) {
        // The sender belongs to `self`, so the channel cannot close.
        _ = self.0.subscribe().wait_for(|open| *open == 0).await;
    }
}

/// One running notification hook. A task that is aborted or panics is not waited for either.
struct PendingNotification(HookNotifications);

impl PendingNotification {
    fn register(of: HookNotifications) -> Self {
        of.0.send_modify(|open| *open = open.saturating_add(1));
        Self(of)
    }
}

impl Drop for PendingNotification {
    fn drop(&mut self) {
        self.0.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}
