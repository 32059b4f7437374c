//! Counsels: hooks look at a prompt, an answer or a compaction; a model sums up or classifies.

use std::sync::Arc;

use tokio::task::AbortHandle;
use windlass_core::aside;
use windlass_core::block::Block;
use windlass_core::conversation::Conversation;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::ids::CallId;
use windlass_core::input::{Input, Opinion};
use windlass_core::reply::{Reply, Usage};
use windlass_core::request::Request;
use windlass_core::run::Run;

use super::Flights;
use super::catch::caught;
use super::tool::within;
use crate::hook_chain;
use crate::ports::{Clock, Hooks, Model, Scene, Stream};

/// How long a summary or a classification may take.
const SIDE_CALL_MS: u64 = 120_000;

impl Flights {
    pub(super) fn consult(&self, conversation: &Conversation) -> Option<AbortHandle> {
        let consulting = conversation.run.as_ref().and_then(Run::consulting)?.clone();
        let clock = Arc::clone(&self.agent.ports.clock);
        let counsel = consulting.id;
        if let Some(request) = conversation.counsel_request() {
            let model = Arc::clone(&self.agent.ports.model);
            return self.fly(async move {
                let advice = match side_call(model, request, clock.as_ref()).await {
                    Ok(reply) => Advice::Summary { text: reply.text().into(), usage: reply.usage },
                    Err(why) => Advice::Failed { why: why.into(), usage: Usage::default() },
                };
                Input::Counselled { counsel, advice }
            });
        }
        let (hooks, limit) = (Arc::clone(&self.agent.ports.hooks), self.hook_ms());
        let (about, scene) = (consulting.about, self.scene(conversation));
        self.fly(async move {
            let heard = caught(ask_hooks(hooks.as_ref(), scene, about));
            let advice = within(clock.as_ref(), limit, heard).await.unwrap_or_else(failed);
            Input::Counselled { counsel, advice }
        })
    }

    pub(super) fn classify(
        &self,
        conversation: &Conversation,
        call: CallId,
    ) -> Option<AbortHandle> {
        let request = conversation.classify_request(call)?;
        let model = Arc::clone(&self.agent.ports.model);
        let clock = Arc::clone(&self.agent.ports.clock);
        self.fly(async move {
            let (opinion, usage) = match side_call(model, request, clock.as_ref()).await {
                Ok(reply) => (aside::opinion(&reply.text()), reply.usage),
                Err(why) => (Opinion::Unsure { why: why.into() }, Usage::default()),
            };
            Input::Classified { call, opinion, usage }
        })
    }
}

/// Whoever listens to beginnings and to what was sampled comes before whoever is asked for counsel.
async fn ask_hooks(hooks: &dyn Hooks, scene: Scene, about: Counsel) -> Advice {
    let first = match &about {
        Counsel::Prompt {} if scene.is_first_run() => hooks.began(scene.clone()).await,
        Counsel::Answer { .. } => {
            hooks.sampled(scene.clone()).await;
            Advice::Pass { context: None }
        }
        Counsel::Prompt {}
        | Counsel::Ruling { .. }
        | Counsel::Pruning { .. }
        | Counsel::Compaction { .. }
        | Counsel::Summary { .. } => Advice::Pass { context: None },
    };
    match first {
        stop @ (Advice::Stop { .. } | Advice::Block { .. }) => stop,
        first => hook_chain::advice(vec![first, hooks.counsel(scene, about).await]),
    }
}

fn failed(why: String) -> Advice {
    Advice::Failed { why: why.into(), usage: Usage::default() }
}

/// A model call beside the conversation. Nobody watches it.
async fn side_call(
    model: Arc<dyn Model>,
    request: Request,
    clock: &dyn Clock,
) -> Result<Reply, String> {
    let asked = caught(model.ask(request, Arc::new(Unseen)));
    let reply = within(clock, SIDE_CALL_MS, asked).await?;
    reply.map_err(|failure| failure.message.to_string())
}

struct Unseen;

impl Stream for Unseen {
    fn text(&self, _piece: &str) {}

    fn thinking(&self, _piece: &str) {}

    fn block(&self, _index: u16, _block: &Block) {}
}
