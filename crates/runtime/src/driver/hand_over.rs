//! Hand-over: running tool calls get a grace period before the lane is released.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use windlass_core::run::wanted::wanted;

use super::{DriveError, Driver, is_calling_model};

impl Driver {
    /// Lets running tool calls finish before the lane is handed over: the outcome of an interrupted
    /// call would have to be found out. No new effect is started. Early calls, which only read, are
    /// not waited for.
    pub(super) async fn finish_running_calls(&mut self) -> Result<(), DriveError> {
        let grace_ms = self.options.grace_ms.load(Ordering::SeqCst);
        if grace_ms == 0 || is_calling_model(&self.conversation) {
            return Ok(());
        }
        self.effects.abort_all_but_tool_calls();
        let clock = Arc::clone(&self.ports.clock);
        let mut time_is_up = clock.sleep(grace_ms);
        while self.effects.has_in_flight() {
            let landed = tokio::select! {
                biased;
                landed = self.waiter.wait_for_effects() => landed,
                () = self.lease.wait_until_lapsed() => return Ok(()),
                () = &mut time_is_up => return Ok(()),
            };
            self.on_effects_finished(landed).await?;
            self.effects.abort_unwanted(&wanted(&self.conversation).effects);
        }
        Ok(())
    }
}
