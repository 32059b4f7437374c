//! The active run: a phase, the counters, and nothing hidden in local flags.

use std::sync::Arc;

use crate::block::{Block, ToolUse};
use crate::budget::Spent;
use crate::call::Call;
use crate::counsel::{Counsel, CounselId};
use crate::facts::Facts;
use crate::gate::Done;
use crate::ids::{AskId, CallId, Millis, RunId};
use crate::permission::Mode;
use crate::question::{About, KeptAnswer, Question};
use crate::raw::Raw;
use crate::record::{Launch, OutputBound, Stop, TimeLimit, ToolChoice, Transition, Truncation};
use crate::reply::{Reply, Usage};
use crate::task::TaskLedger;
use crate::thrash::Guard;
use crate::window::Recoveries;

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
    /// Instructions found meanwhile; read after the round too.
    pub memories: Vec<Arc<str>>,
    /// Output cap in force, after the ladder raised it.
    pub cap_tokens: u64,
    /// Milliseconds it was at work; waiting does not count.
    pub active_ms: u64,
    /// What it and its children spent.
    pub spent: Spent,
    /// How often a human let it spend as much again.
    pub extensions: u32,
    /// Whether it was said that most of the budget is spent.
    pub warned: Warned,
    /// What it used of the ladder that makes room.
    pub recoveries: Recoveries,
    /// The watch for circles.
    pub guard: Guard,
    /// How often the tools of the checklist worked.
    pub done: Done,
    /// The answer that fits its schema, once it was given.
    pub structured: Option<Raw>,
    /// Why its answer is doubtful.
    pub suspect: Option<Arc<str>>,
    /// Which of its times is up.
    pub time_up: Option<TimeUp>,
    /// The question that a person is asked unless the model asks one of its own.
    pub due_question: Option<Arc<str>>,
    /// The permission mode it began with, if an approved plan changed it.
    pub mode_before: Option<Mode>,
    /// Things people said in it.
    pub prompts: u32,
    /// Which model it asks.
    pub model: InUse,
    /// Since when its provider is down.
    pub down_since: Option<Millis>,
    /// What it used of its task's budget, if it has one.
    pub task: TaskLedger,
    /// What went wrong last, in full: an error and what caused it. The model does not see it.
    pub last_error: Option<Arc<str>>,
    /// Whether the current iteration still has no reply: asking again belongs to it.
    pub awaits_reply: bool,
}

/// A time that is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeUp {
    /// Which.
    pub limit: TimeLimit,
    /// Since when.
    pub at: Millis,
}

/// Whether a warning was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Warned {
    /// Not yet.
    #[default]
    No,
    /// It was.
    Yes,
}

/// Which model is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum InUse {
    /// The one of the settings.
    #[default]
    First,
    /// The one to fall back on.
    Fallback,
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
    /// Somebody is asked who is neither the model nor a call.
    Consulting(Consulting),
    /// A human decides whether and how to go on.
    Halted(Halt),
}

/// A counsel in the air.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Consulting {
    /// Which.
    pub id: CounselId,
    /// About what.
    pub about: Counsel,
}

/// A run that does nothing until a human says how to go on.
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
    /// Which tools it may call.
    pub choice: ToolChoice,
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
    /// Rounds with tool calls: what `max_turns` counts.
    pub tool_rounds: u32,
    /// Passes of the loop, each with one reply: what `iter` counts. Asking again because a provider
    /// failed, or because a process died, does not begin another.
    pub iterations: u32,
    /// Requests to the model, repeated ones included.
    pub model_calls: u32,
    /// Those of them that only repeated one that failed in passing.
    pub retries: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Replies cut in a row.
    pub truncations: u32,
    /// Replies thrown away and asked for again, since a person was asked last.
    pub reprompts: u32,
    /// Model failures in a row.
    pub failures: u32,
    /// Compactions made because the provider said that the window is full, or cut reply after reply.
    pub reactive_compactions: u32,
    /// Answers a gate rejected, since a person was asked last.
    pub rejections: u32,
    /// Answers that did not fit their schema, since a person was asked last.
    pub output_retries: u32,
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
            memories: Vec::new(),
            cap_tokens,
            active_ms: 0,
            spent: Spent::default(),
            extensions: 0,
            warned: Warned::No,
            recoveries: Recoveries::default(),
            guard: Guard::default(),
            done: Done::default(),
            structured: None,
            suspect: None,
            time_up: None,
            due_question: None,
            mode_before: None,
            prompts: 1,
            model: InUse::First,
            down_since: None,
            task: TaskLedger::default(),
            last_error: None,
            awaits_reply: false,
        }
    }

    /// The open round.
    #[must_use]
    pub fn round(&self) -> Option<&Round> {
        match &self.phase {
            Phase::Acting(round) => Some(round),
            Phase::Halted(halt) => halt.round.as_ref(),
            Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } | Phase::Consulting(_) => {
                None
            }
        }
    }

    /// The open round, to work on.
    pub fn round_mut(&mut self) -> Option<&mut Round> {
        match &mut self.phase {
            Phase::Acting(round) => Some(round),
            Phase::Halted(halt) => halt.round.as_mut(),
            Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } | Phase::Consulting(_) => {
                None
            }
        }
    }

    /// The model call in the air.
    #[must_use]
    pub fn asking(&self) -> Option<&Asking> {
        match &self.phase {
            Phase::Asking(asking) => Some(asking),
            Phase::Between
            | Phase::Deferred { .. }
            | Phase::Acting(_)
            | Phase::Consulting(_)
            | Phase::Halted(_) => None,
        }
    }

    /// The counsel in the air.
    #[must_use]
    pub fn consulting(&self) -> Option<&Consulting> {
        match &self.phase {
            Phase::Consulting(consulting) => Some(consulting),
            Phase::Between
            | Phase::Asking(_)
            | Phase::Deferred { .. }
            | Phase::Acting(_)
            | Phase::Halted(_) => None,
        }
    }

    /// Whether time passes for it: somebody works, and it does not wait for a human, a provider or
    /// a child.
    #[must_use]
    pub fn is_active(&self) -> bool {
        match &self.phase {
            Phase::Asking(_) | Phase::Consulting(_) => true,
            Phase::Between | Phase::Deferred { .. } => false,
            Phase::Acting(round) => round.is_at_work(),
            Phase::Halted(halt) => halt.round.as_ref().is_some_and(Round::is_in_the_air),
        }
    }

    /// Why the run does nothing.
    #[must_use]
    pub fn halt(&self) -> Option<&Halt> {
        match &self.phase {
            Phase::Halted(halt) => Some(halt),
            Phase::Between
            | Phase::Asking(_)
            | Phase::Deferred { .. }
            | Phase::Acting(_)
            | Phase::Consulting(_) => None,
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

    /// The answer as it stands: the one that fits its schema, or the text so far.
    #[must_use]
    pub fn answer(&self) -> String {
        let given = self.structured.as_ref().map(|given| given.text().to_owned());
        given.unwrap_or_else(|| self.pieces.concat())
    }

    /// The phase's name, as traces and explorers print it.
    #[must_use]
    pub fn phase_name(&self) -> &'static str {
        match &self.phase {
            Phase::Between => "between",
            Phase::Asking(_) => "asking",
            Phase::Deferred { .. } => "deferred",
            Phase::Acting(_) => "acting",
            Phase::Consulting(_) => "consulting",
            Phase::Halted(_) => "halted",
        }
    }
}

impl Halt {
    /// The complete answer that the run ends with if a person stops it here.
    #[must_use]
    pub fn kept_answer(&self) -> Option<&KeptAnswer> {
        match &self.question.about {
            About::Guidance { answer, .. } => answer.as_ref(),
            About::Approval { .. }
            | About::Uncertain { .. }
            | About::Asking { .. }
            | About::Plan { .. }
            | About::Budget { .. }
            | About::Drift { .. } => None,
        }
    }
}

impl Round {
    /// The call with this id.
    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&Call> {
        self.calls.iter().find(|call| call.id == id)
    }

    /// Whether any call is being worked on. That a call was let go is not always stored, so one that
    /// is ready and waits for nobody counts.
    fn is_at_work(&self) -> bool {
        let free = |(place, call): (usize, &Call)| {
            let waits = |earlier: &Call| earlier.is_waiting() && earlier.stands_before(call);
            let blocked = self.calls.iter().take(place).any(waits);
            !call.is_settled() && !call.is_waiting() && !call.waits_for_room() && !blocked
        };
        self.calls.iter().enumerate().any(free)
    }

    fn is_in_the_air(&self) -> bool {
        self.calls.iter().any(|call| call.is_in_the_air() && !call.facts.is_repeatable())
    }

    /// Whether every call has its result.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.calls.iter().all(Call::is_settled)
    }
}
