//! A decision in the making: records so far, and the conversation as it will be with them. Cloning
//! the conversation is cheap, so each step of a decision sees what the steps before it settled.

use std::sync::Arc;

use crate::apply::{Worked, apply};
use crate::call::Call;
use crate::conversation::Conversation;
use crate::ids::{CallId, Millis};
use crate::input::Input;
use crate::limits::Limits;
use crate::record::{Durability, Record};
use crate::run::Run;
use crate::settings::Settings;

/// Characters a token is taken for.
const CHARS_PER_TOKEN: u64 = 4;

/// Characters every result may have.
const LEAST_RESULT_CHARS: u64 = 1_000;

pub(super) struct Draft<'a> {
    pub(super) at: Millis,
    input: &'a Input,
    now: Conversation,
    slept: bool,
    records: Vec<Record>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(conversation: &Conversation, at: Millis, input: &'a Input) -> Self {
        let mut now = conversation.clone();
        let slept = now.slept(at) && !matches!(input, Input::Adopted { .. });
        now.count_time(at, input, if slept { Worked::No } else { Worked::Yes });
        Self { at, input, now, slept, records: Vec::new() }
    }

    pub(super) fn record(&mut self, record: Record) {
        apply(&mut self.now, self.at, self.input, &record);
        self.records.push(record);
    }

    /// What was settled. That nobody was there when a time limit came is said first: it decides what
    /// time counts. A tick that finds nothing else says so too, or it would come again at once.
    pub(super) fn into_records(mut self) -> Vec<Record> {
        let stored = |record: &Record| record.durability() != Durability::Volatile;
        let counts = self.records.iter().any(stored) || matches!(self.input, Input::Ticked {});
        if self.slept && counts {
            self.records.insert(0, Record::Slept {});
        }
        self.records
    }

    pub(super) fn now(&self) -> &Conversation {
        &self.now
    }

    pub(super) fn run(&self) -> Option<&Run> {
        self.now.run.as_ref()
    }

    pub(super) fn settings(&self) -> Option<Arc<Settings>> {
        self.now.settings.clone()
    }

    pub(super) fn limits(&self) -> Limits {
        self.now.settings.as_ref().map(|settings| settings.limits.clone()).unwrap_or_default()
    }

    /// Characters of one result. Those of one message share half of the window, so that a reply with
    /// many calls does not fill it before anybody could make room.
    pub(super) fn result_chars(&self) -> u64 {
        let Some(settings) = self.now.settings_in_use() else { return 0 };
        let half = settings.model.window_tokens.saturating_mul(CHARS_PER_TOKEN) / 2;
        let share = half / (self.calls().len() as u64).max(1);
        settings.limits.result_chars.min(share.max(LEAST_RESULT_CHARS))
    }

    /// Calls of the open round, in order.
    pub(super) fn calls(&self) -> &[Call] {
        self.run().and_then(Run::round).map_or(&[], |round| &round.calls)
    }

    pub(super) fn call(&self, id: CallId) -> Option<&Call> {
        self.calls().iter().find(|call| call.id == id)
    }

    /// Whether a new owner takes over.
    pub(super) fn is_takeover(&self) -> bool {
        matches!(self.input, Input::Adopted { .. })
    }

    /// Whether the run is asked to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.run().is_some_and(|run| run.stop.is_some())
    }
}
