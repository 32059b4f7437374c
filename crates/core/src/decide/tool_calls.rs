//! A round of tool calls: every call is authorised (by rules, or by the approval of a human),
//! started in order, awaited and answered.

use std::sync::Arc;

use super::budget;
use super::children;
use super::completion::{self, StructuredAnswer};
use super::draft::DecisionDraft;
use super::loop_check;
use super::plan_mode;
use super::stopping;
use crate::call::call_facts::AnsweredBy;
use crate::call::call_state::{Call, CallState};
use crate::call::jitter;
use crate::call::outcome::{CallResult, OutcomeKind, ToolOutcome};
use crate::log::ids::{CallId, UnixMillis};
use crate::log::input::{Classification, ContextNote};
use crate::log::record::{Record, RecordedResult};
use crate::message::prompt_texts;
use crate::permission::{
    CallEffect, DenialSource, Grant, HookPreference, PermissionDecision, PermissionQuery,
};
use crate::run::active_run::{Round, RoundFatality, Run, RunPhase};
use crate::run::question::{Question, QuestionKind};
use crate::run::side_requests;
use crate::settings::conversation_settings::HookPresence;
use crate::stop::StopCause;

/// Advances the open round as far as possible without waiting for anything outside.
pub(super) fn advance_round(draft: &mut DecisionDraft<'_>) {
    stopping::finish_idle_calls(draft);
    deny_expired(draft);
    authorize_all(draft);
    start_ready_calls(draft);
    close_complete_round(draft);
}

fn authorize_all(draft: &mut DecisionDraft<'_>) {
    let unjudged = |call: &&Call| call.state == CallState::AwaitingPermission;
    let ids: Vec<CallId> = draft.calls().iter().filter(unjudged).map(|call| call.id).collect();
    for id in ids {
        authorize_call(draft, id, HookPreference::Neutral);
    }
}

/// Makes the permission decision for a call and acts on it.
pub(super) fn authorize_call(draft: &mut DecisionDraft<'_>, id: CallId, lean: HookPreference) {
    let limits = draft.limits();
    let Some(place) = draft.calls().iter().position(|call| call.id == id) else { return };
    if place >= usize::from(limits.calls_per_reply) {
        let reason = format!("one reply may hold {} calls", limits.calls_per_reply);
        return finalize_result(draft, id, CallResult::from_skip(&reason));
    }
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    if let Some(error) = call.blocking_error() {
        return finalize_result(
            draft,
            id,
            CallResult::from_error(OutcomeKind::Failed, &error, limits.result_chars),
        );
    }
    let asked = permission_query(call, &draft.state().grants, lean);
    let mut verdict = settings.rules.decide(asked);
    if verdict == (PermissionDecision::Classify {}) && !budget::can_afford_classifier(draft) {
        verdict = PermissionDecision::ask_or_deny(
            &call.tool_use.name,
            Arc::from("budget"),
            settings.rules.human,
        );
    }
    if verdict == (PermissionDecision::Classify {}) && !side_requests::can_be_classified(call) {
        let by = Arc::from("too long for the classifier");
        verdict = PermissionDecision::ask_or_deny(&call.tool_use.name, by, settings.rules.human);
    }
    let answered_by = call.facts.answered_by;
    follow_decision(draft, id, verdict, answered_by);
}

/// Records a permission decision and acts on it.
fn follow_decision(
    draft: &mut DecisionDraft<'_>,
    id: CallId,
    verdict: PermissionDecision,
    answered_by: AnsweredBy,
) {
    draft.record(Record::PermissionDecided { call: id, verdict: verdict.clone() });
    match (verdict, answered_by) {
        (PermissionDecision::Deny { reason, .. }, _) => {
            finalize_result(draft, id, CallResult::from_denial(&reason));
        }
        (_, AnsweredBy::Human) => ask_question(draft, QuestionKind::ModelQuestion { call: id }),
        (_, AnsweredBy::PlanApproval) => plan_mode::present_plan(draft, id),
        (PermissionDecision::Ask { .. }, _) => {
            ask_question(draft, QuestionKind::Approval { call: id });
        }
        (PermissionDecision::Allow { .. } | PermissionDecision::Classify {}, _) => {}
    }
}

/// Returns the call as permission rules see it. The journal and child runs belong to the runtime:
/// what they do is decided there.
pub(super) fn permission_query<'a>(
    call: &'a Call,
    grants: &'a [Grant],
    preference: HookPreference,
) -> PermissionQuery<'a> {
    let ours = match call.facts.answered_by {
        AnsweredBy::Journal | AnsweredBy::Children | AnsweredBy::PlanApproval => true,
        AnsweredBy::Tool | AnsweredBy::Human => false,
    };
    let effect = if ours || call.facts.is_read_only() {
        CallEffect::ReadOnly
    } else {
        CallEffect::MayChange
    };
    let (tool, subject) = (&*call.tool_use.name, &call.facts.subject);
    PermissionQuery { tool, subject, effect, preference, grants }
}

/// Handles the result of a classifier. If the classifier is unsure, a human decides.
pub(super) fn on_call_classified(
    draft: &mut DecisionDraft<'_>,
    id: CallId,
    opinion: &Classification,
) {
    let Some(call) = draft.call(id).filter(|call| call.state == CallState::AwaitingClassifier)
    else {
        return;
    };
    let answered_by = call.facts.answered_by;
    let tool = call.tool_use.name.clone();
    let human = draft.settings().map(|settings| settings.rules.human).unwrap_or_default();
    draft.record(Record::CallClassified { call: id });
    let verdict = match opinion {
        Classification::Allow {} => PermissionDecision::Allow { by: Arc::from("classifier") },
        Classification::Deny { reason } => {
            PermissionDecision::deny(DenialSource::Classifier, reason)
        }
        Classification::Unsure { .. } => {
            PermissionDecision::ask_or_deny(&tool, Arc::from("classifier"), human)
        }
    };
    follow_decision(draft, id, verdict, answered_by);
    advance_round(draft);
}

/// Asks a human.
pub(super) fn ask_question(draft: &mut DecisionDraft<'_>, kind: QuestionKind) {
    let id = draft.state().question_count.saturating_add(1);
    let leave = matches!(kind, QuestionKind::Approval { .. });
    let expires_at = draft.limits().approval_ms.filter(|_| leave).map(|ms| draft.at.plus_ms(ms));
    draft.record(Record::QuestionAsked { question: Question { id, kind, expires_at } });
}

/// Denies calls whose approval question has expired.
fn deny_expired(draft: &mut DecisionDraft<'_>) {
    let at = draft.at;
    let late = |call: &&Call| call.question().is_some_and(|question| question.is_expired(at));
    let ids: Vec<CallId> = draft.calls().iter().filter(late).map(|call| call.id).collect();
    for call in ids {
        let reason: Arc<str> = Arc::from(prompt_texts::NOT_APPROVED_IN_TIME);
        draft.record(Record::PermissionDecided {
            call,
            verdict: PermissionDecision::deny(DenialSource::Expired, &reason),
        });
        finalize_result(draft, call, CallResult::from_denial(&reason));
    }
}

/// Makes a result final.
pub(super) fn finalize_result(draft: &mut DecisionDraft<'_>, call: CallId, shown: CallResult) {
    draft.record(Record::ResultFinalized { call, result: RecordedResult::Replaced(shown) });
}

/// Starts the calls that may run now: no earlier call conflicts, and a slot is free.
fn start_ready_calls(draft: &mut DecisionDraft<'_>) {
    if draft.run().is_some_and(|run| run.human_pause().is_some()) {
        return;
    }
    let most = usize::from(draft.limits().parallel_calls.max(1));
    for place in 0..draft.calls().len() {
        let running = draft.calls().iter().filter(|call| call.is_running()).count();
        if running >= most {
            return;
        }
        children::start_waiting_children(draft, place);
        let Some(id) = startable_call(draft.calls(), place, draft.at) else { continue };
        let answered_by = draft.call(id).map(|call| call.facts.answered_by);
        match answered_by {
            Some(AnsweredBy::Journal) => children::answer_from_journal(draft, id),
            Some(AnsweredBy::Children) => children::start_children(draft, id),
            Some(AnsweredBy::Tool | AnsweredBy::Human | AnsweredBy::PlanApproval) | None => {
                start_call(draft, id);
            }
        }
    }
}

fn startable_call(calls: &[Call], place: usize, at: UnixMillis) -> Option<CallId> {
    let (call, before) = calls.get(..=place).and_then(<[Call]>::split_last)?;
    let due = match call.state {
        CallState::Ready => true,
        CallState::AwaitingRetry { until } => until <= at,
        CallState::AwaitingPreHook
        | CallState::AwaitingPermission
        | CallState::AwaitingClassifier
        | CallState::AwaitingHuman(_)
        | CallState::AwaitingChildren(_)
        | CallState::Running { .. }
        | CallState::Lost
        | CallState::AwaitingPostHook(_)
        | CallState::Finished(_) => false,
    };
    let blocked = before.iter().any(|earlier| earlier.must_precede(call));
    (due && !blocked).then_some(call.id)
}

/// Starts a call. The end of a pause is stored: later entries were decided with the call in flight.
fn start_call(draft: &mut DecisionDraft<'_>, id: CallId) {
    let Some(call) = draft.call(id) else { return };
    let rested = matches!(call.state, CallState::AwaitingRetry { .. });
    let go = if call.facts.is_repeatable() {
        Record::RepeatableCallStarted { call: id }
    } else {
        Record::CallStarted { call: id }
    };
    if rested {
        draft.record(Record::CallRequeued { call: id });
    }
    draft.record(go);
}

fn close_complete_round(draft: &mut DecisionDraft<'_>) {
    let Some(round) = draft.run().and_then(Run::round) else { return };
    if !round.is_complete() {
        return;
    }
    let fatal = round.fatality;
    let given = completion::structured_answer_of(draft, round);
    if let Some(StructuredAnswer::Valid(call)) = given {
        draft.record(Record::StructuredOutputGiven { call });
    }
    let watch = loop_check::check_for_loop(draft);
    draft.record(Record::RoundClosed {});
    match given.filter(|_| fatal == RoundFatality::NotFatal) {
        Some(StructuredAnswer::Valid(_)) => completion::complete_answer(draft, StopCause::EndTurn),
        Some(StructuredAnswer::Invalid) if !completion::retry_structured_answer(draft) => {}
        Some(StructuredAnswer::Invalid) | None => {
            loop_check::continue_after_check(draft, watch, fatal);
        }
    }
}

/// Handles the return of a tool.
pub(super) fn on_tool_returned(
    draft: &mut DecisionDraft<'_>,
    (id, attempt): (CallId, u32),
    started_at: UnixMillis,
    outcome: &ToolOutcome,
    context: &[ContextNote],
) {
    let is_current = |call: &Call| call.is_running() && call.attempts == attempt;
    if !draft.call(id).is_some_and(is_current) {
        return;
    }
    add_context(draft, context);
    let Some(call) = draft.call(id) else { return };
    if let Some(until) = next_retry_at(draft, call, started_at, outcome) {
        draft.record(Record::CallRetryScheduled { call: id, until });
    } else {
        complete_call(draft, id, outcome);
    }
    advance_round(draft);
}

/// Adds context that the conversation does not have yet. It waits for the end of the round, so there
/// may be as much of it as of other instructions; what is left out is found again by a later call.
fn add_context(draft: &mut DecisionDraft<'_>, context: &[ContextNote]) {
    for (index, note) in (0..).zip(context) {
        let waiting = draft.run().map_or(0, |run| run.memories.len());
        let is_free = waiting < draft.limits().waiting_steers as usize;
        if is_free && !note.text.trim().is_empty() && draft.state().can_add_context(&note.source) {
            draft.record(Record::ToolContextAdded { index });
        }
    }
}

fn complete_call(draft: &mut DecisionDraft<'_>, id: CallId, outcome: &ToolOutcome) {
    draft.record(Record::CallReturned { call: id });
    if matches!(outcome, ToolOutcome::Failed(error) if !error.recoverable) {
        draft.record(Record::FatalToolError { call: id });
    }
    let after = draft.settings().map(|settings| settings.hooks.after_tool);
    if after != Some(HookPresence::Present) {
        finalize_returned(draft, id);
    }
}

/// Returns when a call with a transient failure is retried; `None` if the failure goes to the
/// model, because the call was retried often enough or the next attempt would have no time left.
fn next_retry_at(
    draft: &DecisionDraft<'_>,
    call: &Call,
    started_at: UnixMillis,
    outcome: &ToolOutcome,
) -> Option<UnixMillis> {
    let passing = match outcome {
        ToolOutcome::Failed(error) => error.transient && error.recoverable,
        ToolOutcome::TimedOut { .. } => true,
        ToolOutcome::Done(_)
        | ToolOutcome::DoneWithDetail { .. }
        | ToolOutcome::Interrupted { .. } => false,
    };
    if !passing || !call.facts.is_repeatable() || stopping::wind_down_reason(draft).is_some() {
        return None;
    }
    let tried = call.retries.count;
    let pause = *draft.limits().tool_retry_ms.get(usize::try_from(tried).ok()?)?;
    let seed =
        u64::from(call.id.model_call) << 32 | u64::from(call.id.index) << 8 | u64::from(tried);
    let until = draft.at.plus_ms(jitter::with_jitter(pause, seed));
    (call.retry_cost_ms(started_at, draft.at, until, outcome) < call.remaining_ms())
        .then_some(until)
}

pub(super) fn is_fatal(draft: &DecisionDraft<'_>) -> bool {
    draft.run().and_then(Run::round).is_some_and(|round| round.fatality == RoundFatality::Fatal)
}

pub(super) fn finalize_returned(draft: &mut DecisionDraft<'_>, id: CallId) {
    let limit = draft.result_char_limit();
    let Some(call) = draft.call(id) else { return };
    let CallState::AwaitingPostHook(outcome) = &call.state else { return };
    let shown = CallResult::from_outcome(outcome, limit, call.side_effects());
    let unchanged = outcome.content() == Some(&shown.content);
    let result =
        if unchanged { RecordedResult::Unchanged {} } else { RecordedResult::Replaced(shown) };
    draft.record(Record::ResultFinalized { call: id, result });
}

pub(super) fn side_effects_of(
    draft: &DecisionDraft<'_>,
    id: CallId,
) -> crate::call::outcome::SideEffects {
    draft.call(id).map_or(crate::call::outcome::SideEffects::Unknown, Call::side_effects)
}

/// Returns the note for a reply with calls whose ids were already used in it.
pub(super) fn repeated_ids_note(names: &[Arc<str>]) -> Arc<str> {
    let names = names.join(", ");
    Arc::from(format!("calls with an id already used in the same reply were not run: {names}"))
}

/// Returns whether the run is in a round of tool calls.
pub(super) fn is_running_tools(draft: &DecisionDraft<'_>) -> bool {
    draft.run().is_some_and(|run| matches!(run.phase, RunPhase::RunningTools(Round { .. })))
}
