//! The effect runner: performs effects. The driver passes the effects that are wanted; missing ones
//! are started, unwanted ones are aborted, and every effect ends by sending one input to the
//! driver.

mod live_progress;
mod model_call;
mod reviews;
mod tool_calls;

pub(crate) use reviews::call_side_model;

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass_core::log::ids::{CallId, LaneId};
use windlass_core::log::input::Input;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::Effect;

use crate::agent::Agent;
use crate::fair_semaphore::FairSemaphore;
use crate::feed::{LaneFeed, LaneReaders, OwnerFeed};
use crate::ports::{HookContext, HookModel};

/// Inputs that may wait for the driver; an effect that finds the queue full waits.
const MAX_QUEUED_RESULTS: usize = 1_024;

/// The effects of one lane that are in flight.
pub(crate) struct EffectRunner {
    lane: LaneId,
    agent: Agent,
    feed: LaneFeed,
    owner: Option<OwnerFeed>,
    results: mpsc::Sender<EffectResult>,
    in_flight: BTreeMap<Effect, EffectTask>,
    last_task_id: EffectTaskId,
    tool_semaphore: Option<FairSemaphore>,
}

/// Effect tasks are numbered: an aborted one may have finished a moment before.
pub(crate) type EffectTaskId = u64;

struct EffectTask {
    id: EffectTaskId,
    abort_handle: AbortHandle,
}

/// The result of a finished effect.
#[derive(Debug)]
pub(crate) struct EffectResult {
    /// The task that performed the effect.
    pub(crate) task_id: EffectTaskId,
    /// The input for the driver; boxed, because the queue has space for many.
    pub(crate) input: Box<Input>,
}

/// Charges the model calls of a hook.
pub(crate) struct HookCharges {
    model: HookModel,
    results: mpsc::Sender<EffectResult>,
}

impl HookCharges {
    /// Sends what was used to the driver: it counts whatever becomes of the hook.
    pub(crate) async fn report(&self) {
        if let Some(usage) = self.model.take_usage() {
            let input = Box::new(Input::HookModelUsed { usage });
            // Fails only if the driver is gone, with what it would have charged.
            let _ = self.results.send(EffectResult { task_id: 0, input }).await;
        }
    }
}

impl EffectRunner {
    pub(crate) fn new(
        lane: LaneId,
        agent: Agent,
        feed: LaneFeed,
        owner: Option<OwnerFeed>,
        tool_semaphore: Option<FairSemaphore>,
    ) -> (Self, mpsc::Receiver<EffectResult>) {
        let (results, landed) = mpsc::channel(MAX_QUEUED_RESULTS);
        let in_flight = BTreeMap::new();
        (
            Self { lane, agent, feed, owner, results, in_flight, last_task_id: 0, tool_semaphore },
            landed,
        )
    }

    /// Starts the wanted effects that are not in flight, and aborts the others. A finished effect
    /// stays in the table until it is no longer wanted: an early call whose result waits for its
    /// reply is not run twice.
    pub(crate) fn reconcile(&mut self, conversation: &Conversation, wanted: &[Effect]) {
        self.abort_unwanted(wanted);
        for effect in wanted {
            if !self.in_flight.contains_key(effect) {
                self.start_effect(conversation, *effect);
            }
        }
    }

    /// Aborts everything that is not a tool call.
    pub(crate) fn abort_all_but_tool_calls(&mut self) {
        self.retain_effects(|effect| matches!(effect, Effect::RunTool { .. }));
    }

    /// Aborts the effects that are no longer wanted, and starts nothing.
    pub(crate) fn abort_unwanted(&mut self, wanted: &[Effect]) {
        self.retain_effects(|effect| wanted.contains(effect));
    }

    fn retain_effects(&mut self, keep: impl Fn(&Effect) -> bool) {
        self.in_flight.retain(|effect, flight| {
            let kept = keep(effect);
            if !kept {
                flight.abort_handle.abort();
            }
            kept
        });
    }

    /// Returns whether any effect is in flight.
    pub(crate) fn has_in_flight(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Returns whether every effect of `wanted` is in flight already.
    pub(crate) fn has_started_all(&self, wanted: &[Effect]) -> bool {
        wanted.iter().all(|effect| self.in_flight.contains_key(effect))
    }

    /// Returns whether the result of this task still counts.
    pub(crate) fn is_in_flight(&self, flight: EffectTaskId) -> bool {
        self.in_flight.values().any(|flying| flying.id == flight)
    }

    /// Aborts a call, so that it is started again if it is wanted.
    pub(crate) fn abort_call(&mut self, call: CallId) {
        self.in_flight.retain(|effect, flight| {
            let recalled = matches!(effect, Effect::RunTool { call: id, .. } if *id == call);
            if recalled {
                flight.abort_handle.abort();
            }
            !recalled
        });
    }

    fn start_effect(&mut self, conversation: &Conversation, effect: Effect) {
        self.last_task_id = self.last_task_id.wrapping_add(1);
        let task = match effect {
            Effect::CallModel(_) => self.call_model(conversation),
            Effect::RunTool { call, attempt } => self.run_tool(conversation, call, attempt),
            Effect::RunPreHook(call) => self.run_pre_hook(conversation, call),
            Effect::RunPostHook(call) => self.run_post_hook(conversation, call),
            Effect::ProbeCall(call) => self.probe_call(conversation, call),
            Effect::ClassifyCall(call) => self.classify_call(conversation, call),
            Effect::RequestReview(_) => self.request_review(conversation),
            Effect::RecordSettings => self.record_settings(),
        };
        if let Some(abort_handle) = task {
            self.in_flight.insert(effect, EffectTask { id: self.last_task_id, abort_handle });
        }
    }

    /// The context that hooks receive.
    fn hook_context(&self, conversation: &Conversation) -> HookContext {
        let model = HookModel::new(Arc::clone(&self.agent.ports.model));
        HookContext::new(self.lane.clone(), conversation.clone()).with_model(model)
    }

    /// Starts a hook. Its messages go to the readers and the model calls it made are charged, both
    /// before what it returned.
    fn spawn_hook(
        &self,
        context: &HookContext,
        hook: impl Future<Output = Input> + Send + 'static,
    ) -> Option<AbortHandle> {
        let (readers, messages) = (self.readers(), context.messages.clone());
        let charges = self.hook_charges(context);
        self.spawn_effect(async move {
            let input = hook.await;
            readers.publish_hook_messages(&messages).await;
            charges.report().await;
            input
        })
    }

    /// Returns how what a hook used of the model is charged.
    pub(crate) fn hook_charges(&self, context: &HookContext) -> HookCharges {
        HookCharges { model: context.model.clone(), results: self.results.clone() }
    }

    /// Returns the readers of the lane, for what hooks have to say to them.
    fn readers(&self) -> LaneReaders {
        LaneReaders { feed: self.feed.clone(), owner: self.owner.clone() }
    }

    /// Starts a future whose value is the input for the driver.
    fn spawn_effect(
        &self,
        flight: impl Future<Output = Input> + Send + 'static,
    ) -> Option<AbortHandle> {
        let inbox = self.results.clone();
        let no = self.last_task_id;
        let task = tokio::spawn(async move {
            let input = flight.await;
            // This fails only if the driver is gone; then the result is not needed.
            let _ = inbox.send(EffectResult { task_id: no, input: Box::new(input) }).await;
        });
        Some(task.abort_handle())
    }

    fn record_settings(&self) -> Option<AbortHandle> {
        let settings = Arc::clone(&self.agent.settings);
        self.spawn_effect(std::future::ready(Input::Configured { settings }))
    }

    /// Aborts every effect in flight.
    pub(crate) fn abort_all(&mut self) {
        for flight in std::mem::take(&mut self.in_flight).into_values() {
            flight.abort_handle.abort();
        }
    }
}

impl Drop for EffectRunner {
    fn drop(&mut self) {
        self.abort_all();
    }
}
