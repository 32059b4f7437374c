//! All bookkeeping, no opinions. Applying a record never looks at rules, limits or the clock: what
//! was judged is in the record, and what arrived is in the entry's input.
//!
//! A record that does not fit the state changes nothing. Logs we wrote never hold one; a log from
//! elsewhere must not be able to bring the process down.

mod children;
mod halt;
mod model;
mod room;
mod round;
mod talk;

use std::sync::Arc;

use crate::budget::Spent;
use crate::call::{Call, CallState};
use crate::conversation::{Conversation, SharedSpending};
use crate::ids::{CallId, Epoch, Millis};
use crate::input::Input;
use crate::permission::{Grant, Mode};
use crate::record::Record;
use crate::run::{Phase, Round, Run, StopRequest, TimeUp, Warned};

/// Brings `c` up to date with one record of an entry of time `at` whose input was `input`.
pub fn apply(c: &mut Conversation, at: Millis, input: &Input, record: &Record) {
    match record {
        Record::Configured {} => configured(c, input),
        Record::Queued { mail } => talk::queued(c, input, *mail),
        Record::MailRefused { .. }
        | Record::Anomaly { .. }
        | Record::ReplyDropped { .. }
        | Record::Slept {}
        | Record::Answered { .. } => {}
        Record::Steered { mail } => talk::steered(c, input, *mail),
        Record::Remembered { mail } => talk::remembered(c, input, *mail),
        Record::Employed { mail } => children::employed(c, input, *mail),
        Record::RunStarted { run } => talk::run_started(c, run),
        Record::PromptWithdrawn {} => c.transcript.withdraw_prompt(),
        Record::JournalShown {} => talk::journal_shown(c),
        Record::Finished { run, cause, also, said } => {
            talk::finished(c, run, *cause, also, said.as_ref());
            if let Some(ended) = &mut c.last_end {
                ended.by_clock = matches!(input, Input::Ticked {});
            }
        }
        Record::Forked { .. } => talk::forked(c),
        Record::Asked { .. } => model::asked(c, record),
        Record::EarlyJudged { call, launch } => model::early_judged(c, input, *call, *launch),
        Record::Replied { truncation, .. } => model::replied(c, input, *truncation),
        Record::AttemptAbandoned { why, charged, .. } => {
            model::attempt_abandoned(c, why, charged);
        }
        Record::Deferred { until, failures } => model::deferred(c, at, *until, *failures),
        Record::FellBack { .. } => model::fell_back(c),
        Record::ReplyKept {} => model::reply_kept(c, input),
        Record::Noted { text } => model::noted(c, text),
        Record::RoundOpened { dropped, note } => {
            round::round_opened(c, input, dropped, note.as_ref());
        }
        Record::InputChanged { call } => round::input_changed(c, input, *call),
        Record::ContextAdded {} => round::context_added(c, input),
        Record::Judged { call, verdict } => round::judged(c, *call, verdict),
        Record::Classified { .. } => round::classified(c, input),
        Record::Launched { call } | Record::Started { call } => round::let_go(c, *call, at),
        Record::Retried { call, until } => round::retried(c, at, input, *call, *until),
        Record::Completed { call } => round::completed(c, at, input, *call),
        Record::Settled { call, shown } => round::settled(c, at, *call, shown),
        Record::CallLost { call } => round::lost(c, at, *call),
        Record::CallCleared { call } => set(c, *call, CallState::Ready),
        Record::JournalChanged { change, .. } => c.journal.apply(change),
        Record::Spawned { call, to, granted, .. } => children::spawned(c, *call, *to, *granted),
        Record::ChildBack { mail } => children::back(c, input, *mail),
        Record::ChildrenRecalled { call } => children::recalled(c, *call),
        Record::Structured { call } => round::structured(c, *call),
        Record::RoundClosed {} => round::round_closed(c),
        Record::TurnedFatal { .. } => round::turned_fatal(c, input),
        Record::CancelRequested { how, .. } => {
            with_run(c, |run| run.stop = Some(StopRequest { how: *how, at }));
        }
        Record::Compacted { .. } => room::compacted(c, record),
        Record::CompactionAsked { mail } => room::asked_for(c, input, *mail),
        Record::Pruned { rewrites, .. } => room::pruned(c, rewrites),
        Record::Climbed { rung } => room::climbed(c, *rung),
        Record::CounselSought { counsel, about } => halt::counsel_sought(c, *counsel, about),
        Record::CounselHeard { charged, .. } => halt::counsel_heard(c, charged.as_ref()),
        Record::Questioned { question } => halt::questioned(c, question),
        Record::Guided { mail } => halt::guided(c, input, *mail),
        Record::DriftAccepted {} => with_run(c, halt::drift_accepted),
        Record::BudgetExtended {} => with_run(c, halt::budget_extended),
        Record::BudgetWarned { .. } => with_run(c, |run| run.warned = Warned::Yes),
        Record::Granted { rule, folder } => {
            c.grants.push(Grant { rule: rule.clone(), folder: folder.clone() });
        }
        Record::Rejected { by, reason, level } => with_run(c, |run| {
            halt::rejected(run, *by, *level);
            run.last_error = Some(reason.clone());
        }),
        Record::ModeChanged { mode } => mode_changed(c, *mode),
        Record::QuestionDue { question } => {
            with_run(c, |run| run.due_question = Some(question.clone()));
        }
        Record::Suspected { why } => with_run(c, |run| run.suspect = Some(why.clone())),
        Record::Watched { level, .. } => with_run(c, |run| run.guard.set_level(*level)),
        Record::TimeUp { limit } => {
            with_run(c, |run| run.time_up = Some(TimeUp { limit: *limit, at }));
        }
        Record::Adopted { epoch } => adopted(c, input, *epoch),
        Record::SpendingSeen { total } => spending_seen(c, *total),
    }
}

/// What was spent under the profile's cap when it was looked up, and how much of it is ours: what is
/// spent here from now on comes on top.
fn spending_seen(c: &mut Conversation, total: Spent) {
    c.shared_spending = Some(SharedSpending { total, own: c.committed() });
}

/// Whether somebody was at work since the last entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worked {
    /// Somebody was.
    Yes,
    /// The machine slept, or its clock jumped.
    No,
}

impl Worked {
    /// What an entry says of the time before it.
    pub(crate) fn before(records: &[Record]) -> Self {
        if records.contains(&Record::Slept {}) { Self::No } else { Self::Yes }
    }
}

impl Conversation {
    /// Counts the time since the last entry for the run that was at work. What a dead process did
    /// not do is not counted.
    pub(crate) fn count_time(&mut self, at: Millis, input: &Input, worked: Worked) {
        let active = self.active_ms(at);
        let dead = matches!(input, Input::Adopted { .. });
        if let Some(run) = self.run.as_mut().filter(|_| !dead && worked == Worked::Yes) {
            run.active_ms = active;
        }
        self.counted_to = at.max(self.counted_to);
    }
}

fn with_run(c: &mut Conversation, change: impl FnOnce(&mut Run)) {
    if let Some(run) = &mut c.run {
        change(run);
    }
}

fn with_round(c: &mut Conversation, change: impl FnOnce(&mut Round)) {
    if let Some(round) = c.run.as_mut().and_then(Run::round_mut) {
        change(round);
    }
}

fn with_call(c: &mut Conversation, id: CallId, change: impl FnOnce(&mut Call)) {
    with_round(c, |round| {
        if let Some(call) = round.calls.iter_mut().find(|call| call.id == id) {
            change(call);
        }
    });
}

fn set(c: &mut Conversation, id: CallId, state: CallState) {
    with_call(c, id, |call| call.state = state);
}

/// What the model is told about the mode stands before the messages, so they begin anew.
fn mode_changed(c: &mut Conversation, mode: Mode) {
    c.end_generation();
    let (Some(settings), Some(run)) = (&mut c.settings, &mut c.run) else { return };
    run.mode_before.get_or_insert(settings.rules.mode);
    Arc::make_mut(settings).rules.mode = mode;
}

/// The active run keeps what it began with; later ones have what the new owner has.
fn adopted(c: &mut Conversation, input: &Input, epoch: Epoch) {
    c.epoch = epoch;
    if let Input::Adopted { settings: Some(settings), .. } = input {
        c.owner_settings = Some(settings.clone());
    }
}

fn configured(c: &mut Conversation, input: &Input) {
    let Input::Configured { settings } = input else { return };
    let own = c.run_settings.as_ref().filter(|_| c.run.is_some());
    // What an active run has of its own it keeps; what it shared with its first owner changes.
    let own = own.zip(c.run_owner.as_ref()).map(|(own, first)| own.without_shared_prompt(first));
    let in_force = own.map_or_else(|| settings.clone(), |own| Arc::new(own.over(settings)));
    c.prompt_hash = Some(settings.prompt_hash());
    c.settings = Some(in_force);
    c.owner_settings = Some(settings.clone());
    c.run_owner = Some(settings.clone());
    with_run(c, |run| {
        run.cap_tokens = settings.model.max_tokens;
        if let Phase::Halted(halt) = &mut run.phase {
            run.phase = halt.round.take().map_or(Phase::Between, Phase::Acting);
        }
    });
}
