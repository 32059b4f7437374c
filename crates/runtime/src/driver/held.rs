//! Results that came before their time: a call that ran ahead of its reply has nothing to be the
//! result of until the reply is recorded.

use windlass_core::call::Call;
use windlass_core::conversation::Conversation;
use windlass_core::ids::CallId;
use windlass_core::input::Input;
use windlass_core::run::Run;

use super::is_asking;

/// Inputs that wait for their reply. Bounded by the calls that may run ahead.
#[derive(Default)]
pub(super) struct Held(Vec<Input>);

impl Held {
    /// Takes out of `inputs` what has to wait.
    pub(super) fn sort(&mut self, conversation: &Conversation, inputs: Vec<Input>) -> Vec<Input> {
        let (early, ready) =
            inputs.into_iter().partition(|input| is_asking(conversation) && is_tool_result(input));
        self.0.extend::<Vec<Input>>(early);
        ready
    }

    /// Whether what this call brought waits here.
    pub(super) fn has(&self, call: CallId) -> bool {
        self.0.iter().any(|input| is_result_of(input, &[call]))
    }

    /// Drops what these calls brought.
    pub(super) fn forget(&mut self, calls: &[CallId]) {
        self.0.retain(|input| !is_result_of(input, calls));
    }

    /// Gives back what no longer has to wait.
    pub(super) fn release(&mut self, conversation: &Conversation) -> Released {
        if is_asking(conversation) {
            return Released::default();
        }
        let mut released = Released::default();
        for input in std::mem::take(&mut self.0) {
            match &input {
                Input::ToolReturned { call, .. } if !is_running(conversation, *call) => {
                    released.too_early.push(*call);
                }
                _ => released.inputs.push(input),
            }
        }
        released
    }
}

/// What waited for its reply, now that it is there.
#[derive(Default)]
pub(super) struct Released {
    /// Results that count.
    pub(super) inputs: Vec<Input>,
    /// Calls whose turn has not come although they ran ahead: they will run again.
    pub(super) too_early: Vec<CallId>,
}

fn is_running(conversation: &Conversation, id: CallId) -> bool {
    let round = conversation.run.as_ref().and_then(Run::round);
    round.and_then(|round| round.call(id)).is_some_and(Call::is_running)
}

/// Whether the input is what one of these calls brought.
pub(super) fn is_result_of(input: &Input, calls: &[CallId]) -> bool {
    matches!(input, Input::ToolReturned { call, .. } if calls.contains(call))
}

fn is_tool_result(input: &Input) -> bool {
    matches!(input, Input::ToolReturned { .. })
}
