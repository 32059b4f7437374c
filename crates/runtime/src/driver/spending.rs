//! Caps that the conversations of a profile share. What all of them spent is looked up before every
//! step, and what this one spends or sets aside is added in the step's own transaction: processes that
//! look at the same moment can pass the cap together by one reserved call each, and by no more.

use std::sync::Arc;

use windlass_core::budget::{Budget, Caps};
use windlass_core::conversation::Conversation;
use windlass_core::ids::Millis;
use windlass_core::input::Input;
use windlass_core::mail::MailBody;
use windlass_core::run_settings::RunSettings;

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
        let at = self.now();
        let configured = matches!(inputs.first(), Some(Input::Configured { .. }));
        let owner = match configured {
            true => Some(&self.settings),
            false => self.conversation.owner_settings.as_ref(),
        };
        // Before a run begins, what its prompt brought along says where it counts.
        let own = next_prompt(&self.conversation, &inputs).and_then(|own| own.bounds.as_ref());
        let counted = match (&self.conversation.run, own) {
            (Some(_), _) => self.conversation.settings.as_ref().map(|s| (&s.profile, &s.budget)),
            (None, Some(own)) => Some((&own.profile, &own.budget)),
            (None, None) => owner.map(|owner| (&owner.profile, &owner.budget)),
        };
        // Blocks of a reply that still streams ask for nothing that would have to be paid.
        let free = inputs.iter().all(|input| matches!(input, Input::BlockReady { .. }));
        let account = counted.filter(|_| !free).and_then(|counted| account(counted, at));
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
        let settings = after.settings.as_ref()?;
        let account = account((&settings.profile, &settings.budget), at)?;
        SpendingChange::between(account, &self.counted, &after.committed())
    }
}

/// What the prompt brought along that begins the next run.
fn next_prompt<'a>(now: &'a Conversation, inputs: &'a [Input]) -> Option<&'a RunSettings> {
    if let Some(waiting) = now.queue.front() {
        return waiting.settings.as_deref();
    }
    let received = inputs.iter().filter_map(|input| match input {
        Input::Received { mail } => Some(mail),
        _ => None,
    });
    received.flatten().find_map(|mail| match &mail.body {
        MailBody::Prompt { settings, .. } => Some(settings.as_deref()),
        _ => None,
    })?
}

/// Where conversations with this profile and budget count, if the profile has a cap.
fn account((profile, budget): (&Arc<str>, &Budget), at: Millis) -> Option<SpendingAccount> {
    let shared = &budget.profile;
    let profile = match &**profile {
        "" => Arc::from(NO_PROFILE),
        _ => profile.clone(),
    };
    let period = Arc::from(shared.period.name(at));
    (shared.caps != Caps::default()).then_some(SpendingAccount { profile, period })
}
