//! Finished effects. A reply and the results of its early calls are one append (coalescing):
//! results that are not there yet are awaited for a moment, because an append costs more than
//! reading a file. The results of calls that ran before their reply was recorded are held until it
//! is.

use std::sync::Arc;

use windlass_core::call::call_state::Call;
use windlass_core::log::ids::CallId;
use windlass_core::log::input::Input;
use windlass_core::log::record::EarlyStart;
use windlass_core::message::content_block::ToolUse;
use windlass_core::run::active_run::{EarlyCall, Run};
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::wanted;

use super::step::StepDraft;
use super::{DriveError, Driver, is_calling_model};
use crate::effect_runner::EffectResult;

/// How long a reply waits for the results of its early calls, in milliseconds.
const COALESCE_MS: u64 = 2;

impl Driver {
    /// Decides finished effects. Results of early calls are held until their reply is recorded.
    pub(super) async fn on_effects_finished(
        &mut self,
        landed: Vec<EffectResult>,
    ) -> Result<(), DriveError> {
        let mut inputs = self.current_inputs(landed);
        if inputs.iter().any(|input| matches!(input, Input::ModelReplied { .. })) {
            inputs = self.coalesce_with_early_results(inputs).await?;
        }
        let ghosts = invalidated_early_calls(&self.conversation, &inputs);
        ghosts.iter().for_each(|call| self.effects.abort_call(*call));
        self.early_results.discard(&ghosts);
        inputs.retain(|input| !is_result_of(input, &ghosts));
        let ready = self.early_results.hold_early(&self.conversation, inputs);
        let ready = self.with_shared_spending(ready).await?;
        let ready = self.with_summary_charges(ready)?;
        // A reply and the results of its early calls are one append.
        let mut draft = StepDraft::new(&self.conversation);
        self.decide_inputs(&mut draft, ready)?;
        let released = self.early_results.take_ready(&draft.conversation);
        self.decide_inputs(&mut draft, released.inputs)?;
        self.commit_draft(draft).await?;
        released.calls_to_restart.iter().for_each(|call| self.effects.abort_call(*call));
        Ok(())
    }

    /// The results that still count.
    fn current_inputs(&self, landed: Vec<EffectResult>) -> Vec<Input> {
        // What a hook used of the model counts, whatever became of the hook.
        let counts = |one: &EffectResult| {
            matches!(*one.input, Input::HookModelUsed { .. })
                || self.effects.is_in_flight(one.task_id)
        };
        let current = landed.into_iter().filter(counts);
        current.map(|one| *one.input).collect()
    }

    /// Starts the calls that came with a reply, and waits a moment for the results of all its early
    /// calls.
    async fn coalesce_with_early_results(
        &mut self,
        inputs: Vec<Input>,
    ) -> Result<Vec<Input>, DriveError> {
        let (blocks, mut inputs): (Vec<_>, Vec<_>) =
            inputs.into_iter().partition(|input| matches!(input, Input::BlockReady { .. }));
        if !blocks.is_empty() {
            self.run_step(blocks).await?;
            self.ensure_lease().await?;
            self.effects.reconcile(&self.conversation, &wanted(&self.conversation).effects);
        }
        let mut missing = started_early_calls(&self.conversation);
        missing.retain(|call| !self.early_results.contains_result_of(*call));
        if missing.is_empty() {
            return Ok(inputs);
        }
        let clock = Arc::clone(&self.ports.clock);
        let mut time_is_up = clock.sleep(COALESCE_MS);
        loop {
            missing.retain(|call| !inputs.iter().any(|input| is_result_of(input, &[*call])));
            if missing.is_empty() {
                return Ok(inputs);
            }
            let landed = tokio::select! {
                biased;
                landed = self.waiter.wait_for_effects() => landed,
                () = &mut time_is_up => return Ok(inputs),
            };
            inputs.extend(self.current_inputs(landed));
        }
    }
}

/// The calls that were started before the reply that is in flight.
fn started_early_calls(conversation: &Conversation) -> Vec<CallId> {
    let asking = conversation.run.as_ref().and_then(Run::pending_model_call);
    let early = asking.map_or([].as_slice(), |asking| &asking.early_calls);
    early.iter().filter(|call| call.start == EarlyStart::Started).map(|call| call.id).collect()
}

/// Early calls that do not appear in the reply as they were announced, or follow one that does not:
/// the reasons for which they were started do not hold, so their results are discarded.
fn invalidated_early_calls(conversation: &Conversation, inputs: &[Input]) -> Vec<CallId> {
    let Some(asking) = conversation.run.as_ref().and_then(Run::pending_model_call) else {
        return Vec::new();
    };
    let reply = inputs.iter().find_map(|input| match input {
        Input::ModelReplied { model_call, reply, .. } if *model_call == asking.model_call => {
            Some(reply)
        }
        _ => None,
    });
    let Some(reply) = reply else { return Vec::new() };
    let announced = |index: u16, call: &ToolUse| {
        asking.early_calls.iter().any(|early| early.id.index == index && early.tool_use == *call)
    };
    let stands = |early: &&EarlyCall| {
        let mut upto = reply.tool_uses().take_while(|(index, _)| *index <= early.id.index);
        let comes = reply.tool_uses().any(|(index, _)| index == early.id.index);
        comes && upto.all(|(index, call)| announced(index, call))
    };
    asking.early_calls.iter().filter(|early| !stands(early)).map(|early| early.id).collect()
}

/// Results that wait for their reply. Their number is bounded by that of the calls that may run
/// early.
#[derive(Default)]
pub(super) struct EarlyResults(Vec<Input>);

impl EarlyResults {
    /// Takes the results that have to wait out of `inputs`.
    fn hold_early(&mut self, conversation: &Conversation, inputs: Vec<Input>) -> Vec<Input> {
        let (early, ready) = inputs
            .into_iter()
            .partition(|input| is_calling_model(conversation) && is_tool_result(input));
        self.0.extend::<Vec<Input>>(early);
        ready
    }

    /// Returns whether the result of this call is held here.
    fn contains_result_of(&self, call: CallId) -> bool {
        self.0.iter().any(|input| is_result_of(input, &[call]))
    }

    /// Drops the results of these calls.
    fn discard(&mut self, calls: &[CallId]) {
        self.0.retain(|input| !is_result_of(input, calls));
    }

    /// Takes the results that no longer have to wait.
    fn take_ready(&mut self, conversation: &Conversation) -> ReadyResults {
        if is_calling_model(conversation) {
            return ReadyResults::default();
        }
        let mut released = ReadyResults::default();
        for input in std::mem::take(&mut self.0) {
            match &input {
                Input::ToolReturned { call, .. }
                    if !conversation.call(*call).is_some_and(Call::is_running) =>
                {
                    released.calls_to_restart.push(*call);
                }
                _ => released.inputs.push(input),
            }
        }
        released
    }
}

/// Results that waited for their reply, now that it is recorded.
#[derive(Default)]
struct ReadyResults {
    /// Results that count.
    inputs: Vec<Input>,
    /// Early calls that the round has not started yet: they will run again.
    calls_to_restart: Vec<CallId>,
}

/// Returns whether the input is the result of one of these calls.
fn is_result_of(input: &Input, calls: &[CallId]) -> bool {
    matches!(input, Input::ToolReturned { call, .. } if calls.contains(call))
}

fn is_tool_result(input: &Input) -> bool {
    matches!(input, Input::ToolReturned { .. })
}
