//! Moves a command that runs in the foreground to the background.

use tokio::sync::watch;

/// Tells a running command that it moves to the background.
#[cfg(feature = "shell")]
#[derive(Debug)]
pub(crate) struct BackgroundMover(watch::Sender<bool>);

/// Learns that the command moves to the background. The default never does.
#[derive(Debug, Clone, Default)]
pub(crate) struct BackgroundSwitch(Option<watch::Receiver<bool>>);

#[cfg(feature = "shell")]
impl BackgroundMover {
    /// Returns a mover and the switch of its command.
    pub(crate) fn new() -> (Self, BackgroundSwitch) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), BackgroundSwitch(Some(receiver)))
    }

    /// Moves the command.
    pub(crate) fn move_command(&self) {
        self.0.send_replace(true);
    }
}

impl BackgroundSwitch {
    /// Resolves once the command moves to the background, and never if it does not.
    pub(crate) async fn moved(&mut self) {
        let is_moved = match &mut self.0 {
            Some(receiver) => receiver.wait_for(|is_moved| *is_moved).await.is_ok(),
            None => false,
        };
        if !is_moved {
            std::future::pending::<()>().await;
        }
    }
}
