//! Early results: the results of calls that ran before their reply was recorded are held here until
//! the reply is recorded.

use windlass_core::call::call_state::Call;
use windlass_core::log::ids::CallId;
use windlass_core::log::input::Input;
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;

use super::is_calling_model;

/// Results that wait for their reply. Their number is bounded by that of the calls that may run
/// early.
#[derive(Default)]
pub(super) struct EarlyResults(Vec<Input>);

impl EarlyResults {
    /// Takes the results that have to wait out of `inputs`.
    pub(super) fn hold_early(
        &mut self,
        conversation: &Conversation,
        inputs: Vec<Input>,
    ) -> Vec<Input> {
        let (early, ready) = inputs
            .into_iter()
            .partition(|input| is_calling_model(conversation) && is_tool_result(input));
        self.0.extend::<Vec<Input>>(early);
        ready
    }

    /// Returns whether the result of this call is held here.
    pub(super) fn contains_result_of(&self, call: CallId) -> bool {
        self.0.iter().any(|input| is_result_of(input, &[call]))
    }

    /// Drops the results of these calls.
    pub(super) fn discard(&mut self, calls: &[CallId]) {
        self.0.retain(|input| !is_result_of(input, calls));
    }

    /// Takes the results that no longer have to wait.
    pub(super) fn take_ready(&mut self, conversation: &Conversation) -> ReadyResults {
        if is_calling_model(conversation) {
            return ReadyResults::default();
        }
        let mut released = ReadyResults::default();
        for input in std::mem::take(&mut self.0) {
            match &input {
                Input::ToolReturned { call, .. } if !is_running(conversation, *call) => {
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
pub(super) struct ReadyResults {
    /// Results that count.
    pub(super) inputs: Vec<Input>,
    /// Early calls that the round has not started yet: they will run again.
    pub(super) calls_to_restart: Vec<CallId>,
}

fn is_running(conversation: &Conversation, id: CallId) -> bool {
    let round = conversation.run.as_ref().and_then(Run::round);
    round.and_then(|round| round.call(id)).is_some_and(Call::is_running)
}

/// Returns whether the input is the result of one of these calls.
pub(super) fn is_result_of(input: &Input, calls: &[CallId]) -> bool {
    matches!(input, Input::ToolReturned { call, .. } if calls.contains(call))
}

fn is_tool_result(input: &Input) -> bool {
    matches!(input, Input::ToolReturned { .. })
}
