//! A decision in progress: the records so far, and the conversation with them applied. Cloning the
//! conversation is cheap, so each step of a decision sees what earlier steps recorded.

use std::sync::Arc;

use crate::apply::{OwnerPresence, apply};
use crate::call::call_state::Call;
use crate::log::ids::{CallId, UnixMillis};
use crate::log::input::Input;
use crate::log::record::{Durability, Record};
use crate::run::active_run::Run;
use crate::run::conversation::Conversation;
use crate::settings::conversation_settings::Settings;
use crate::settings::limits::Limits;

/// Characters per token that are assumed in estimates.
const ESTIMATED_CHARS_PER_TOKEN: u64 = 4;

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
        state.count_active_time(
            at,
            input,
            if has_overslept { OwnerPresence::Asleep } else { OwnerPresence::Awake },
        );
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
        let half = settings.model.window_tokens.saturating_mul(ESTIMATED_CHARS_PER_TOKEN) / 2;
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
}
