//! Which kinds of input met which phases.

use windlass_core::call::{Call, CallState};
use windlass_core::run::{Phase, Run};
use windlass_core::{Conversation, Input};

const PHASES: [&str; 14] = [
    "idle",
    "asking",
    "deferred",
    "halted",
    "hooked",
    "questioned",
    "ready",
    "running",
    "resting",
    "lost",
    "checked",
    "referred",
    "away",
    "consulting",
];

/// The kinds of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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
}

const INPUTS: [Kind; 14] = [
    Kind::Configured,
    Kind::Received,
    Kind::Adopted,
    Kind::BlockReady,
    Kind::Replied,
    Kind::ModelFailed,
    Kind::HookAnswered,
    Kind::ToolReturned,
    Kind::Probed,
    Kind::Ticked,
    Kind::Forked,
    Kind::Counselled,
    Kind::Classified,
    Kind::SpendingSeen,
];

/// Pairs seen so far: one bit per input, one word per phase.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Coverage {
    seen: [u16; PHASES.len()],
}

impl Coverage {
    /// Notes that an input of this kind met these phases.
    pub(crate) fn note(&mut self, phases: u16, kind: Kind) {
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

    pub(crate) fn covered(&self) -> u32 {
        self.seen.iter().map(|seen| seen.count_ones()).sum()
    }

    pub(crate) fn all() -> u32 {
        (PHASES.len() * INPUTS.len()) as u32
    }

    /// Pairs nobody has seen, as `phase × input`.
    pub(crate) fn missing(&self) -> Vec<String> {
        let pairs = PHASES.iter().zip(self.seen).flat_map(|(phase, seen)| {
            let unseen = INPUTS.iter().filter(move |kind| seen >> **kind as u16 & 1 == 0);
            unseen.map(move |kind| format!("{phase} × {kind:?}"))
        });
        pairs.collect()
    }
}

/// The kind of `input`.
pub(crate) fn kind(input: &Input) -> Kind {
    match input {
        Input::Configured { .. } => Kind::Configured,
        Input::Received { .. } => Kind::Received,
        Input::Adopted { .. } => Kind::Adopted,
        Input::BlockReady { .. } => Kind::BlockReady,
        Input::Replied { .. } => Kind::Replied,
        Input::ModelFailed { .. } => Kind::ModelFailed,
        Input::HookAnswered { .. } => Kind::HookAnswered,
        Input::ToolReturned { .. } => Kind::ToolReturned,
        Input::Probed { .. } => Kind::Probed,
        Input::Ticked {} => Kind::Ticked,
        Input::Forked { .. } => Kind::Forked,
        Input::Counselled { .. } => Kind::Counselled,
        Input::Classified { .. } => Kind::Classified,
        Input::SpendingSeen { .. } => Kind::SpendingSeen,
    }
}

/// The phases a conversation is in, one bit each: acting splits by what its calls do.
pub(crate) fn phases(c: &Conversation) -> u16 {
    match &c.run {
        None => 1,
        Some(run) => of_phase(run),
    }
}

fn of_phase(run: &Run) -> u16 {
    match &run.phase {
        Phase::Between => 0,
        Phase::Asking(_) => 1 << 1,
        Phase::Deferred { .. } => 1 << 2,
        Phase::Halted(_) => 1 << 3,
        Phase::Consulting(_) => 1 << 13,
        Phase::Acting(round) => round.calls.iter().map(of_call).fold(0, |all, one| all | one),
    }
}

fn of_call(call: &Call) -> u16 {
    match &call.state {
        CallState::BeforeHook => 1 << 4,
        CallState::Questioned(_) => 1 << 5,
        CallState::Ready => 1 << 6,
        CallState::Running { .. } => 1 << 7,
        CallState::Resting { .. } => 1 << 8,
        CallState::Lost => 1 << 9,
        CallState::AfterHook(_) => 1 << 10,
        CallState::Referred => 1 << 11,
        CallState::Away(_) => 1 << 12,
        CallState::Unjudged | CallState::Settled(_) => 0,
    }
}
