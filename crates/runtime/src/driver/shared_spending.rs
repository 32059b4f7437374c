//! Spending caps that the conversations of a profile share. The shared spending is read before
//! every step, and what this conversation spends or reserves is added in the step's own
//! transaction: processes that read at the same moment can exceed the cap together by one reserved
//! call each, and by no more.

use std::sync::Arc;

use windlass_core::budget::spending::{Budget, SpendingCaps};
use windlass_core::log::ids::UnixMillis;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::Input;
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::run_settings::RunSettings;

use super::{DriveError, Driver};
use crate::ports::{SpendingAccount, SpendingChange};

/// The profile name under which a conversation without a profile is counted.
const DEFAULT_PROFILE: &str = "default";

impl Driver {
    /// Adds the spending under the profile's cap to the inputs, before the first input whose
    /// decision may depend on it.
    pub(super) async fn with_shared_spending(
        &mut self,
        mut inputs: Vec<Input>,
    ) -> Result<Vec<Input>, DriveError> {
        let at = self.now();
        let configured = matches!(inputs.first(), Some(Input::Configured { .. }));
        let owner = match configured {
            true => Some(&self.settings),
            false => self.conversation.owner_settings.as_ref(),
        };
        // Before a run starts, the settings of its prompt determine where it is counted.
        let own = next_prompt(&self.conversation, &inputs).and_then(|own| own.bounds.as_ref());
        let counted = match (&self.conversation.run, own) {
            (Some(_), _) => self.conversation.settings.as_ref().map(|s| (&s.profile, &s.budget)),
            (None, Some(own)) => Some((&own.profile, &own.budget)),
            (None, None) => owner.map(|owner| (&owner.profile, &owner.budget)),
        };
        // Blocks of a reply that still streams cause no spending.
        let free = inputs.iter().all(|input| matches!(input, Input::BlockReady { .. }));
        let account = counted.filter(|_| !free).and_then(|counted| shared_account(counted, at));
        let Some(account) = account.filter(|_| self.conversation.parent.is_none()) else {
            return Ok(inputs);
        };
        let total = self.ports.store.spending(account).await?;
        inputs.insert(usize::from(configured), Input::SharedSpendingUpdated { total });
        Ok(inputs)
    }

    /// Returns how a step changes the spending of the profile, if that is capped.
    pub(super) fn spending_change(
        &self,
        after: &Conversation,
        at: UnixMillis,
    ) -> Option<SpendingChange> {
        let settings = after.settings.as_ref()?;
        let account = shared_account((&settings.profile, &settings.budget), at)?;
        SpendingChange::between(account, &self.counted_spending, &after.committed_spending())
    }
}

/// The settings of the prompt that starts the next run.
fn next_prompt<'a>(now: &'a Conversation, inputs: &'a [Input]) -> Option<&'a RunSettings> {
    if let Some(waiting) = now.prompt_queue.front() {
        return waiting.settings.as_deref();
    }
    let received = inputs.iter().filter_map(|input| match input {
        Input::CommandsReceived { messages } => Some(messages),
        _ => None,
    });
    received.flatten().find_map(|message| match &message.body {
        InboxCommand::Prompt { settings, .. } => Some(settings.as_deref()),
        _ => None,
    })?
}

/// The account of conversations with this profile and budget, if the profile has a cap.
fn shared_account(
    (profile, budget): (&Arc<str>, &Budget),
    at: UnixMillis,
) -> Option<SpendingAccount> {
    let shared = &budget.profile;
    let profile = match &**profile {
        "" => Arc::from(DEFAULT_PROFILE),
        _ => profile.clone(),
    };
    let period = Arc::from(shared.period.label(at));
    (shared.caps != SpendingCaps::default()).then_some(SpendingAccount { profile, period })
}
