//! Watching a conversation without driving it: following a run, and waiting for the driver of this
//! process.

use windlass_core::log::ids::{RunId, Seq};

use super::run_stream::StreamPosition;
use super::{RunStream, Session};
use crate::driver::DriveError;

impl Session {
    /// Returns the stream of a run from entry `after` on, whichever process drives it; a run that
    /// has ended is read from the log. Dropping the stream does not cancel the run.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn follow(&self, run: RunId, after: Seq) -> Result<RunStream, DriveError> {
        let position = StreamPosition { session: self.clone(), head: after };
        RunStream::new_following(Some(run), position).await
    }

    /// Returns whether a driver of this process has the conversation at this moment.
    #[must_use]
    pub fn is_driven_here(&self) -> bool {
        self.host.is_driving(&self.lane)
    }

    /// Waits until no driver of this process has the conversation: then it is released, and another
    /// process can drive it.
    pub async fn wait_until_released(&self) {
        self.host.wait_until_released(&self.lane).await;
    }
}
