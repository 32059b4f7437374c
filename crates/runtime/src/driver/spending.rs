//! Caps that the conversations of a profile share. What all of them spent is looked up before every
//! step, and what this one spends or sets aside is added in the step's own transaction: processes that
//! look at the same moment can pass the cap together by one reserved call each, and by no more.

use std::sync::Arc;

use windlass_core::budget::Caps;
use windlass_core::conversation::Conversation;
use windlass_core::ids::Millis;
use windlass_core::input::Input;
use windlass_core::settings::Settings;

use super::{DriveError, Driver};
use crate::ports::{SpendingAccount, SpendingChange};

/// What a conversation that chose no profile counts under.
const NO_PROFILE: &str = "default";

impl Driver {
    /// The same inputs, with what is spent under the profile's cap before the first that may decide
    /// by it.
    pub(super) async fn with_spending(
        &mut self,
        mut inputs: Vec<Input>,
    ) -> Result<Vec<Input>, DriveError> {
        let configured = matches!(inputs.first(), Some(Input::Configured { .. }));
        let settings = match configured {
            true => Some(Arc::clone(&self.settings)),
            false => self.conversation.settings.clone(),
        };
        // Blocks of a reply that still streams ask for nothing that would have to be paid.
        let free = inputs.iter().all(|input| matches!(input, Input::BlockReady { .. }));
        let at = self.now();
        let account = settings.filter(|_| !free).and_then(|settings| account(&settings, at));
        let Some(account) = account.filter(|_| self.conversation.parent.is_none()) else {
            return Ok(inputs);
        };
        let total = self.ports.store.spending(account).await?;
        inputs.insert(usize::from(configured), Input::SpendingSeen { total });
        Ok(inputs)
    }

    /// How a step changes what the profile has spent, if that is capped.
    pub(super) fn spending_change(
        &self,
        after: &Conversation,
        at: Millis,
    ) -> Option<SpendingChange> {
        let account = account(after.settings.as_ref()?, at)?;
        SpendingChange::between(account, &self.counted, &after.committed())
    }
}

/// Where conversations with these settings count, if their profile has a cap.
fn account(settings: &Settings, at: Millis) -> Option<SpendingAccount> {
    let shared = &settings.budget.profile;
    let profile = match &*settings.profile {
        "" => Arc::from(NO_PROFILE),
        _ => settings.profile.clone(),
    };
    let period = Arc::from(shared.period.name(at));
    (shared.caps != Caps::default()).then_some(SpendingAccount { profile, period })
}
