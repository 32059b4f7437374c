//! The model that a hook may ask: the one for side requests, within the budget of the run.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::side_requests::HookRequestRefusal;

use super::{Model, ReplyObserver};

/// A model that hooks may ask. Clones share what they have used, which the run is charged with.
#[derive(Clone, Default)]
pub struct HookModel {
    model: Option<Arc<dyn Model>>,
    used: Arc<Mutex<TokenUsage>>,
}

impl HookModel {
    /// Lets hooks ask this model.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self { model: Some(model), used: Arc::default() }
    }

    /// Asks the model for side requests, and returns the text of its answer. Dropping the future
    /// gives the call up.
    ///
    /// # Errors
    ///
    /// Returns why there is no answer, as the end of a sentence that names the hook.
    pub async fn ask(
        &self,
        conversation: &Conversation,
        system: &str,
        question: &str,
    ) -> Result<String, String> {
        let Some(model) = &self.model else {
            return Err("cannot ask a model at this moment; use another type of hook".to_owned());
        };
        let request = conversation.hook_request(system, question).map_err(refusal_text)?;
        // A call that is given up is charged in full: the provider may have done the work.
        let bytes = system.len().saturating_add(question.len());
        let worst = TokenUsage {
            input_tokens: bytes as u64,
            output_tokens: request.max_tokens,
            ..TokenUsage::default()
        };
        let charge = PendingCharge { used: &self.used, amount: worst };
        let reply = model.call(request, Arc::new(SilentObserver)).await;
        charge.settle(reply.as_ref().map(|reply| reply.usage).unwrap_or_default());
        let reply = reply.map_err(|failure| format!("got no answer: {}", failure.message))?;
        Ok(reply.text())
    }

    /// Takes the usage since the last time; `None` if the model was not called.
    #[must_use]
    pub fn take_usage(&self) -> Option<TokenUsage> {
        let used = std::mem::take(&mut *self.lock());
        (used != TokenUsage::default()).then_some(used)
    }

    fn lock(&self) -> MutexGuard<'_, TokenUsage> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for HookModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookModel").field("is_present", &self.model.is_some()).finish()
    }
}

/// What a call in flight is charged with, also if its future is dropped.
struct PendingCharge<'a> {
    used: &'a Mutex<TokenUsage>,
    amount: TokenUsage,
}

impl PendingCharge<'_> {
    /// The call has returned: it is charged with what it used.
    fn settle(mut self, used: TokenUsage) {
        self.amount = used;
    }
}

impl Drop for PendingCharge<'_> {
    fn drop(&mut self) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).add(&self.amount);
    }
}

fn refusal_text(refusal: HookRequestRefusal) -> String {
    match refusal {
        HookRequestRefusal::TooLong { limit } => {
            format!("asks a question of more than {limit} characters")
        }
        HookRequestRefusal::Budget => "was not asked: the budget does not cover it".to_owned(),
        HookRequestRefusal::NoModel => "cannot ask a model before the first prompt".to_owned(),
    }
}

struct SilentObserver;

impl ReplyObserver for SilentObserver {
    fn on_text(&self, _piece: &str) {}

    fn on_thinking(&self, _piece: &str) {}

    fn on_block(&self, _index: u16, _block: &ContentBlock) {}
}
