//! State machine of one tool call: facts, pre-hook, permission, start, return, post-hook, final
//! result.

use std::sync::Arc;

use crate::call::call_facts::{AnsweredBy, CallFacts};
use crate::call::input_request::AnsweredRequest;
use crate::call::outcome::{CallResult, OutcomeKind, SideEffects, ToolError, ToolOutcome};
use crate::guard::loop_detection::{CallObservation, ObservedEffect};
use crate::log::ids::{CallId, UnixMillis};
use crate::message::content_block::{ErrorFlag, ToolUse};
use crate::message::raw_json::fingerprint;
use crate::permission::ASKED_BY_HOOK;
use crate::run::child_runs::PendingChildren;
use crate::run::question::Question;

/// A tool call of the open round.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Id of the call.
    pub id: CallId,
    /// The tool use as the model requested it; a hook may have changed the input.
    pub tool_use: ToolUse,
    /// The assessed facts about the call.
    pub facts: Arc<CallFacts>,
    /// The state of the call.
    pub state: CallState,
    /// How often the call was started.
    pub attempts: u32,
    /// What the retries of the call used up.
    pub retries: CallRetries,
    /// When the call ran, once it has returned.
    pub run_span: Option<TimeSpan>,
    /// Why a human must approve the call, while its question is open.
    pub ask_reason: Option<AskReason>,
    /// What the tool asked the user in earlier attempts, with the answers.
    pub answered_requests: Vec<AnsweredRequest>,
    /// What the call returned when the sandbox kept it from something: its result, unless it runs
    /// again with that added.
    pub blocked_outcome: Option<Arc<ToolOutcome>>,
}

/// Why a human must approve a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AskReason {
    /// The rule that requires approval, or what else does: `hook`, `default`, `classifier`.
    pub by: Arc<str>,
    /// The reason that a hook gave.
    pub reason: Option<Arc<str>>,
}

impl AskReason {
    /// Returns whether a hook requires the approval.
    #[must_use]
    pub fn is_hook(&self) -> bool {
        &*self.by == ASKED_BY_HOOK
    }
}

/// What the retries of a call used up. Every retry is stored, so a crash does not reset the count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CallRetries {
    /// How many retries were scheduled.
    pub count: u32,
    /// How long the earlier attempts and the pauses after them took.
    pub used_ms: u64,
}

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeSpan {
    /// Start of the span.
    pub started_at: UnixMillis,
    /// End of the span.
    pub ended_at: UnixMillis,
}

impl TimeSpan {
    /// Returns how long the span is.
    #[must_use]
    pub fn duration_ms(&self) -> u64 {
        self.ended_at.ms_since(self.started_at)
    }
}

/// The state of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CallState {
    /// A pre-hook reviews the call first.
    AwaitingPreHook,
    /// The call waits for its permission decision.
    AwaitingPermission,
    /// A classifier reviews the call.
    AwaitingClassifier,
    /// A human is asked: for approval, for an answer, or what happened to the call.
    AwaitingHuman(Question),
    /// The call may run as soon as no earlier call conflicts with it.
    Ready,
    /// The call is in flight.
    Running {
        /// When the call was started.
        since: UnixMillis,
    },
    /// The child runs of the call are working.
    AwaitingChildren(PendingChildren),
    /// The call failed with a transient error and waits for its retry.
    AwaitingRetry {
        /// Earliest time of the retry.
        until: UnixMillis,
    },
    /// The process died while the call was in flight; the tool is probed for what happened to it.
    Lost,
    /// The call returned; a post-hook reviews the result.
    AwaitingPostHook(ToolOutcome),
    /// The result of the call is final.
    Finished(CallResult),
}

impl Call {
    /// A call that has not been authorised yet.
    #[must_use]
    pub fn new(id: CallId, tool_use: ToolUse, facts: Arc<CallFacts>) -> Self {
        Self {
            id,
            tool_use,
            facts,
            state: CallState::AwaitingPermission,
            attempts: 0,
            retries: CallRetries::default(),
            run_span: None,
            ask_reason: None,
            answered_requests: Vec::new(),
            blocked_outcome: None,
        }
    }

    /// Returns the call with a pre-hook that reviews it first, unless the call cannot run anyway.
    #[must_use]
    pub(crate) fn with_pre_hook(mut self) -> Self {
        if self.blocking_error().is_none() {
            self.state = CallState::AwaitingPreHook;
        }
        self
    }

    /// Returns why the call cannot run whatever the rules say.
    #[must_use]
    pub fn blocking_error(&self) -> Option<ToolError> {
        if !self.tool_use.input.is_object() {
            return Some(ToolError::not_an_object());
        }
        self.facts.problem.clone()
    }

    /// Returns whether the call has its final result.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.state, CallState::Finished(_))
    }

    /// Returns whether the call can no longer touch its resources: later calls that conflict wait
    /// for that.
    #[must_use]
    pub fn has_released_resources(&self) -> bool {
        matches!(self.state, CallState::Finished(_) | CallState::AwaitingPostHook(_))
    }

    /// Returns whether the call is running.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.state, CallState::Running { .. })
    }

    /// Returns whether `later`, listed after this call, must wait for it. A pre-hook may still
    /// change the call into any other, so later calls wait for the hook.
    #[must_use]
    pub fn must_precede(&self, later: &Self) -> bool {
        let conflicts = || self.facts.touches.conflicts_with(&later.facts.touches);
        !self.has_released_resources() && (self.state == CallState::AwaitingPreHook || conflicts())
    }

    /// Returns whether the call is working on something that `other` touches.
    #[must_use]
    pub fn is_in_conflict_with(&self, other: &Self) -> bool {
        let is_working =
            matches!(self.state, CallState::Running { .. } | CallState::AwaitingChildren(_));
        is_working && self.facts.touches.conflicts_with(&other.facts.touches)
    }

    /// Returns whether something is in flight for the call.
    #[must_use]
    pub fn is_in_flight(&self) -> bool {
        match self.state {
            CallState::AwaitingPreHook
            | CallState::AwaitingClassifier
            | CallState::Running { .. }
            | CallState::Lost
            | CallState::AwaitingPostHook(_) => true,
            CallState::AwaitingPermission
            | CallState::AwaitingHuman(_)
            | CallState::AwaitingChildren(_)
            | CallState::Ready
            | CallState::AwaitingRetry { .. }
            | CallState::Finished(_) => false,
        }
    }

    /// Returns whether the call has a result that is not an error.
    #[must_use]
    pub fn has_succeeded(&self) -> bool {
        matches!(&self.state, CallState::Finished(shown) if shown.error_flag == ErrorFlag::Success)
    }

    /// Returns the call as the loop detectors see it, once it is finished. A call that never ran is
    /// not seen.
    #[must_use]
    pub fn loop_observation(&self) -> Option<CallObservation> {
        let CallState::Finished(result) = &self.state else { return None };
        let has_run = match result.kind {
            OutcomeKind::Skipped | OutcomeKind::Answered | OutcomeKind::Deferred => false,
            OutcomeKind::Done
            | OutcomeKind::Failed
            | OutcomeKind::Denied
            | OutcomeKind::Interrupted
            | OutcomeKind::TimedOut => true,
        };
        if !has_run {
            return None;
        }
        let text = result.content.text();
        let says_something = self.has_succeeded() && !matches!(text.trim(), "" | "\"\"" | "[]");
        Some(CallObservation {
            tool: self.tool_use.name.clone(),
            input: fingerprint(self.tool_use.input.text()) ^ fingerprint(&self.tool_use.name),
            result: says_something.then(|| fingerprint(text)),
            effect: if self.facts.touches.is_read() {
                ObservedEffect::ReadOnly
            } else {
                ObservedEffect::Mutating
            },
        })
    }

    /// Returns whether the call waits for a human or for child runs.
    #[must_use]
    pub fn is_awaiting_others(&self) -> bool {
        matches!(self.state, CallState::AwaitingHuman(_) | CallState::AwaitingChildren(_))
    }

    /// Returns whether the call waits for a free slot to start its child runs.
    #[must_use]
    pub fn is_awaiting_child_slot(&self) -> bool {
        self.state == CallState::Ready && self.facts.answered_by == AnsweredBy::Children
    }

    /// Returns the child runs that the call waits for.
    #[must_use]
    pub fn pending_children(&self) -> Option<&PendingChildren> {
        if let CallState::AwaitingChildren(away) = &self.state { Some(away) } else { None }
    }

    /// Returns how long the next attempt may take. All attempts together have the time of the tool;
    /// time while the process is down or the call waits for its turn does not count.
    #[must_use]
    pub fn remaining_ms(&self) -> u64 {
        self.facts.timeout_ms.saturating_sub(self.retries.used_ms)
    }

    /// Returns how much of the call's time an attempt and the pause after it use. A first attempt
    /// that timed out has used all of it: so that it can be retried at all, only the pause counts,
    /// and all retries together have the time of the tool once more.
    pub(crate) fn retry_cost_ms(
        &self,
        started_at: UnixMillis,
        ended_at: UnixMillis,
        until: UnixMillis,
        outcome: &ToolOutcome,
    ) -> u64 {
        let is_first = self.retries.count == 0;
        match outcome {
            ToolOutcome::TimedOut { .. } if is_first => until.ms_since(ended_at),
            ToolOutcome::TimedOut { .. }
            | ToolOutcome::Failed(_)
            | ToolOutcome::Done(_)
            | ToolOutcome::DoneWithDetail { .. }
            | ToolOutcome::Interrupted { .. }
            | ToolOutcome::InputRequested(_) => until.ms_since(started_at),
        }
    }

    /// Undoes a start that was not stored: only the start of a once-only call is stored.
    pub(crate) fn discard_volatile(&mut self) {
        if self.facts.is_repeatable() {
            self.attempts = self.retries.count;
            if matches!(self.state, CallState::Running { .. }) {
                self.state = CallState::Ready;
            }
        }
    }

    /// Returns the question that the call waits for.
    #[must_use]
    pub fn question(&self) -> Option<&Question> {
        match &self.state {
            CallState::AwaitingHuman(question) => Some(question),
            CallState::AwaitingPreHook
            | CallState::AwaitingPermission
            | CallState::AwaitingClassifier
            | CallState::AwaitingChildren(_)
            | CallState::Ready
            | CallState::Running { .. }
            | CallState::AwaitingRetry { .. }
            | CallState::Lost
            | CallState::AwaitingPostHook(_)
            | CallState::Finished(_) => None,
        }
    }

    /// Returns whether stopping the call while it runs may leave something changed.
    #[must_use]
    pub fn side_effects(&self) -> SideEffects {
        if self.facts.touches.is_read() { SideEffects::None } else { SideEffects::Unknown }
    }
}
