//! Coverage: which kinds of input were tried in which phases.

use windlass_core::call::call_state::{Call, CallState};
use windlass_core::run::active_run::{Run, RunPhase};
use windlass_core::{Conversation, Input};

const PHASES: [&str; 14] = [
    "idle",
    "calling_model",
    "awaiting_retry",
    "paused",
    "awaiting_hook",
    "awaiting_human",
    "ready",
    "running",
    "awaiting_tool_retry",
    "lost",
    "awaiting_probe",
    "awaiting_classifier",
    "awaiting_children",
    "in_review",
];

/// The kinds of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    Configured,
    Received,
    Adopted,
    BlockReady,
    Replied,
    ModelFailed,
    HookAnswered,
    ToolReturned,
    Probed,
    Ticked,
    Forked,
    Counselled,
    Classified,
    SpendingSeen,
    ToolsOffered,
}

const INPUTS: [InputKind; 15] = [
    InputKind::Configured,
    InputKind::Received,
    InputKind::Adopted,
    InputKind::BlockReady,
    InputKind::Replied,
    InputKind::ModelFailed,
    InputKind::HookAnswered,
    InputKind::ToolReturned,
    InputKind::Probed,
    InputKind::Ticked,
    InputKind::Forked,
    InputKind::Counselled,
    InputKind::Classified,
    InputKind::SpendingSeen,
    InputKind::ToolsOffered,
];

/// Pairs covered so far: one bit per input, one word per phase.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Coverage {
    seen: [u16; PHASES.len()],
}

impl Coverage {
    /// Records that an input of this kind was tried in these phases.
    pub(crate) fn note(&mut self, phases: u16, kind: InputKind) {
        let bit = 1u16 << kind as u16;
        for (place, seen) in self.seen.iter_mut().enumerate() {
            if phases >> place & 1 == 1 {
                *seen |= bit;
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.seen.iter_mut().zip(other.seen) {
            *ours |= theirs;
        }
    }

    pub(crate) fn covered_pairs(&self) -> u32 {
        self.seen.iter().map(|seen| seen.count_ones()).sum()
    }

    pub(crate) fn all() -> u32 {
        (PHASES.len() * INPUTS.len()) as u32
    }

    /// Returns the pairs that were never tried, as `phase × input`.
    pub(crate) fn missing(&self) -> Vec<String> {
        let pairs = PHASES.iter().zip(self.seen).flat_map(|(phase, seen)| {
            let unseen = INPUTS.iter().filter(move |kind| seen >> **kind as u16 & 1 == 0);
            unseen.map(move |kind| format!("{phase} × {kind:?}"))
        });
        pairs.collect()
    }
}

/// Returns the kind of `input`.
pub(crate) fn kind(input: &Input) -> InputKind {
    match input {
        Input::Configured { .. } => InputKind::Configured,
        Input::CommandsReceived { .. } => InputKind::Received,
        Input::OwnerChanged { .. } => InputKind::Adopted,
        Input::BlockReady { .. } => InputKind::BlockReady,
        Input::ModelReplied { .. } => InputKind::Replied,
        Input::ModelFailed { .. } => InputKind::ModelFailed,
        Input::HookResponded { .. } => InputKind::HookAnswered,
        Input::ToolReturned { .. } => InputKind::ToolReturned,
        Input::CallProbed { .. } => InputKind::Probed,
        Input::TimerFired {} => InputKind::Ticked,
        Input::Forked { .. } => InputKind::Forked,
        Input::ReviewReturned { .. } => InputKind::Counselled,
        // The usage of a model call: what it decided comes as a response or a review.
        Input::CallClassified { .. } | Input::HookModelUsed { .. } => InputKind::Classified,
        Input::SharedSpendingUpdated { .. } => InputKind::SpendingSeen,
        Input::ServerToolsOffered { .. } => InputKind::ToolsOffered,
    }
}

/// Returns the phases of a conversation, one bit each: running tools is split by the state of its
/// calls.
pub(crate) fn phases(c: &Conversation) -> u16 {
    match &c.run {
        None => 1,
        Some(run) => of_phase(run),
    }
}

fn of_phase(run: &Run) -> u16 {
    match &run.phase {
        RunPhase::Deciding => 0,
        RunPhase::CallingModel(_) => 1 << 1,
        RunPhase::AwaitingRetry { .. } => 1 << 2,
        RunPhase::Paused(_) => 1 << 3,
        RunPhase::InReview(_) => 1 << 13,
        RunPhase::RunningTools(round) => {
            round.calls.iter().map(of_call).fold(0, |all, one| all | one)
        }
    }
}

fn of_call(call: &Call) -> u16 {
    match &call.state {
        CallState::AwaitingPreHook => 1 << 4,
        CallState::AwaitingHuman(_) => 1 << 5,
        CallState::Ready => 1 << 6,
        CallState::Running { .. } => 1 << 7,
        CallState::AwaitingRetry { .. } => 1 << 8,
        CallState::Lost => 1 << 9,
        CallState::AwaitingPostHook(_) => 1 << 10,
        CallState::AwaitingClassifier => 1 << 11,
        CallState::AwaitingChildren(_) => 1 << 12,
        CallState::AwaitingPermission | CallState::Finished(_) => 0,
    }
}
