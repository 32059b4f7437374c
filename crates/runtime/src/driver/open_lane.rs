//! Opens a lane: the fork, a missed time limit, the settings or the new owner are recorded before
//! anything else happens.

use std::sync::Arc;

use windlass_core::log::input::Input;

use super::load::load_deciding;
use super::{DriveError, Driver};

impl Driver {
    /// Brings settings and ownership up to date before anything else happens, and reads the inbox,
    /// with one append for both.
    pub(super) async fn open_lane(&mut self) -> Result<(), DriveError> {
        if let Some((parent, at)) = self.fork_of.take_if(|(_, at)| *at == self.conversation.head) {
            // The first entry of a fork records the fork: nothing of the parent's run continues in
            // it.
            self.run_step(vec![Input::Forked { parent, at }]).await?;
        }
        if self.options.replaces_stuck && self.conversation.run.is_some() {
            // Before the owner change is recorded: the time that the stuck driver used counts, and
            // so do the calls it started, which the log does not show.
            self.conversation = load_deciding(&self.ports, &self.lane).await?;
            self.run_step(vec![Input::TimerFired {}]).await?;
            self.conversation = self.conversation.without_volatile();
        }
        let input = if self.conversation.run.is_some() {
            let prompt_hash = self.settings.prompt_hash();
            let same = self.conversation.prompt_hash.as_ref() == Some(&prompt_hash);
            let prompt_fingerprint = (!same).then(|| self.settings.prompt_fingerprint());
            let known = self.conversation.owner_settings.as_ref() == Some(&self.settings);
            let settings = (!known).then(|| Arc::clone(&self.settings));
            Input::OwnerChanged { epoch: self.epoch, prompt_hash, prompt_fingerprint, settings }
        } else {
            Input::Configured { settings: Arc::clone(&self.settings) }
        };
        let messages = std::mem::take(&mut self.initial_messages);
        let received = (!messages.is_empty()).then_some(Input::CommandsReceived { messages });
        self.run_step([input].into_iter().chain(received).collect()).await
    }
}
