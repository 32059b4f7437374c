//! Reviews by hooks (of a prompt, an answer or a compaction), and side requests to a model
//! (summary, classification).

use std::sync::Arc;

use tokio::task::AbortHandle;
use windlass_core::log::ids::CallId;
use windlass_core::log::input::{Classification, Input};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::{ModelReply, TokenUsage};
use windlass_core::message::request::ModelRequest;
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::run::side_requests;

use super::EffectRunner;
use crate::adapter_guard::{catch_panic, with_timeout};
use crate::hook_chain;
use crate::ports::{Clock, HookContext, Hooks, Model, ReplyObserver};

/// The timeout of a summary or a classification, in milliseconds.
const SIDE_REQUEST_TIMEOUT_MS: u64 = 120_000;

impl EffectRunner {
    pub(super) fn request_review(&self, conversation: &Conversation) -> Option<AbortHandle> {
        let consulting = conversation.run.as_ref().and_then(Run::pending_review)?.clone();
        let clock = Arc::clone(&self.agent.ports.clock);
        let id = consulting.id;
        if let Some(request) = conversation.review_request() {
            let model = Arc::clone(&self.agent.ports.model);
            return self.spawn_effect(async move {
                let result = match call_side_model(model, request, clock.as_ref()).await {
                    Ok(reply) => {
                        ReviewResult::ModelText { text: reply.text().into(), usage: reply.usage }
                    }
                    Err(reason) => {
                        ReviewResult::Failed { why: reason.into(), usage: TokenUsage::default() }
                    }
                };
                Input::ReviewReturned { id, result }
            });
        }
        let (hooks, limit) = (Arc::clone(&self.agent.ports.hooks), self.hook_timeout_ms());
        let (review, context) = (consulting.review, self.hook_context(conversation));
        self.spawn_hook(&context.clone(), async move {
            let heard = catch_panic(run_review_hooks(hooks.as_ref(), context, review));
            let result =
                with_timeout(clock.as_ref(), limit, heard).await.unwrap_or_else(failed_review);
            Input::ReviewReturned { id, result }
        })
    }

    pub(super) fn classify_call(
        &self,
        conversation: &Conversation,
        call: CallId,
    ) -> Option<AbortHandle> {
        let request = conversation.classify_request(call)?;
        let model = Arc::clone(&self.agent.ports.model);
        let clock = Arc::clone(&self.agent.ports.clock);
        self.spawn_effect(async move {
            let (classification, usage) =
                match call_side_model(model, request, clock.as_ref()).await {
                    Ok(reply) => (side_requests::parse_classification(&reply.text()), reply.usage),
                    Err(reason) => {
                        (Classification::Unsure { why: reason.into() }, TokenUsage::default())
                    }
                };
            Input::CallClassified { call, classification, usage }
        })
    }
}

/// Runs the review hooks of a point, after the start hooks or the sampling hooks that belong to it.
async fn run_review_hooks(hooks: &dyn Hooks, context: HookContext, review: Review) -> ReviewResult {
    let first = match &review {
        Review::Prompt {} if context.is_first_run() => hooks.on_start(context.clone()).await,
        Review::Answer { .. } => {
            hooks.after_sampling(context.clone()).await;
            ReviewResult::Pass { context: None }
        }
        Review::Prompt {}
        | Review::Judge { .. }
        | Review::Pruning { .. }
        | Review::Compaction { .. }
        | Review::Summary { .. } => ReviewResult::Pass { context: None },
    };
    match first {
        stop @ (ReviewResult::Stop { .. } | ReviewResult::Block { .. }) => stop,
        first => {
            hook_chain::combine_review_results(vec![first, hooks.review(context, review).await])
        }
    }
}

fn failed_review(reason: String) -> ReviewResult {
    ReviewResult::Failed { why: reason.into(), usage: TokenUsage::default() }
}

/// A side request: a model call beside the conversation. Its text is not streamed.
pub(crate) async fn call_side_model(
    model: Arc<dyn Model>,
    request: ModelRequest,
    clock: &dyn Clock,
) -> Result<ModelReply, String> {
    let asked = catch_panic(model.call(request, Arc::new(DiscardingObserver)));
    let reply = with_timeout(clock, SIDE_REQUEST_TIMEOUT_MS, asked).await?;
    reply.map_err(|failure| failure.message.to_string())
}

struct DiscardingObserver;

impl ReplyObserver for DiscardingObserver {
    fn on_text(&self, _piece: &str) {}

    fn on_thinking(&self, _piece: &str) {}

    fn on_block(&self, _index: u16, _block: &ContentBlock) {}
}
