//! A round of tool calls: every call is authorised (by rules, or by the approval of a human),
//! started in order, awaited and answered.

use std::sync::Arc;

use super::answer_rejection::reject_structured_answer;
use super::budget;
use super::children;
use super::draft::DecisionDraft;
use super::loop_check;
use super::next_step::NextStep;
use super::plan_mode;
use super::structured_answer::{self, StructuredAnswer};
use super::wind_down;
use crate::call::call_facts::AnsweredBy;
use crate::call::call_state::{AskReason, Call, CallState};
use crate::call::input_request::MAX_REQUESTS;
use crate::call::jitter;
use crate::call::outcome::{CallResult, OutcomeKind, SideEffects, ToolOutcome};
use crate::log::ids::{CallId, UnixMillis};
use crate::log::input::{Classification, ContextNote};
use crate::log::record::{Record, RecordedResult};
use crate::message::prompt_texts;
use crate::permission::{
    AddedAccess, ContentSource, DenialSource, HookPreference, PermissionDecision, PermissionMode,
};
use crate::run::active_run::{RoundFatality, Run};
use crate::run::question::QuestionKind;
use crate::run::side_requests;
use crate::settings::conversation_settings::HookPresence;
use crate::stop::StopCause;

/// Advances the open round as far as possible without waiting for anything outside.
pub(super) fn advance_round(draft: &mut DecisionDraft<'_>) -> NextStep {
    wind_down::finish_idle_calls(draft);
    deny_expired(draft);
    authorize_all(draft);
    start_ready_calls(draft);
    close_complete_round(draft)
}

fn authorize_all(draft: &mut DecisionDraft<'_>) {
    let is_undecided = |call: &&Call| call.state == CallState::AwaitingPermission;
    let ids: Vec<CallId> = draft.calls().iter().filter(is_undecided).map(|call| call.id).collect();
    for id in ids {
        authorize_call(draft, id, HookPreference::Neutral, None);
    }
}

/// Makes the permission decision for a call and acts on it.
pub(super) fn authorize_call(
    draft: &mut DecisionDraft<'_>,
    id: CallId,
    preference: HookPreference,
    ask_reason: Option<Arc<str>>,
) {
    let limits = draft.limits();
    let Some(index) = draft.calls().iter().position(|call| call.id == id) else { return };
    if index >= usize::from(limits.calls_per_reply) {
        let reason = format!("a reply may contain at most {} tool calls", limits.calls_per_reply);
        return draft.finalize_result(id, CallResult::from_skip(&reason));
    }
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    if let Some(error) = call.blocking_error() {
        return draft.finalize_result(
            id,
            CallResult::from_error(OutcomeKind::Failed, &error, limits.result_chars),
        );
    }
    let grants = &draft.state().grants;
    let query = call.facts.permission_query(&call.tool_use.name, grants, preference);
    let mut verdict = settings.rules.decide_exposed(query, &draft.state().exposure);
    if verdict == (PermissionDecision::Classify {}) && !budget::can_afford_classifier(draft) {
        verdict = PermissionDecision::ask_or_deny(
            &call.tool_use.name,
            Arc::from("budget"),
            settings.rules.human,
        );
    }
    if verdict == (PermissionDecision::Classify {}) && !side_requests::can_be_classified(call) {
        let by = Arc::from("call too long for the classifier");
        verdict = PermissionDecision::ask_or_deny(&call.tool_use.name, by, settings.rules.human);
    }
    let answered_by = call.facts.answered_by;
    let verdict = match preference {
        HookPreference::Ask => verdict.with_hook_reason(ask_reason),
        HookPreference::Neutral | HookPreference::Allow => verdict,
    };
    follow_decision(draft, id, verdict, answered_by);
}

/// Acts on the approval of a human. Rules that deny the call win over it: they may have changed
/// since the human was asked, and the human may have changed the arguments.
pub(super) fn accept_approval(draft: &mut DecisionDraft<'_>, id: CallId) {
    let limit = draft.limits().result_chars;
    let Some(call) = draft.call(id) else { return };
    if let Some(error) = call.blocking_error() {
        let result = CallResult::from_error(OutcomeKind::Failed, &error, limit);
        return draft.finalize_result(id, result);
    }
    let answered_by = call.facts.answered_by;
    let verdict = match find_denial(draft, call) {
        Some((by, reason)) => PermissionDecision::Deny { by, reason },
        None => PermissionDecision::Allow { by: Arc::from("human") },
    };
    follow_decision(draft, id, verdict, answered_by);
}

/// Runs a call again that did not take effect. A rule that denies it by now wins over the human who
/// said so.
pub(super) fn repeat_call(draft: &mut DecisionDraft<'_>, id: CallId) {
    let denial = draft.call(id).and_then(|call| find_denial(draft, call));
    match denial {
        Some((by, reason)) => {
            let verdict = PermissionDecision::Deny { by, reason };
            follow_decision(draft, id, verdict, AnsweredBy::Tool);
        }
        None => draft.record(Record::CallRequeued { call: id }),
    }
}

/// Decides again about a call whose approval was asked for before the permissions changed. A
/// question that is still needed stays open.
pub(super) fn reconsider_question(draft: &mut DecisionDraft<'_>, id: CallId) {
    let (Some(call), Some(settings)) = (draft.call(id), draft.settings()) else { return };
    let by_hook = call.ask_reason.as_ref().is_some_and(AskReason::is_hook);
    let preference = if by_hook { HookPreference::Ask } else { HookPreference::Neutral };
    let grants = &draft.state().grants;
    let query = call.facts.permission_query(&call.tool_use.name, grants, preference);
    let answered_by = call.facts.answered_by;
    match settings.rules.decide_exposed(query, &draft.state().exposure) {
        PermissionDecision::Ask { .. } | PermissionDecision::Classify {} => {}
        verdict @ (PermissionDecision::Allow { .. } | PermissionDecision::Deny { .. }) => {
            follow_decision(draft, id, verdict, answered_by);
        }
    }
}

/// Denies a call that was allowed before the permissions changed and has not run, if nothing could
/// allow it now.
pub(super) fn deny_if_forbidden(draft: &mut DecisionDraft<'_>, id: CallId) {
    let denial = draft.call(id).and_then(|call| find_denial(draft, call));
    if let Some((by, reason)) = denial {
        let verdict = PermissionDecision::Deny { by, reason };
        follow_decision(draft, id, verdict, AnsweredBy::Tool);
    }
}

/// Returns why a call may not run whoever approves it.
fn find_denial(draft: &DecisionDraft<'_>, call: &Call) -> Option<(DenialSource, Arc<str>)> {
    let settings = draft.settings()?;
    let (name, grants) = (&call.tool_use.name, &draft.state().grants);
    settings.rules.find_denial(call.facts.permission_query(name, grants, HookPreference::Neutral))
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
            draft.finalize_result(id, CallResult::from_denial(&reason));
        }
        (_, AnsweredBy::Human) => draft.ask_question(QuestionKind::ModelQuestion { call: id }),
        (_, AnsweredBy::PlanApproval) => plan_mode::present_plan(draft, id),
        (PermissionDecision::Ask { .. }, _) => {
            draft.ask_question(QuestionKind::Approval { call: id });
        }
        (PermissionDecision::Allow { .. } | PermissionDecision::Classify {}, _) => {}
    }
}

/// Handles the result of a classifier. If the classifier is unsure, a human decides.
pub(super) fn on_call_classified(
    draft: &mut DecisionDraft<'_>,
    id: CallId,
    classification: &Classification,
) -> NextStep {
    let Some(call) = draft.call(id).filter(|call| call.state == CallState::AwaitingClassifier)
    else {
        return NextStep::Wait;
    };
    let answered_by = call.facts.answered_by;
    let tool = call.tool_use.name.clone();
    let human = draft.settings().map(|settings| settings.rules.human).unwrap_or_default();
    draft.record(Record::CallClassified { call: id });
    let verdict = match classification {
        Classification::Allow {} => PermissionDecision::Allow { by: Arc::from("classifier") },
        Classification::Deny { reason } => {
            PermissionDecision::deny(DenialSource::Classifier, reason)
        }
        Classification::Unsure { .. } => {
            PermissionDecision::ask_or_deny(&tool, Arc::from("classifier"), human)
        }
    };
    follow_decision(draft, id, verdict, answered_by);
    NextStep::AdvanceRound
}

/// Denies calls whose approval question has expired.
fn deny_expired(draft: &mut DecisionDraft<'_>) {
    let at = draft.at;
    let is_late = |call: &&Call| call.question().is_some_and(|question| question.is_expired(at));
    let ids: Vec<CallId> = draft.calls().iter().filter(is_late).map(|call| call.id).collect();
    for call in ids {
        let reason: Arc<str> = Arc::from(prompt_texts::NOT_APPROVED_IN_TIME);
        draft.record(Record::PermissionDecided {
            call,
            verdict: PermissionDecision::deny(DenialSource::Expired, &reason),
        });
        draft.finalize_result(call, CallResult::from_denial(&reason));
    }
}

/// Starts the calls that may run now: no earlier call conflicts, and a slot is free.
fn start_ready_calls(draft: &mut DecisionDraft<'_>) {
    if draft.run().is_some_and(|run| run.human_pause().is_some()) {
        return;
    }
    let limit = usize::from(draft.limits().parallel_calls.max(1));
    for index in 0..draft.calls().len() {
        let running = draft.calls().iter().filter(|call| call.is_running()).count();
        if running >= limit {
            return;
        }
        children::start_waiting_children(draft, index);
        let Some(id) = startable_call(draft.calls(), index, draft.at) else { continue };
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

fn startable_call(calls: &[Call], index: usize, at: UnixMillis) -> Option<CallId> {
    let (call, before) = calls.get(..=index).and_then(<[Call]>::split_last)?;
    let after = calls.get(index.saturating_add(1)..).unwrap_or_default();
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
    // A human may have changed the call into one that conflicts with a later call in flight.
    let blocked = before.iter().any(|earlier| earlier.must_precede(call))
        || after.iter().any(|later| later.is_in_conflict_with(call));
    (due && !blocked).then_some(call.id)
}

/// Starts a call. The end of a pause is stored: later entries were decided with the call in flight.
fn start_call(draft: &mut DecisionDraft<'_>, id: CallId) {
    let Some(call) = draft.call(id) else { return };
    let was_paused = matches!(call.state, CallState::AwaitingRetry { .. });
    let started = if call.facts.is_repeatable() {
        Record::RepeatableCallStarted { call: id }
    } else {
        Record::CallStarted { call: id }
    };
    if was_paused {
        draft.record(Record::CallRequeued { call: id });
    }
    draft.record(started);
}

fn close_complete_round(draft: &mut DecisionDraft<'_>) -> NextStep {
    let Some(round) = draft.run().and_then(Run::round).filter(|round| round.is_complete()) else {
        return NextStep::Wait;
    };
    let fatal = round.fatality;
    let given = structured_answer::structured_answer_of(draft, round);
    if let Some(StructuredAnswer::Valid(call)) = given {
        draft.record(Record::StructuredOutputGiven { call });
    }
    let check = loop_check::check_for_loop(draft);
    draft.record(Record::RoundClosed {});
    match given.filter(|_| fatal == RoundFatality::NotFatal) {
        Some(StructuredAnswer::Valid(_)) => NextStep::CompleteAnswer(StopCause::EndTurn),
        Some(StructuredAnswer::Invalid) => reject_structured_answer(draft)
            .unwrap_or_else(|| loop_check::continue_after_check(draft, check, fatal)),
        None => loop_check::continue_after_check(draft, check, fatal),
    }
}

/// Handles the return of a tool.
pub(super) fn on_tool_returned(
    draft: &mut DecisionDraft<'_>,
    (id, attempt): (CallId, u32),
    started_at: UnixMillis,
    outcome: &ToolOutcome,
    (context, untrusted): (&[ContextNote], &[ContentSource]),
) -> NextStep {
    let is_current = |call: &Call| call.is_running() && call.attempts == attempt;
    if !draft.call(id).is_some_and(is_current) {
        return NextStep::Wait;
    }
    add_context(draft, context);
    if !untrusted.is_empty() {
        let sources = untrusted.iter().take(MAX_RESULT_SOURCES).cloned().collect();
        draft.record(Record::UntrustedContentAdded { call: id, sources });
    }
    let Some(call) = draft.call(id) else { return NextStep::Wait };
    if let ToolOutcome::InputRequested(request) = outcome
        && can_ask_for_tool(draft, call)
    {
        draft.ask_question(QuestionKind::ToolRequest { call: id, request: request.clone() });
    } else if let Some(until) = next_retry_at(draft, call, started_at, outcome) {
        draft.record(Record::CallRetryScheduled { call: id, until });
    } else if let Some(access) = access_to_request(draft, call, outcome) {
        draft.record(Record::AccessRequested { call: id, access });
    } else {
        complete_call(draft, id, outcome);
    }
    NextStep::AdvanceRound
}

/// Returns whether a human may be asked what the tool of a call wants to know.
fn can_ask_for_tool(draft: &DecisionDraft<'_>, call: &Call) -> bool {
    draft.is_human_available()
        && wind_down::wind_down_reason(draft).is_none()
        && call.answered_requests.len() < MAX_REQUESTS
}

/// Maximum sources of untrusted content that are recorded for one result.
const MAX_RESULT_SOURCES: usize = 20;

/// Returns what a failed call would need beyond the policy of the sandbox, if a person can be asked
/// for it or has given it by a rule.
fn access_to_request(
    draft: &DecisionDraft<'_>,
    call: &Call,
    outcome: &ToolOutcome,
) -> Option<AddedAccess> {
    let ToolOutcome::Failed(error) = outcome else { return None };
    let settings = draft.settings()?;
    let asks_no_one = settings.rules.mode == PermissionMode::BypassPermissions;
    if asks_no_one || !error.recoverable || wind_down::wind_down_reason(draft).is_some() {
        return None;
    }
    let access = error.blocked.as_deref()?;
    let facts = (*call.facts).clone().with_subject(call.facts.subject.with_added_access(access)?);
    let grants = &draft.state().grants;
    let query = facts.permission_query(&call.tool_use.name, grants, HookPreference::Neutral);
    match settings.rules.decide_exposed(query, &draft.state().exposure) {
        PermissionDecision::Allow { .. } | PermissionDecision::Ask { .. } => Some(access.clone()),
        PermissionDecision::Deny { .. } | PermissionDecision::Classify {} => None,
    }
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
    let is_transient = match outcome {
        ToolOutcome::Failed(error) => error.transient && error.recoverable,
        ToolOutcome::TimedOut { .. } => true,
        ToolOutcome::Done(_)
        | ToolOutcome::DoneWithDetail { .. }
        | ToolOutcome::Interrupted { .. }
        | ToolOutcome::InputRequested(_) => false,
    };
    if !is_transient || !call.facts.is_repeatable() || wind_down::wind_down_reason(draft).is_some()
    {
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

pub(super) fn side_effects_of(draft: &DecisionDraft<'_>, id: CallId) -> SideEffects {
    draft.call(id).map_or(SideEffects::Unknown, Call::side_effects)
}
