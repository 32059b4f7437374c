//! Applies records to a conversation (the fold). Bookkeeping only: no rules, limits or clock.
//! Everything that was decided is in the record, and everything that was received is in the entry's
//! input.
//!
//! A record that does not fit the state changes nothing. Logs written by this program never contain
//! one; a log from elsewhere must not be able to crash the process.

mod children;
mod compaction;
mod model_calls;
mod pauses;
mod prompts;
mod server_tools;
mod session_changes;
mod tool_calls;

use std::sync::Arc;

use crate::budget::spending::Spending;
use crate::call::call_state::{Call, CallState};
use crate::log::ids::{CallId, Epoch, UnixMillis};
use crate::log::input::Input;
use crate::log::record::Record;
use crate::permission::{Grant, PermissionMode};
use crate::run::active_run::{ReachedTimeLimit, Round, Run, RunPhase, StopRequest};
use crate::run::conversation::{Conversation, SharedSpending};
use crate::settings::conversation_settings::Settings;
use crate::stop::StopCause;

/// Applies one record to `c`: the record belongs to an entry of time `at` whose input was `input`.
pub fn apply(c: &mut Conversation, at: UnixMillis, input: &Input, record: &Record) {
    match record {
        Record::Configured {} => apply_configured(c, input),
        Record::ServerToolsChanged { .. } => server_tools::apply_server_tools_changed(c, input),
        Record::PromptQueued { message } => prompts::apply_prompt_queued(c, input, *message),
        Record::CommandRejected { .. }
        | Record::AnomalyDetected { .. }
        | Record::ReplyDropped { .. }
        | Record::SleepDetected {} => {}
        Record::QuestionAnswered { message } => {
            pauses::apply_question_answered(c, input, *message);
        }
        Record::SteeringQueued { message } => prompts::apply_steering_queued(c, input, *message),
        Record::ToolContextAdded { index } => prompts::apply_tool_context(c, input, *index),
        Record::InstructionsAdded { message } => {
            prompts::apply_instructions_added(c, input, *message);
        }
        Record::ParentAssigned { message } => {
            children::apply_parent_assigned(c, input, *message);
        }
        Record::RunStarted { run } => prompts::apply_run_started(c, run),
        Record::PromptWithdrawn {} => c.transcript.withdraw_prompt(),
        Record::JournalShown {} => prompts::apply_journal_shown(c),
        Record::RunFinished { run, cause, other_causes, text_override } => {
            if *cause == StopCause::UserCancel {
                prompts::keep_partial_reply(c, input, run);
            }
            prompts::apply_run_finished(c, run, *cause, other_causes, text_override.as_ref());
            if let Some(ended) = &mut c.last_run_end {
                ended.ended_by_timer = matches!(input, Input::TimerFired {});
            }
        }
        Record::AccessRequested { call, access } => {
            tool_calls::apply_access_requested(c, at, input, *call, access);
        }
        Record::UntrustedContentAdded { call, sources } => {
            tool_calls::apply_untrusted_content(c, *call, sources);
        }
        Record::Forked { .. } => prompts::apply_forked(c),
        Record::ModelCallStarted { .. } => model_calls::apply_model_call_started(c, record),
        Record::EarlyCallDecided { call, start } => {
            model_calls::apply_early_call_decided(c, input, *call, *start);
        }
        Record::ModelReplied { truncation, .. } => {
            model_calls::apply_model_replied(c, input, *truncation);
        }
        Record::ModelCallAbandoned { cause, charged, .. } => {
            model_calls::apply_model_call_abandoned(c, cause, charged);
        }
        Record::ModelRetryScheduled { until, failures } => {
            model_calls::apply_model_retry(c, at, *until, *failures);
        }
        Record::FallbackModelSelected { .. } => model_calls::apply_fallback_model(c),
        Record::ReplyKept {} => model_calls::apply_reply_kept(c, input),
        Record::NoteAdded { text } => model_calls::apply_note_added(c, text),
        Record::RoundOpened { dropped, note } => {
            tool_calls::apply_round_opened(c, input, dropped, note.as_ref());
        }
        Record::CallInputChanged { call, message } => {
            tool_calls::apply_call_input_changed(c, input, *call, *message);
        }
        Record::HookContextAdded {} => tool_calls::apply_hook_context(c, input),
        Record::HookModelCharged {} => model_calls::apply_hook_model_charged(c, input),
        Record::PermissionDecided { call, verdict } => {
            tool_calls::apply_permission_decided(c, *call, verdict);
        }
        Record::CallClassified { .. } => tool_calls::apply_call_classified(c, input),
        Record::RepeatableCallStarted { call } | Record::CallStarted { call } => {
            tool_calls::apply_call_started(c, *call, at);
        }
        Record::CallRetryScheduled { call, until } => {
            tool_calls::apply_call_retry(c, at, input, *call, *until);
        }
        Record::CallReturned { call } => tool_calls::apply_call_returned(c, at, input, *call),
        Record::ResultFinalized { call, result } => {
            tool_calls::apply_result_finalized(c, at, *call, result);
        }
        Record::CallLost { call } => tool_calls::apply_call_lost(c, at, *call),
        Record::CallRequeued { call } => set_call_state(c, *call, CallState::Ready),
        Record::JournalChanged { change, .. } => c.journal.apply(change),
        Record::ChildrenSpawned { call, to, granted, .. } => {
            children::apply_children_spawned(c, *call, *to, *granted);
        }
        Record::ChildResultReceived { message } => {
            children::apply_child_result(c, input, *message);
        }
        Record::ChildrenCancelled { call } => children::apply_children_cancelled(c, *call),
        Record::StructuredOutputGiven { call } => tool_calls::apply_structured_output(c, *call),
        Record::RoundClosed {} => tool_calls::apply_round_closed(c),
        Record::FatalToolError { .. } => tool_calls::apply_fatal_tool_error(c, input),
        Record::CancelRequested { mode, .. } => {
            with_run(c, |run| {
                let during = run.stop_request.map_or_else(|| run.stop_point(), |stop| stop.during);
                run.stop_request = Some(StopRequest { mode: *mode, at, during });
            });
        }
        Record::Compacted { .. } => compaction::apply_compacted(c, record),
        Record::CompactionRequested { message } => {
            compaction::apply_compaction_requested(c, input, *message);
        }
        Record::Pruned { rewrites, .. } => compaction::apply_pruned(c, rewrites),
        Record::RecoveryStepUsed { step } => compaction::apply_recovery_step(c, *step),
        Record::ReviewRequested { id, review } => {
            pauses::apply_review_requested(c, *id, review);
        }
        Record::ReviewCompleted { charged, .. } => {
            pauses::apply_review_completed(c, charged.as_ref());
        }
        Record::QuestionAsked { question } => pauses::apply_question_asked(c, question),
        Record::GuidanceGiven { message } => pauses::apply_guidance(c, input, *message),
        Record::PromptChangeAccepted {} => with_run(c, pauses::apply_prompt_change_accepted),
        Record::BudgetExtended {} => with_run(c, pauses::apply_budget_extended),
        Record::BudgetWarned { .. } => with_run(c, |run| run.is_budget_warning_given = true),
        Record::RuleGranted { rule, folder } => {
            let grant = Grant { rule: rule.clone(), folder: folder.clone() };
            c.exposure.note_grant(&grant);
            c.grants.push(grant);
        }
        Record::PermissionsUpdated { update, folder, .. } => {
            session_changes::apply_permissions_updated(c, update, folder);
        }
        Record::ModelChangeRequested { message } => {
            session_changes::apply_model_change_requested(c, input, *message);
        }
        Record::HistoryReplaced { message } => {
            session_changes::apply_history_replaced(c, input, *message);
        }
        Record::ModelChanged { .. } => session_changes::apply_model_changed(c),
        Record::HookStopRequested { reason, .. } => with_run(c, |run| {
            run.hook_stop.get_or_insert(reason.clone());
            run.last_error = Some(reason.clone());
        }),
        Record::AnswerRejected { by, reason, level } => with_run(c, |run| {
            pauses::apply_answer_rejected(run, *by, *level);
            run.last_error = Some(reason.clone());
        }),
        Record::ModeChanged { mode } => apply_mode_changed(c, *mode),
        Record::QuestionRequired { question } => {
            with_run(c, |run| run.required_question = Some(question.clone()));
        }
        Record::AnswerMarkedSuspect { why } => {
            with_run(c, |run| run.suspect_reason = Some(why.clone()));
        }
        Record::LoopDetectionUpdated { level, .. } => {
            with_run(c, |run| run.loop_guard.set_level(*level));
        }
        Record::TimeLimitReached { limit } => {
            with_run(c, |run| {
                run.reached_time_limit = Some(ReachedTimeLimit { limit: *limit, at });
            });
        }
        Record::OwnerChanged { epoch } => apply_owner_changed(c, input, *epoch),
        Record::SharedSpendingUpdated { total } => apply_shared_spending(c, *total),
    }
}

/// Records what was spent under the profile's cap when it was looked up, and how much of it this
/// conversation spent: what is spent here from now on is added to it.
fn apply_shared_spending(c: &mut Conversation, total: Spending) {
    c.shared_spending = Some(SharedSpending { total, own: c.committed_spending() });
}

/// Returns whether the process slept before the entry with these records: the machine was suspended,
/// or its clock jumped.
pub(crate) fn has_slept(records: &[Record]) -> bool {
    records.contains(&Record::SleepDetected {})
}

impl Conversation {
    /// Adds the time since the last entry to the active time of the run. The time after a process
    /// died, or while it slept, is not counted.
    pub(crate) fn count_active_time(&mut self, at: UnixMillis, input: &Input, has_slept: bool) {
        let active = self.active_ms(at);
        let dead = matches!(input, Input::OwnerChanged { .. });
        if let Some(run) = self.run.as_mut().filter(|_| !dead && !has_slept) {
            run.active_ms = active;
        }
        self.active_time_counted_to = at.max(self.active_time_counted_to);
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

fn set_call_state(c: &mut Conversation, id: CallId, state: CallState) {
    with_call(c, id, |call| call.state = state);
}

/// Applies a change of the permission mode. What the model is told about the mode stands before the
/// messages, so the prompt prefix starts anew.
fn apply_mode_changed(c: &mut Conversation, mode: PermissionMode) {
    c.end_generation();
    let (Some(settings), Some(run)) = (&mut c.settings, &mut c.run) else { return };
    run.original_mode.get_or_insert(settings.rules.mode);
    Arc::make_mut(settings).rules.mode = mode;
}

/// Applies an owner change. The active run keeps the settings it started with; later runs have
/// those of the new owner.
fn apply_owner_changed(c: &mut Conversation, input: &Input, epoch: Epoch) {
    c.epoch = epoch;
    if let Input::OwnerChanged { settings: Some(settings), .. } = input {
        c.owner_settings = Some(settings.clone());
    }
}

/// Returns the settings with what changed for the rest of the conversation.
fn with_overrides(c: &Conversation, mut settings: Arc<Settings>) -> Arc<Settings> {
    if session_changes::has_overrides(c) {
        session_changes::override_settings(c, Arc::make_mut(&mut settings));
    }
    settings
}

fn apply_configured(c: &mut Conversation, input: &Input) {
    let Input::Configured { settings } = input else { return };
    let own = c.run_settings.as_ref().filter(|_| c.run.is_some());
    // The active run keeps the settings of its own; those it shared with its first owner change.
    let own = own.zip(c.run_owner.as_ref()).map(|(own, first)| own.without_shared_prompt(first));
    let in_force = own.map_or_else(|| settings.clone(), |own| Arc::new(own.apply_over(settings)));
    let in_force = with_overrides(c, in_force);
    c.prompt_hash = Some(settings.prompt_hash());
    let max_tokens = in_force.model.max_tokens;
    c.settings = Some(in_force);
    c.owner_settings = Some(settings.clone());
    c.run_owner = Some(settings.clone());
    with_run(c, |run| {
        run.output_cap_tokens = max_tokens;
        if let RunPhase::Paused(halt) = &mut run.phase {
            run.phase = halt.round.take().map_or(RunPhase::Deciding, RunPhase::RunningTools);
        }
    });
}
