//! The model call: streams to readers, reports finished blocks early, and returns the reply with
//! the facts of its tool calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass_core::call::call_facts::{CallFacts, Repeatability};
use windlass_core::log::ids::{LaneId, ModelCallId};
use windlass_core::log::input::{FailureClass, Input, ModelFailure};
use windlass_core::message::content_block::{ContentBlock, ToolUse};
use windlass_core::message::reply::ModelReply;
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::conversation_settings::Settings;

use super::{EffectResult, EffectRunner, EffectTaskId};
use crate::adapter_guard::catch_panic;
use crate::feed::LiveReplyPublisher;
use crate::ports::ReplyObserver;
use crate::tool_registry::ToolRegistry;

impl EffectRunner {
    pub(super) fn call_model(&self, conversation: &Conversation) -> Option<AbortHandle> {
        let request = conversation.model_request()?;
        let model_call = request.model_call;
        let model = Arc::clone(&self.agent.ports.model);
        let stream = Arc::new(ModelCallObserver {
            lane: self.lane.clone(),
            model_call,
            task_id: self.last_task_id,
            tools: self.agent.ports.tools.clone(),
            settings: Arc::clone(&request.settings),
            results: self.results.clone(),
            live: LiveReplyPublisher::new(model_call, self.feed.clone(), self.owner.clone()),
            assessed: Mutex::default(),
        });
        let heard = Arc::clone(&stream);
        self.spawn_effect(async move {
            match catch_panic(model.call(request, stream)).await {
                Ok(Ok(reply)) => heard.to_reply_input(reply),
                Ok(Err(failure)) => Input::ModelFailed { model_call, failure },
                Err(panic) => Input::ModelFailed { model_call, failure: panic_failure(&panic) },
            }
        })
    }
}

fn panic_failure(panic: &str) -> ModelFailure {
    let message = format!("the model adapter panicked: {panic}");
    ModelFailure {
        class: FailureClass::Permanent,
        message: message.into(),
        retry_after_ms: None,
        raw: None,
    }
}

struct ModelCallObserver {
    lane: LaneId,
    model_call: ModelCallId,
    task_id: EffectTaskId,
    tools: ToolRegistry,
    settings: Arc<Settings>,
    results: mpsc::Sender<EffectResult>,
    live: LiveReplyPublisher,
    /// The calls that arrived as blocks and may have started, with their facts. A call that must
    /// run only once is assessed again with the reply, because its facts may have changed since.
    assessed: Mutex<Vec<(ToolUse, CallFacts)>>,
}

impl ModelCallObserver {
    fn to_reply_input(&self, reply: ModelReply) -> Input {
        let mut assessed = self.lock_assessed();
        let facts = |(_, call): (_, &ToolUse)| match take_assessed_facts(&mut assessed, call) {
            Some(facts) => facts,
            None => self.tools.assess_in_run(&self.lane, call, &self.settings),
        };
        let facts = reply.tool_uses().map(facts).collect();
        Input::ModelReplied { model_call: self.model_call, reply: Arc::new(reply), facts }
    }

    fn lock_assessed(&self) -> MutexGuard<'_, Vec<(ToolUse, CallFacts)>> {
        self.assessed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the facts that were assessed when the same call arrived as a block.
fn take_assessed_facts(
    assessed: &mut Vec<(ToolUse, CallFacts)>,
    call: &ToolUse,
) -> Option<CallFacts> {
    let index = assessed.iter().position(|(known, _)| known == call)?;
    Some(assessed.swap_remove(index).1)
}

impl ReplyObserver for ModelCallObserver {
    fn on_text(&self, chunk: &str) {
        self.live.publish_text(chunk);
    }

    fn on_thinking(&self, chunk: &str) {
        self.live.publish_thinking(chunk);
    }

    fn wants_events(&self) -> bool {
        self.live.wants_events()
    }

    fn on_event(&self, event: &str) {
        self.live.publish_event(event);
    }

    fn on_block(&self, index: u16, block: &ContentBlock) {
        if let Some(call) = block.as_tool_use() {
            let facts = self.tools.assess_in_run(&self.lane, call, &self.settings);
            let tool_use = call.clone();
            if facts.repeat == Repeatability::Repeatable {
                self.lock_assessed().push((tool_use.clone(), facts.clone()));
            }
            let input = Input::BlockReady { model_call: self.model_call, index, tool_use, facts };
            // An early start is optional: if the queue is full, the call waits for its reply.
            let _ = self
                .results
                .try_send(EffectResult { task_id: self.task_id, input: Box::new(input) });
        }
    }
}
