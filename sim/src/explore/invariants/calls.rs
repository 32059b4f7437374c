//! Invariants of tool calls: authorised, started, returned, answered once, and reported truthfully.

use windlass_core::call::call_facts::{AnsweredBy, Interruptibility};
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::outcome::{OutcomeKind, ToolOutcome};
use windlass_core::log::ids::{CallId, UnixMillis};
use windlass_core::log::input::HookDecision;
use windlass_core::log::record::{Record, RecordedResult, StopMode, TimeLimit};
use windlass_core::run::active_run::Run;
use windlass_core::{Entry, Input};

use super::time_limits;
use super::{InvariantResult, RecordInvariant, RecordUnderTest, ensure};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("a round closes with every call answered", round_closes_complete),
    ("results stand in call order", results_in_order),
    ("a call starts only when it is ready", let_go_when_ready),
    ("a stopping run starts nothing", stopping_lets_nothing_go),
    ("a result is final", settled_once),
    ("a result is what became of the call", result_is_earned),
    ("a call is interrupted by an abort or the end of its time", interrupted_rightly),
    ("a call that took effect is not called skipped", skipped_means_not_run),
    ("only a repeatable call that failed transiently or timed out is retried", retried_rightly),
    ("only a call in flight returns", completed_from_the_air),
    ("a lost once-only call is not run again unasked", cleared_rightly),
];

fn call<'a>(fact: &'a RecordUnderTest<'_>, id: CallId) -> Option<&'a Call> {
    fact.now.run.as_ref().and_then(Run::round).and_then(|round| round.call(id))
}

fn state<'a>(fact: &'a RecordUnderTest<'_>, id: CallId) -> Option<&'a CallState> {
    call(fact, id).map(|call| &call.state)
}

fn round_closes_complete(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RoundClosed {} = fact.record else { return Ok(()) };
    let round = fact.now.run.as_ref().and_then(Run::round);
    let done = round.is_some_and(|round| round.calls.iter().all(Call::is_finished));
    ensure(done, || "a call of the round has no result".to_owned())
}

fn results_in_order(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::RoundClosed {} = fact.record else { return Ok(()) };
    let Some(round) = fact.now.run.as_ref().and_then(Run::round) else { return Ok(()) };
    let ids = round.blocks.iter().filter_map(|block| block.as_tool_use()).map(|call| &call.id);
    let sorted = round.calls.windows(2).all(|pair| match pair {
        [a, b] => a.id < b.id,
        _ => true,
    });
    ensure(sorted && ids.eq(round.calls.iter().map(|call| &call.tool_use.id)), || {
        "calls and blocks differ".to_owned()
    })
}

fn let_go_when_ready(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let (Record::RepeatableCallStarted { call: id } | Record::CallStarted { call: id }) =
        fact.record
    else {
        return Ok(());
    };
    let call = call(fact, *id);
    let ready = call.is_some_and(|call| call.state == CallState::Ready);
    let stored = matches!(fact.record, Record::CallStarted { .. });
    let fits = call.is_some_and(|call| call.facts.is_repeatable() != stored);
    ensure(ready && fits, || format!("call {id} was {:?}", call.map(|call| &call.state)))
}

fn stopping_lets_nothing_go(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let (Record::RepeatableCallStarted { call: id }
    | Record::CallStarted { call: id }
    | Record::ChildrenSpawned { call: id, .. }
    | Record::JournalChanged { call: id, .. }) = fact.record
    else {
        return Ok(());
    };
    let run = fact.now.run.as_ref();
    let stopping = run.is_some_and(|run| run.stop_request.is_some() || run.is_ended_by_hook());
    ensure(!stopping, || format!("call {id} was let go in a run that is to end"))
}

fn settled_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ResultFinalized { call: id, .. } = fact.record else { return Ok(()) };
    let open = call(fact, *id).is_some_and(|call| !call.is_finished());
    ensure(open, || format!("call {id} was settled already"))
}

fn result_is_earned(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ResultFinalized { call: id, result } = fact.record else { return Ok(()) };
    let Some(state) = state(fact, *id) else { return Ok(()) };
    let mail = matches!(fact.entry.input, Input::CommandsReceived { .. });
    let probe = matches!(fact.entry.input, Input::CallProbed { .. });
    let back = matches!(state, CallState::AwaitingPostHook(_));
    let waits = matches!(state, CallState::AwaitingHuman(_));
    let fits = match kind(result) {
        OutcomeKind::Done => back || (probe && *state == CallState::Lost) || is_ours(fact, *id),
        OutcomeKind::Answered => (waits && mail) || has_no_plan_to_approve(fact, *id),
        OutcomeKind::TimedOut => back,
        OutcomeKind::Interrupted => {
            back || waits || may_have_flown(fact, state) || has_asked_user(fact, *id)
        }
        OutcomeKind::Failed => back || has_not_flown(state),
        OutcomeKind::Denied => has_not_flown(state) || (waits && mail),
        OutcomeKind::Skipped => has_not_flown(state) || waits,
        OutcomeKind::Deferred => *state == CallState::AwaitingPreHook && is_deferral(fact),
    };
    ensure(fits, || format!("call {id} was {state:?} and ended as {:?}", kind(result)))
}

/// Whether the call was started before, and asked the user.
fn has_asked_user(fact: &RecordUnderTest<'_>, id: CallId) -> bool {
    call(fact, id).is_some_and(|call| !call.answered_requests.is_empty())
}

/// Whether a hook defers the call.
fn is_deferral(fact: &RecordUnderTest<'_>) -> bool {
    matches!(fact.entry.input, Input::HookResponded { decision: HookDecision::Defer {}, .. })
}

/// Whether the result of the call may be recorded here: it is in flight, or a new owner cannot know
/// whether it was (that is stored for once-only calls alone), or the journal answered, or every
/// child returned.
fn is_ours(fact: &RecordUnderTest<'_>, id: CallId) -> bool {
    let Some(call) = call(fact, id) else { return false };
    match call.facts.answered_by {
        AnsweredBy::Journal => call.state == CallState::Ready,
        AnsweredBy::Children => {
            call.pending_children().is_some_and(|away| away.running_count() == 0)
        }
        AnsweredBy::Tool | AnsweredBy::Human | AnsweredBy::PlanApproval => false,
    }
}

/// Outside of plan mode there is nothing to approve.
fn has_no_plan_to_approve(fact: &RecordUnderTest<'_>, id: CallId) -> bool {
    let ready = |call: &Call| call.state == CallState::Ready;
    call(fact, id).is_some_and(|call| {
        matches!(call.facts.answered_by, AnsweredBy::PlanApproval) && ready(call)
    })
}

fn may_have_flown(fact: &RecordUnderTest<'_>, state: &CallState) -> bool {
    let halted = fact.now.run.as_ref().and_then(Run::human_pause).is_some();
    match state {
        CallState::Running { .. } | CallState::AwaitingChildren(_) => true,
        CallState::Ready => halted || matches!(fact.entry.input, Input::OwnerChanged { .. }),
        _ => false,
    }
}

fn has_not_flown(state: &CallState) -> bool {
    match state {
        CallState::AwaitingPreHook | CallState::AwaitingPermission | CallState::Ready => true,
        CallState::AwaitingRetry { .. } | CallState::AwaitingClassifier => true,
        CallState::AwaitingChildren(_) => false,
        CallState::AwaitingHuman(_) | CallState::Running { .. } | CallState::Lost => false,
        CallState::AwaitingPostHook(_) | CallState::Finished(_) => false,
    }
}

fn interrupted_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ResultFinalized { call: id, result } = fact.record else { return Ok(()) };
    let Some(call) = call(fact, *id) else { return Ok(()) };
    if !matches!(call.state, CallState::Running { .. }) {
        return Ok(());
    }
    let stop = fact.now.run.as_ref().and_then(|run| run.stop_request);
    let aborted = stop.is_some_and(|stop| stop.mode == StopMode::Abort);
    let may = call.facts.interrupt == Interruptibility::Interruptible;
    let told = kind(result) == OutcomeKind::Interrupted;
    let over = time_limits::is_up(fact, TimeLimit::Hard);
    let late = time_limits::is_out_of_grace(fact);
    ensure((over || (may && (aborted || late))) && told, || {
        format!("call {id} was taken out of the air")
    })
}

fn kind(shown: &RecordedResult) -> OutcomeKind {
    match shown {
        RecordedResult::Unchanged {} => OutcomeKind::Done,
        RecordedResult::Replaced(shown) => shown.kind,
    }
}

fn skipped_means_not_run(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ResultFinalized { call: id, result } = fact.record else { return Ok(()) };
    let denies =
        matches!(kind(result), OutcomeKind::Skipped | OutcomeKind::Denied | OutcomeKind::Deferred);
    ensure(!(denies && fact.world.ledger.stands(*id)), || format!("call {id} did take effect"))
}

fn retried_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::CallRetryScheduled { call: id, until } = fact.record else { return Ok(()) };
    let Some(call) = call(fact, *id) else { return Err(format!("no call {id}")) };
    let passing = match &fact.entry.input {
        Input::ToolReturned { outcome: ToolOutcome::Failed(error), .. } => {
            error.transient && error.recoverable
        }
        Input::ToolReturned { outcome: ToolOutcome::TimedOut { .. }, .. } => true,
        _ => false,
    };
    let pauses = fact.now.settings.as_ref().map_or(0, |s| s.limits.tool_retry_ms.len());
    let log = fact.world.log();
    let before = log.iter().filter(|entry| retried_at(entry, *id).is_some());
    let granted: Vec<&Entry> = before.chain([fact.entry]).collect();
    let used = granted.iter().enumerate().map(|(nth, entry)| used_ms(entry, *id, nth == 0));
    let used_ms: u64 = used.sum();
    let few = granted.len() <= pauses && used_ms < call.facts.timeout_ms;
    let right = passing && call.facts.is_repeatable() && few && *until >= fact.entry.at;
    ensure(right, || format!("{id} for the {}. time after {used_ms} ms", granted.len()))
}

/// Returns until when the entry postpones the retry of the call, if it grants one.
fn retried_at(entry: &Entry, id: CallId) -> Option<UnixMillis> {
    entry.records.iter().find_map(|record| match record {
        Record::CallRetryScheduled { call, until } if *call == id => Some(*until),
        _ => None,
    })
}

/// Returns how much of the call's time an attempt and the pause after it used, according to the
/// log: a count in memory may be lost. Of a first attempt that timed out only the pause counts.
fn used_ms(entry: &Entry, id: CallId, is_first: bool) -> u64 {
    let (Input::ToolReturned { started_at, outcome, .. }, Some(until)) =
        (&entry.input, retried_at(entry, id))
    else {
        return 0;
    };
    let is_timed_out = matches!(outcome, ToolOutcome::TimedOut { .. });
    until.ms_since(if is_first && is_timed_out { entry.at } else { *started_at })
}

fn completed_from_the_air(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::CallReturned { call: id } = fact.record else { return Ok(()) };
    let Input::ToolReturned { call: told, attempt, .. } = &fact.entry.input else {
        return Err(format!("call {id} completed by itself"));
    };
    let current = call(fact, *id).is_some_and(|call| call.attempts == *attempt);
    let flew = matches!(state(fact, *id), Some(CallState::Running { .. }));
    ensure(told == id && current && flew, || format!("{told} attempt {attempt} for {id}"))
}

/// A once-only call becomes ready again only by the answer to a question or by a probe.
fn cleared_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::CallRequeued { call: id } = fact.record else { return Ok(()) };
    let Some(call) = call(fact, *id) else { return Err(format!("no call {id}")) };
    let told =
        matches!(fact.entry.input, Input::CommandsReceived { .. } | Input::CallProbed { .. });
    ensure(call.facts.is_repeatable() || told, || format!("no human cleared call {id}"))
}
