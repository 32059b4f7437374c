//! A decision in progress: the records so far, and the conversation with them applied. Cloning the
//! conversation is cheap, so each step of a decision sees what earlier steps recorded.

use std::sync::Arc;

use super::next_step::NextStep;
use crate::apply::apply;
use crate::call::call_state::Call;
use crate::call::outcome::{CallResult, OutcomeKind, ToolOutcome};
use crate::log::command_rejection::CommandRejection;
use crate::log::ids::{CallId, InboxMessageId, UnixMillis};
use crate::log::input::Input;
use crate::log::record::{AbandonCause, Durability, Record, RecordedResult, TimeLimit};
use crate::message::prompt_texts;
use crate::message::reply::TokenUsage;
use crate::message::truncate::CHARS_PER_TOKEN;
use crate::permission::HumanAvailability;
use crate::run::active_run::{RoundFatality, Run, RunPhase};
use crate::run::conversation::Conversation;
use crate::run::question::{Question, QuestionKind};
use crate::run::review::{Review, ReviewId};
use crate::settings::conversation_settings::Settings;
use crate::settings::limits::Limits;

/// Characters that every result may have.
const MIN_RESULT_CHARS: u64 = 1_000;

pub(super) struct DecisionDraft<'a> {
    pub(super) at: UnixMillis,
    input: &'a Input,
    state: Conversation,
    has_overslept: bool,
    records: Vec<Record>,
}

impl<'a> DecisionDraft<'a> {
    pub(super) fn new(conversation: &Conversation, at: UnixMillis, input: &'a Input) -> Self {
        let mut state = conversation.clone();
        let has_overslept = state.has_overslept(at) && !matches!(input, Input::OwnerChanged { .. });
        state.count_active_time(at, input, has_overslept);
        Self { at, input, state, has_overslept, records: Vec::new() }
    }

    pub(super) fn record(&mut self, record: Record) {
        apply(&mut self.state, self.at, self.input, &record);
        self.records.push(record);
    }

    /// Returns the records. A detected sleep comes first, because it decides which time counts; a
    /// timer that finds nothing else records it too, or it would fire again at once.
    pub(super) fn into_records(mut self) -> Vec<Record> {
        let stored = |record: &Record| record.durability() != Durability::Volatile;
        let counts = self.records.iter().any(stored) || matches!(self.input, Input::TimerFired {});
        if self.has_overslept && counts {
            self.records.insert(0, Record::SleepDetected {});
        }
        self.records
    }

    pub(super) fn state(&self) -> &Conversation {
        &self.state
    }

    pub(super) fn run(&self) -> Option<&Run> {
        self.state.run.as_ref()
    }

    pub(super) fn settings(&self) -> Option<Arc<Settings>> {
        self.state.settings.clone()
    }

    pub(super) fn limits(&self) -> Limits {
        self.state.settings.as_ref().map(|settings| settings.limits.clone()).unwrap_or_default()
    }

    /// Returns the maximum number of characters of one result. The results of one message share
    /// half of the window, so that a reply with many calls does not fill the window before it can
    /// be compacted.
    pub(super) fn result_char_limit(&self) -> u64 {
        let Some(settings) = self.state.active_settings() else { return 0 };
        let half = settings.model.window_tokens.saturating_mul(CHARS_PER_TOKEN) / 2;
        let share = half / (self.calls().len() as u64).max(1);
        settings.limits.result_chars.min(share.max(MIN_RESULT_CHARS))
    }

    /// Returns the calls of the open round, in order.
    pub(super) fn calls(&self) -> &[Call] {
        self.run().and_then(Run::round).map_or(&[], |round| &round.calls)
    }

    pub(super) fn call(&self, id: CallId) -> Option<&Call> {
        self.calls().iter().find(|call| call.id == id)
    }

    /// Returns whether the input is an owner change.
    pub(super) fn is_owner_change(&self) -> bool {
        matches!(self.input, Input::OwnerChanged { .. })
    }

    /// Returns whether a stop of the run was requested.
    pub(super) fn is_stopping(&self) -> bool {
        self.run().is_some_and(|run| run.stop_request.is_some())
    }

    /// Returns whether the active run takes steering messages: it has model calls ahead of it.
    pub(super) fn takes_steers(&self) -> bool {
        self.run().is_some_and(|run| run.stop_request.is_none() && !run.only_compacts)
    }

    /// Returns whether the hard time limit was reached.
    pub(super) fn is_past_hard_limit(&self) -> bool {
        self.reached_limit() == Some(TimeLimit::Hard)
    }

    /// Returns whether the soft time limit was reached: the model is called once more, to wrap up.
    pub(super) fn is_wrapping_up(&self) -> bool {
        self.reached_limit() == Some(TimeLimit::Soft)
    }

    fn reached_limit(&self) -> Option<TimeLimit> {
        self.run()?.reached_time_limit.map(|up| up.limit)
    }

    /// Records that a time limit was reached, once for each limit.
    pub(super) fn check_time_limits(&mut self) {
        let Some(run) = self.run() else { return };
        let Some(times) = self.state.settings.as_ref().and_then(|settings| settings.times) else {
            return;
        };
        let known = self.reached_limit();
        if run.active_ms >= times.hard_ms && known != Some(TimeLimit::Hard) {
            self.record(Record::TimeLimitReached { limit: TimeLimit::Hard });
        } else if run.active_ms >= times.soft_ms && known.is_none() {
            self.record(Record::TimeLimitReached { limit: TimeLimit::Soft });
        }
    }

    /// Returns whether the open round had a fatal error.
    pub(super) fn is_round_fatal(&self) -> bool {
        self.run().and_then(Run::round).is_some_and(|round| round.fatality == RoundFatality::Fatal)
    }

    /// Returns whether the run is in a round of tool calls.
    pub(super) fn is_running_tools(&self) -> bool {
        self.run().is_some_and(|run| matches!(run.phase, RunPhase::RunningTools(_)))
    }

    /// Returns whether a human can be asked.
    pub(super) fn is_human_available(&self) -> bool {
        let settings = self.state.settings.as_ref();
        settings.is_some_and(|settings| settings.rules.human == HumanAvailability::Available)
    }

    /// Returns whether the settings configure a judge model.
    pub(super) fn has_judge(&self) -> bool {
        self.state.settings.as_ref().is_some_and(|settings| settings.gate.judge.is_some())
    }

    /// Returns whether the tool is offered. A model that cannot be forced to call it is offered no
    /// other tool.
    pub(super) fn is_offered(&self, tool: &str) -> bool {
        let settings = self.state.settings.as_ref();
        settings.is_some_and(|settings| settings.tools.iter().any(|offered| &*offered.name == tool))
    }

    /// Asks a human.
    pub(super) fn ask_question(&mut self, kind: QuestionKind) {
        let id = self.state.question_count.saturating_add(1);
        let expires = matches!(kind, QuestionKind::Approval { .. });
        let limit_ms = self.state.settings.as_ref().and_then(|own| own.limits.approval_ms);
        let expires_at = limit_ms.filter(|_| expires).map(|ms| self.at.plus_ms(ms));
        self.record(Record::QuestionAsked { question: Question { id, kind, expires_at } });
    }

    /// Makes the result of a call final. One that ran, and then did not run again with what the
    /// sandbox kept from it, has the result of its run.
    pub(super) fn finalize_result(&mut self, call: CallId, shown: CallResult) {
        let ran = match shown.kind {
            OutcomeKind::Denied => self.blocked_result(call, "it was not allowed"),
            OutcomeKind::Skipped => self.blocked_result(call, "the run ended"),
            OutcomeKind::Done
            | OutcomeKind::Failed
            | OutcomeKind::Interrupted
            | OutcomeKind::TimedOut
            | OutcomeKind::Answered
            | OutcomeKind::Deferred => None,
        };
        let shown = ran.unwrap_or(shown);
        self.record(Record::ResultFinalized { call, result: RecordedResult::Replaced(shown) });
    }

    /// Makes the result of a call final that a human denied.
    pub(super) fn finalize_denied(&mut self, call: CallId, reason: &str) {
        let ran = self.blocked_result(call, reason);
        self.finalize_result(call, ran.unwrap_or_else(|| CallResult::from_denial(reason)));
    }

    /// Returns the result of a call that ran and was kept from something; `None` for all others.
    fn blocked_result(&self, call: CallId, reason: &str) -> Option<CallResult> {
        let outcome = self.call(call)?.blocked_outcome.as_deref()?;
        let ToolOutcome::Failed(error) = outcome else { return None };
        let said = prompt_texts::access_not_given(reason);
        let output =
            error.output.as_ref().map_or(said.clone(), |output| format!("{output}\n{said}"));
        let error = error.clone().with_output(&output);
        Some(CallResult::from_error(OutcomeKind::Failed, &error, self.result_char_limit()))
    }

    /// Adds a note to the model.
    pub(super) fn add_note(&mut self, text: &str) {
        self.record(Record::NoteAdded { text: Arc::from(text) });
    }

    /// Rejects a command: it changes nothing.
    pub(super) fn reject_command(
        &mut self,
        message: InboxMessageId,
        reason: CommandRejection,
    ) -> NextStep {
        self.record(Record::CommandRejected { message, reason });
        NextStep::Wait
    }

    /// Requests a review, which the run then waits for.
    pub(super) fn request_review(&mut self, review: Review) -> NextStep {
        let id = self.state.review_count.saturating_add(1);
        self.record(Record::ReviewRequested { id, review });
        NextStep::Wait
    }

    /// Returns the pending review.
    pub(super) fn pending_review(&self) -> Option<(ReviewId, Review)> {
        let pending = self.run().and_then(Run::pending_review)?;
        Some((pending.id, pending.review.clone()))
    }

    /// Abandons a model call that will return nothing, charged in full: its reply had started.
    pub(super) fn abandon_model_call(&mut self, cause: AbandonCause) -> bool {
        let Some(asking) = self.run().and_then(Run::pending_model_call) else { return false };
        let charged = TokenUsage {
            input_tokens: asking.reserved_tokens.saturating_sub(asking.max_tokens),
            output_tokens: asking.max_tokens,
            ..TokenUsage::default()
        };
        let model_call = asking.model_call;
        self.record(Record::ModelCallAbandoned { model_call, cause, charged });
        true
    }
}
