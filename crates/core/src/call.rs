//! One tool call on its way: facts, hook, verdict, started, completed, hook, settled.

use std::sync::Arc;

use crate::block::{ErrorFlag, ToolUse};
use crate::child::Away;
use crate::facts::{AnsweredBy, Facts};
use crate::ids::{CallId, Millis};
use crate::outcome::{Outcome, OutcomeKind, Reach, Shown, ToolError};
use crate::question::Question;
use crate::raw::fingerprint;
use crate::thrash::{Effect, Seen};

/// A call of the open round.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Its identity.
    pub id: CallId,
    /// What the model asked for; a hook may have changed the input.
    pub tool_use: ToolUse,
    /// What is known of it.
    pub facts: Arc<Facts>,
    /// Where it stands.
    pub state: CallState,
    /// How often it was let go.
    pub attempts: u32,
    /// What its repeats used up.
    pub retries: Retries,
    /// When it ran, once it came back.
    pub ran: Option<Span>,
}

/// What the repeats of a call used up. Every repeat is stored, so a crash does not begin anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Retries {
    /// How often it was to be tried again.
    pub granted: u32,
    /// How long the attempts before and the pauses after them took.
    pub used_ms: u64,
}

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Its beginning.
    pub started_at: Millis,
    /// Its end.
    pub ended_at: Millis,
}

impl Span {
    /// How long it took.
    #[must_use]
    pub fn ms(&self) -> u64 {
        self.ended_at.since(self.started_at)
    }
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CallState {
    /// A hook looks at it first.
    BeforeHook,
    /// Nothing stands in the way of judging it.
    Unjudged,
    /// A classifier looks at it.
    Referred,
    /// A human is asked: for leave, for an answer, or what became of it.
    Questioned(Question),
    /// It may run when its turn comes.
    Ready,
    /// It is in the air.
    Running {
        /// Since when.
        since: Millis,
    },
    /// Its children are at work.
    Away(Away),
    /// It failed in passing and waits.
    Resting {
        /// Until then.
        until: Millis,
    },
    /// Its process died while it was in the air; the tool is asked what became of it.
    Lost,
    /// It came back; a hook looks at the result.
    AfterHook(Outcome),
    /// Its result is final.
    Settled(Shown),
}

impl Call {
    /// A call that nobody has looked at.
    #[must_use]
    pub fn new(id: CallId, tool_use: ToolUse, facts: Arc<Facts>) -> Self {
        Self {
            id,
            tool_use,
            facts,
            state: CallState::Unjudged,
            attempts: 0,
            retries: Retries::default(),
            ran: None,
        }
    }

    /// The same with hooks to look at it first, unless it cannot run anyway.
    #[must_use]
    pub(crate) fn shown_to_hooks(mut self) -> Self {
        if self.problem().is_none() {
            self.state = CallState::BeforeHook;
        }
        self
    }

    /// Why it cannot run whatever the rules say.
    #[must_use]
    pub fn problem(&self) -> Option<ToolError> {
        if !self.tool_use.input.is_object() {
            return Some(ToolError::not_an_object());
        }
        self.facts.problem.clone()
    }

    /// Whether it has its final result.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.state, CallState::Settled(_))
    }

    /// Whether it can still touch the world: later calls that conflict wait for that to end.
    #[must_use]
    pub fn is_done_touching(&self) -> bool {
        matches!(self.state, CallState::Settled(_) | CallState::AfterHook(_))
    }

    /// Whether it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.state, CallState::Running { .. })
    }

    /// Whether `later`, listed after it, must wait for it. A call whose hook has not spoken may yet
    /// become any other, so later ones wait for the hook.
    #[must_use]
    pub fn stands_before(&self, later: &Self) -> bool {
        let conflicts = || self.facts.touches.conflicts_with(&later.facts.touches);
        !self.is_done_touching() && (self.state == CallState::BeforeHook || conflicts())
    }

    /// Whether something is in the air for it.
    #[must_use]
    pub fn is_in_the_air(&self) -> bool {
        match self.state {
            CallState::BeforeHook
            | CallState::Referred
            | CallState::Running { .. }
            | CallState::Lost
            | CallState::AfterHook(_) => true,
            CallState::Unjudged
            | CallState::Questioned(_)
            | CallState::Away(_)
            | CallState::Ready
            | CallState::Resting { .. }
            | CallState::Settled(_) => false,
        }
    }

    /// Whether it brought a result that is no error.
    #[must_use]
    pub fn has_worked(&self) -> bool {
        matches!(&self.state, CallState::Settled(shown) if shown.flag == ErrorFlag::Fine)
    }

    /// The call as the watch for circles sees it, once it is settled. What never ran is not seen.
    #[must_use]
    pub fn seen(&self) -> Option<Seen> {
        let CallState::Settled(shown) = &self.state else { return None };
        if matches!(shown.kind, OutcomeKind::Skipped | OutcomeKind::Answered) {
            return None;
        }
        let text = shown.content.text();
        let says_something = self.has_worked() && !matches!(text.trim(), "" | "\"\"" | "[]");
        Some(Seen {
            tool: self.tool_use.name.clone(),
            input: fingerprint(self.tool_use.input.text()) ^ fingerprint(&self.tool_use.name),
            result: says_something.then(|| fingerprint(text)),
            effect: if self.facts.touches.is_read() { Effect::Looks } else { Effect::Changes },
        })
    }

    /// Whether it waits for somebody outside: a human, or children.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.state, CallState::Questioned(_) | CallState::Away(_))
    }

    /// Whether it would have sent its children out if there were room for them.
    #[must_use]
    pub fn waits_for_room(&self) -> bool {
        self.state == CallState::Ready && self.facts.answered_by == AnsweredBy::Children
    }

    /// The children it waits for.
    #[must_use]
    pub fn away(&self) -> Option<&Away> {
        if let CallState::Away(away) = &self.state { Some(away) } else { None }
    }

    /// How long its next attempt may take. All attempts together have the time of the tool; what
    /// passes while nobody is there, or while it waits for its turn, is not taken from it.
    #[must_use]
    pub fn time_ms(&self) -> u64 {
        self.facts.timeout_ms.saturating_sub(self.retries.used_ms)
    }

    /// How much of the call's time an attempt and the pause after it take. A first attempt that timed
    /// out has used up all of it: so that it can be tried again at all, only the pause counts, and what
    /// is tried again has the tool's time once more, all of it together.
    pub(crate) fn retry_ms(
        &self,
        started_at: Millis,
        ended_at: Millis,
        until: Millis,
        outcome: &Outcome,
    ) -> u64 {
        let is_first = self.retries.granted == 0;
        match outcome {
            Outcome::TimedOut { .. } if is_first => until.since(ended_at),
            Outcome::TimedOut { .. }
            | Outcome::Failed(_)
            | Outcome::Done(_)
            | Outcome::Detailed { .. }
            | Outcome::Interrupted { .. } => until.since(started_at),
        }
    }

    /// Undoes being let go, if that was not stored: only a once-only call's is.
    pub(crate) fn forget_volatile(&mut self) {
        if self.facts.is_repeatable() {
            self.attempts = self.retries.granted;
            if matches!(self.state, CallState::Running { .. }) {
                self.state = CallState::Ready;
            }
        }
    }

    /// The question it waits for.
    #[must_use]
    pub fn question(&self) -> Option<&Question> {
        match &self.state {
            CallState::Questioned(question) => Some(question),
            CallState::BeforeHook
            | CallState::Unjudged
            | CallState::Referred
            | CallState::Away(_)
            | CallState::Ready
            | CallState::Running { .. }
            | CallState::Resting { .. }
            | CallState::Lost
            | CallState::AfterHook(_)
            | CallState::Settled(_) => None,
        }
    }

    /// Whether stopping it half-way may leave something changed.
    #[must_use]
    pub fn reach(&self) -> Reach {
        if self.facts.touches.is_read() { Reach::Harmless } else { Reach::Unknown }
    }
}
