//! The active run: a phase, the counters, and nothing hidden in local flags.

use std::sync::Arc;

use crate::block::{Block, ToolUse};
use crate::call::Call;
use crate::facts::Facts;
use crate::ids::{AskId, CallId, Millis, RunId};
use crate::question::Question;
use crate::record::{Launch, OutputBound, Stop, Transition, Truncation};
use crate::reply::{Reply, Usage};

/// One supervised execution, from its prompt to its one terminal record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What it is doing.
    pub phase: Phase,
    /// What it has used.
    pub counters: Counters,
    /// Whether and how it is asked to end.
    pub stop: Option<StopRequest>,
    /// The text of replies that were cut and go on.
    pub pieces: Vec<Arc<str>>,
    /// What people said meanwhile; read after the round.
    pub steers: Vec<Arc<[Block]>>,
    /// Output cap in force, after the ladder raised it.
    pub cap_tokens: u64,
}

/// What a run is doing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Between two things: `decide` never leaves a run here.
    Between,
    /// The model is asked.
    Asking(Asking),
    /// The provider failed in passing; asked again later.
    Deferred {
        /// Not before.
        until: Millis,
    },
    /// The calls of a reply are worked.
    Acting(Round),
    /// Prompt or tools changed; a human decides whether to go on.
    Halted(Halt),
}

/// A run that does nothing until a human accepts what changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Halt {
    /// The question.
    pub question: Question,
    /// The round that was open.
    pub round: Option<Round>,
    /// Whether the human said yes; the new settings are about to be recorded.
    pub leave: Leave,
}

/// Whether a halted run may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Leave {
    /// Nobody has answered.
    Awaited,
    /// It may.
    Given,
}

/// A model call in the air.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Asking {
    /// Which.
    pub ask: AskId,
    /// Output tokens it may use.
    pub max_tokens: u64,
    /// What bounds the output.
    pub bound: OutputBound,
    /// Tokens set aside for it.
    pub reserved_tokens: u64,
    /// Why it was asked.
    pub transition: Transition,
    /// Calls that were let go ahead while it streams.
    pub early: Vec<EarlyCall>,
}

/// A call that runs before its reply is complete: a read that rules alone allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EarlyCall {
    /// The call.
    pub id: CallId,
    /// What the model asked for.
    pub tool_use: ToolUse,
    /// Whether it runs; a block that may not still stands in the way of later ones.
    pub launch: Launch,
    /// What is known of it.
    pub facts: Arc<Facts>,
}

/// A reply whose calls are being worked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Round {
    /// Which model call brought it.
    pub ask: AskId,
    /// The blocks that go into the transcript.
    pub blocks: Arc<[Block]>,
    /// Its calls, in order.
    pub calls: Vec<Call>,
    /// What is said after the results.
    pub note: Option<Arc<str>>,
    /// Whether a call failed in a way that ends the run.
    pub fatal: Fatality,
}

/// Whether the run must end after this round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fatality {
    /// It goes on.
    GoesOn,
    /// It ends.
    Fatal,
}

/// What a run has used. Reset with each run, kept across crashes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Rounds with tool calls: what `max_turns` and `iter` count.
    pub tool_rounds: u32,
    /// Model calls.
    pub model_calls: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Replies cut in a row.
    pub truncations: u32,
    /// Replies thrown away and asked for again.
    pub reprompts: u32,
    /// Model failures in a row.
    pub failures: u32,
    /// Emergency compactions.
    pub reactive_compactions: u32,
    /// Tokens used.
    pub usage: Usage,
}

/// How the run is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StopRequest {
    /// Gently or now.
    pub how: Stop,
    /// When it was asked.
    pub at: Millis,
}

/// The last reply, for whoever reports on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LastReply {
    /// Which model call.
    pub ask: AskId,
    /// The reply.
    pub reply: Arc<Reply>,
    /// Whether it was cut.
    pub truncation: Truncation,
    /// Why it was asked for.
    pub transition: Transition,
}

impl Run {
    /// A run that has just begun.
    #[must_use]
    pub fn new(id: RunId, cap_tokens: u64) -> Self {
        Self {
            id,
            phase: Phase::Between,
            counters: Counters::default(),
            stop: None,
            pieces: Vec::new(),
            steers: Vec::new(),
            cap_tokens,
        }
    }

    /// The open round.
    #[must_use]
    pub fn round(&self) -> Option<&Round> {
        match &self.phase {
            Phase::Acting(round) => Some(round),
            Phase::Halted(halt) => halt.round.as_ref(),
            Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } => None,
        }
    }

    /// The open round, to work on.
    pub fn round_mut(&mut self) -> Option<&mut Round> {
        match &mut self.phase {
            Phase::Acting(round) => Some(round),
            Phase::Halted(halt) => halt.round.as_mut(),
            Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } => None,
        }
    }

    /// The model call in the air.
    #[must_use]
    pub fn asking(&self) -> Option<&Asking> {
        match &self.phase {
            Phase::Asking(asking) => Some(asking),
            Phase::Between | Phase::Deferred { .. } | Phase::Acting(_) | Phase::Halted(_) => None,
        }
    }

    /// Why the run does nothing.
    #[must_use]
    pub fn halt(&self) -> Option<&Halt> {
        match &self.phase {
            Phase::Halted(halt) => Some(halt),
            Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } | Phase::Acting(_) => None,
        }
    }

    /// Undoes what volatile records did: calls let go ahead, and repeatable calls let go.
    pub(crate) fn forget_volatile(&mut self) {
        if let Phase::Asking(asking) = &mut self.phase {
            asking.early.clear();
        }
        for call in self.round_mut().into_iter().flat_map(|round| &mut round.calls) {
            call.forget_volatile();
        }
    }

    /// Every question that waits for an answer. A halted run that is to end needs no leave any more.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        let halted = self.halt().filter(|halt| halt.leave == Leave::Awaited && self.stop.is_none());
        let calls = self.round().into_iter().flat_map(|round| &round.calls);
        halted.map(|halt| &halt.question).into_iter().chain(calls.filter_map(Call::question))
    }

    /// The phase's name, as traces and explorers print it.
    #[must_use]
    pub fn phase_name(&self) -> &'static str {
        match &self.phase {
            Phase::Between => "between",
            Phase::Asking(_) => "asking",
            Phase::Deferred { .. } => "deferred",
            Phase::Acting(_) => "acting",
            Phase::Halted(_) => "halted",
        }
    }
}

impl Round {
    /// The call with this id.
    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&Call> {
        self.calls.iter().find(|call| call.id == id)
    }

    /// Whether every call has its result.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.calls.iter().all(Call::is_settled)
    }
}
