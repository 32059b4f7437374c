//! Hooks that hear of something without anybody waiting for them, until the process is done.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

/// How many hooks are still hearing of something.
#[derive(Clone, Default)]
pub(crate) struct Notifications(Arc<watch::Sender<usize>>);

impl Notifications {
    /// Lets a hook hear of something.
    pub(crate) fn spawn(&self, hearing: impl Future<Output = ()> + Send + 'static) {
        let open = Open::count(self.clone());
        tokio::spawn(async move {
            hearing.await;
            drop(open);
        });
    }

    /// Waits until no hook hears of anything any more.
    pub(crate) async fn finish(&self) {
        // The sender is ours, so there is always somebody who says so.
        _ = self.0.subscribe().wait_for(|open| *open == 0).await;
    }
}

/// One hook that hears. A task that is cut off or panics is not waited for either.
struct Open(Notifications);

impl Open {
    fn count(of: Notifications) -> Self {
        of.0.send_modify(|open| *open = open.saturating_add(1));
        Self(of)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}
