//! Applies the tool calls of a reply, until the round is in the transcript.

use std::sync::Arc;

use super::children;
use super::model_calls::{charge, reply_of};
use super::prompts::command_of;
use super::{with_call, with_round, with_run};
use crate::call::call_facts::CallFacts;
use crate::call::call_state::{AskReason, Call, CallRetries, CallState, TimeSpan};
use crate::call::outcome::{CallResult, OutcomeKind, ToolOutcome};
use crate::guard::loop_detection::{CallObservation, LoopDetectorConfig};
use crate::log::ids::{CallId, InboxMessageId, UnixMillis};
use crate::log::inbox::InboxCommand;
use crate::log::input::{HookDecision, Input};
use crate::log::record::RecordedResult;
use crate::message::content_block::{ContentBlock, ErrorFlag};
use crate::message::loaded_tools::{TOOL_SEARCH, referenced_tools};
use crate::message::prompt_texts;
use crate::message::raw_json::RawJson;
use crate::permission::{AddedAccess, ContentSource, PermissionDecision};
use crate::run::active_run::{Round, RoundFatality, Run, RunPhase};
use crate::run::conversation::Conversation;
use crate::settings::conversation_settings::{HookPresence, Settings};

pub(super) fn apply_round_opened(
    c: &mut Conversation,
    input: &Input,
    dropped: &[u16],
    note: Option<&Arc<str>>,
) {
    let Some((reply, facts)) = reply_of(input) else { return };
    let Some(model_call) = c.last_reply.as_ref().map(|last| last.model_call) else { return };
    let hooked = c.settings.as_ref().map(|settings| settings.hooks.before_tool);
    let facts = facts.iter().map(Some).chain(std::iter::repeat(None));
    let calls: Vec<Call> = reply
        .tool_uses()
        .zip(facts)
        .filter(|((index, _), _)| !dropped.contains(index))
        .map(|((index, tool_use), facts)| {
            let facts =
                facts.cloned().unwrap_or_else(|| CallFacts::for_unknown_tool(&tool_use.name));
            let call = Call::new(CallId { model_call, index }, tool_use.clone(), Arc::new(facts));
            if hooked == Some(HookPresence::Present) { call.with_pre_hook() } else { call }
        })
        .collect();
    let kept = reply.indexed_blocks().filter(|(index, _)| !dropped.contains(index));
    let blocks = kept.map(|(_, block)| block.clone()).collect();
    with_run(c, |run| {
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        run.counters.tool_calls = run.counters.tool_calls.saturating_add(count);
        run.phase = RunPhase::RunningTools(Round {
            model_call,
            blocks,
            calls,
            note: note.cloned(),
            fatality: RoundFatality::NotFatal,
        });
    });
}

/// Applies changed arguments: those of a hook, or of the answer in an inbox message.
pub(super) fn apply_call_input_changed(
    c: &mut Conversation,
    input: &Input,
    id: CallId,
    message: Option<InboxMessageId>,
) {
    let changed = match message {
        Some(message) => answered_input(input, message),
        None => hooked_input(input),
    };
    let Some((input, facts)) = changed else { return };
    with_call(c, id, |call| {
        call.tool_use.input = input.clone();
        call.facts = Arc::new(facts.clone());
        call.state = CallState::AwaitingPermission;
    });
}

fn hooked_input(input: &Input) -> Option<(&RawJson, &CallFacts)> {
    let Input::HookResponded { decision: HookDecision::Change { input, facts, .. }, .. } = input
    else {
        return None;
    };
    Some((input, facts))
}

fn answered_input(input: &Input, message: InboxMessageId) -> Option<(&RawJson, &CallFacts)> {
    let Some(InboxCommand::Answer { answer, .. }) = command_of(input, message) else {
        return None;
    };
    let changed = answer.changed_input()?;
    Some((&changed.input, changed.facts.as_deref()?))
}

pub(super) fn apply_permission_decided(
    c: &mut Conversation,
    id: CallId,
    verdict: &PermissionDecision,
) {
    let state = match verdict {
        PermissionDecision::Allow { .. } => CallState::Ready,
        PermissionDecision::Classify {} => CallState::AwaitingClassifier,
        // A later record of the same entry says more: a question, or the final result.
        PermissionDecision::Ask { .. } | PermissionDecision::Deny { .. } => {
            CallState::AwaitingPermission
        }
    };
    let ask_reason = match verdict {
        PermissionDecision::Ask { by, reason } => {
            Some(AskReason { by: by.clone(), reason: reason.clone() })
        }
        PermissionDecision::Allow { .. }
        | PermissionDecision::Classify {}
        | PermissionDecision::Deny { .. } => None,
    };
    with_call(c, id, |call| {
        call.state = state;
        call.ask_reason = ask_reason;
    });
}

pub(super) fn apply_call_started(c: &mut Conversation, id: CallId, at: UnixMillis) {
    with_call(c, id, |call| {
        call.attempts = call.attempts.saturating_add(1);
        call.blocked_outcome = None;
        call.state = CallState::Running { since: at };
    });
}

/// Schedules the retry of a call. A transient failure and the pause after it are taken from the
/// call's time.
pub(super) fn apply_call_retry(
    c: &mut Conversation,
    at: UnixMillis,
    input: &Input,
    id: CallId,
    until: UnixMillis,
) {
    let Input::ToolReturned { started_at, outcome, .. } = input else { return };
    with_call(c, id, |call| {
        let spent_ms = call.retry_cost_ms(*started_at, at, until, outcome);
        let CallRetries { count, used_ms } = &mut call.retries;
        *count = count.saturating_add(1);
        *used_ms = used_ms.saturating_add(spent_ms);
        // The start of a repeatable call is not stored; its return is.
        call.attempts = call.attempts.max(*count);
        call.state = CallState::AwaitingRetry { until };
    });
}

/// Marks a call as lost. Its start is known; its end is noticed only now.
pub(super) fn apply_call_lost(c: &mut Conversation, at: UnixMillis, id: CallId) {
    with_call(c, id, |call| {
        if let CallState::Running { since } = call.state {
            call.run_span = Some(TimeSpan { started_at: since, ended_at: at });
        }
        call.state = CallState::Lost;
    });
}

pub(super) fn apply_call_returned(c: &mut Conversation, at: UnixMillis, input: &Input, id: CallId) {
    let Input::ToolReturned { outcome, started_at, .. } = input else { return };
    if let Some(facts) = c.call(id).map(|call| Arc::clone(&call.facts)) {
        c.exposure.note_read(&facts.subject);
    }
    with_call(c, id, |call| {
        call.run_span = Some(TimeSpan { started_at: *started_at, ended_at: at });
        call.state = CallState::AwaitingPostHook(outcome.clone());
    });
}

/// Keeps what the call returned, and opens it for the decision whether it runs again with more.
pub(super) fn apply_access_requested(
    c: &mut Conversation,
    at: UnixMillis,
    input: &Input,
    id: CallId,
    access: &AddedAccess,
) {
    let Input::ToolReturned { outcome, started_at, .. } = input else { return };
    with_call(c, id, |call| {
        let Some(subject) = call.facts.subject.with_added_access(access) else { return };
        call.run_span = Some(TimeSpan { started_at: *started_at, ended_at: at });
        call.facts = Arc::new((*call.facts).clone().with_subject(subject));
        call.blocked_outcome = Some(Arc::new(outcome.clone()));
        call.state = CallState::AwaitingPermission;
    });
}

/// Notes untrusted content, and tells the model with the results of the round.
pub(super) fn apply_untrusted_content(c: &mut Conversation, id: CallId, sources: &[ContentSource]) {
    for source in sources {
        c.exposure.add_source(source);
    }
    let Some(call) = c.call(id) else { return };
    let list = sources.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let told = prompt_texts::untrusted_content(&call.tool_use.name, &call.tool_use.id, &list);
    with_round(c, |round| add_round_note(round, &told));
}

pub(super) fn apply_result_finalized(
    c: &mut Conversation,
    at: UnixMillis,
    id: CallId,
    shown: &RecordedResult,
) {
    children::remember_orphans(c, id);
    with_call(c, id, |call| {
        // A call that is interrupted did run until now. The start of a repeatable one is not
        // stored.
        if let CallState::Running { since } = call.state
            && !call.facts.is_repeatable()
        {
            call.run_span = Some(TimeSpan { started_at: since, ended_at: at });
        }
        let result = match (shown, &call.state) {
            (RecordedResult::Replaced(result), _) => result.clone(),
            (RecordedResult::Unchanged {}, CallState::AwaitingPostHook(outcome)) => {
                let Some(content) = outcome.content().cloned() else { return };
                CallResult { kind: OutcomeKind::Done, content, error_flag: ErrorFlag::Success }
            }
            (RecordedResult::Unchanged {}, _) => return,
        };
        call.state = CallState::Finished(result);
        call.ask_reason = None;
    });
    remember_deferral(c, id);
}

/// Keeps a call that was deferred for the result of the run, which it ends.
fn remember_deferral(c: &mut Conversation, id: CallId) {
    let Some(run) = &mut c.run else { return };
    let call = run.round().and_then(|round| round.call(id));
    let is_deferred = |call: &&Call| matches!(&call.state, CallState::Finished(result) if result.kind == OutcomeKind::Deferred);
    if let Some(tool_use) = call.filter(is_deferred).map(|call| call.tool_use.clone()) {
        run.deferred_tool_use.get_or_insert(tool_use);
    }
}

/// Adds the context that a hook returned; the model sees it after the results.
pub(super) fn apply_hook_context(c: &mut Conversation, input: &Input) {
    let Input::HookResponded { context: Some(context), .. } = input else { return };
    with_round(c, |round| add_round_note(round, context));
}

fn add_round_note(round: &mut Round, text: &str) {
    let note = round.note.iter().map(AsRef::as_ref).chain([text]).collect::<Vec<_>>();
    round.note = Some(Arc::from(note.join("\n")));
}

pub(super) fn apply_call_classified(c: &mut Conversation, input: &Input) {
    if let Input::CallClassified { usage, .. } = input {
        let price = c.side_model_price();
        charge(c, usage, price.as_ref());
    }
}

pub(super) fn apply_structured_output(c: &mut Conversation, id: CallId) {
    let Some(run) = &mut c.run else { return };
    let given =
        run.round().and_then(|round| round.call(id)).map(|call| call.tool_use.input.clone());
    run.structured_output = given;
}

/// Updates the loop guard and the completion gate with the calls of a round.
fn observe_round(run: &mut Run, settings: Option<&Settings>) {
    let Some(settings) = settings else { return };
    let Some(calls) = run.round().map(|round| round.calls.clone()) else { return };
    let observations: Vec<CallObservation> =
        calls.iter().filter_map(Call::loop_observation).collect();
    run.loop_guard.record_round(&observations, LoopDetectorConfig::from_settings(settings));
    for call in calls.iter().filter(|call| call.has_succeeded()) {
        if settings.gate.is_in_checklist(&call.tool_use.name) {
            run.checklist_progress.record_success(&call.tool_use.name);
        }
    }
}

pub(super) fn apply_round_closed(c: &mut Conversation) {
    let Some(run) = &mut c.run else { return };
    observe_round(run, c.settings.as_deref());
    let Some(round) = run.round() else { return };
    let results: Vec<ContentBlock> = round.calls.iter().filter_map(result_block).collect();
    let note = round.note.clone();
    if c.transcript.push_round(&round.blocks, results).is_err() {
        return;
    }
    if let Some(note) = note {
        c.transcript.push_note(&note);
    }
    let loads: Vec<Arc<str>> = round.calls.iter().flat_map(tools_loaded_by).collect();
    loads.into_iter().for_each(|name| c.loaded_tools.add(name));
    run.counters.tool_rounds = run.counters.tool_rounds.saturating_add(1);
    run.answer_parts.clear();
    match &mut run.phase {
        RunPhase::Paused(halt) => halt.round = None,
        RunPhase::Deciding
        | RunPhase::CallingModel(_)
        | RunPhase::AwaitingRetry { .. }
        | RunPhase::RunningTools(_)
        | RunPhase::InReview(_) => run.phase = RunPhase::Deciding,
    }
}

/// Returns the tools that a call has loaded.
fn tools_loaded_by(call: &Call) -> Vec<Arc<str>> {
    let CallState::Finished(result) = &call.state else { return Vec::new() };
    let is_search = &*call.tool_use.name == TOOL_SEARCH;
    if is_search && result.error_flag == ErrorFlag::Success {
        referenced_tools(&result.content)
    } else {
        Vec::new()
    }
}

fn result_block(call: &Call) -> Option<ContentBlock> {
    let CallState::Finished(result) = &call.state else { return None };
    Some(ContentBlock::tool_result(&call.tool_use.id, &result.content, result.error_flag))
}

/// Keeps the full text of a fatal error for the event of the run's end.
pub(super) fn apply_fatal_tool_error(c: &mut Conversation, input: &Input) {
    if let Input::ToolReturned { outcome: ToolOutcome::Failed(error), .. } = input {
        with_run(c, |run| run.last_error = Some(Arc::from(error.full_text())));
    }
    with_round(c, |round| round.fatality = RoundFatality::Fatal);
}
