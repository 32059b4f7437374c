//! Hooks that nothing waits for, until the process is done with its conversations.

use std::sync::Arc;

use tokio::sync::watch;

/// Maximum number of hooks in the background at once.
const MAX_BACKGROUND_HOOKS: usize = 32;

/// The number of hooks in the background. Clones share it.
#[derive(Clone, Default)]
pub(super) struct BackgroundHooks(Arc<watch::Sender<usize>>);

impl BackgroundHooks {
    /// Takes a place for one more; `None` if there are too many. Dropping it frees the place.
    pub(super) fn begin(&self) -> Option<BackgroundHook> {
        let has_begun = self.0.send_if_modified(|running| {
            let fits = *running < MAX_BACKGROUND_HOOKS;
            *running = running.saturating_add(usize::from(fits));
            fits
        });
        has_begun.then(|| BackgroundHook(self.clone()))
    }

    /// Waits until none is running.
    pub(super) async fn wait_until_done(&self) {
        // The sender belongs to `self`, so the channel cannot close.
        _ = self.0.subscribe().wait_for(|running| *running == 0).await;
    }
}

/// The place of a running hook.
pub(super) struct BackgroundHook(BackgroundHooks);

impl Drop for BackgroundHook {
    fn drop(&mut self) {
        self.0.0.send_modify(|running| *running = running.saturating_sub(1));
    }
}
