//! Desired effects, derived from the state (reconciliation). The driver starts what is missing and
//! stops what is no longer wanted, so start, cancel, retry and crash recovery are one path.

use crate::call::call_state::{Call, CallState};
use crate::log::ids::{CallId, ModelCallId, UnixMillis};
use crate::log::record::{EarlyStart, TimeLimit};
use crate::run::active_run::{Approval, Run, RunPhase};
use crate::run::conversation::Conversation;
use crate::run::question::QuestionKind;
use crate::run::review::ReviewId;

/// The effects that should be in flight.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The effects, each with its identity.
    pub effects: Vec<Effect>,
    /// When the next timer is due.
    pub wake_at: Option<UnixMillis>,
}

/// An effect outside the core; also the key that its result returns with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Call the model.
    CallModel(ModelCallId),
    /// Run a tool.
    RunTool {
        /// The call.
        call: CallId,
        /// Number of the attempt.
        attempt: u32,
    },
    /// Run the pre-hooks of a call.
    RunPreHook(CallId),
    /// Run the post-hooks of a call that returned.
    RunPostHook(CallId),
    /// Classify a call.
    ClassifyCall(CallId),
    /// Probe the tool for what happened to a call.
    ProbeCall(CallId),
    /// Request the review that the run waits for.
    RequestReview(ReviewId),
    /// Record the current settings.
    RecordSettings,
}

/// Returns the effects that `conversation` wants in flight.
#[must_use]
pub fn wanted(conversation: &Conversation) -> Wanted {
    let Some(run) = &conversation.run else { return Wanted::default() };
    Wanted { effects: effects_of_run(run), wake_at: next_wake_at(conversation, run) }
}

/// Returns whether the run waits for a human and nothing is in flight: it may be unloaded from
/// memory.
#[must_use]
pub fn is_parked(conversation: &Conversation) -> bool {
    let waits = conversation.run.as_ref().is_some_and(|run| run.open_questions().next().is_some());
    waits && wanted(conversation).effects.is_empty()
}

/// Returns whether the retries of a model call are used up, and the run waits for its provider to
/// recover.
#[must_use]
pub fn is_waiting_on_provider(conversation: &Conversation) -> bool {
    let Some(run) = &conversation.run else { return false };
    let settings = conversation.settings.as_ref();
    let used_up = settings.is_some_and(|own| run.counters.failures > own.limits.model_retries);
    used_up && matches!(run.phase, RunPhase::AwaitingRetry { .. })
}

/// Returns whether the run waits for its child runs and nothing is in flight: it may be unloaded
/// from memory too.
#[must_use]
pub fn is_waiting_for_children(conversation: &Conversation) -> bool {
    let round = conversation.run.as_ref().and_then(Run::round);
    let away =
        round.is_some_and(|round| round.calls.iter().any(|call| call.pending_children().is_some()));
    away && wanted(conversation).effects.is_empty()
}

/// Returns whether nothing is to be done until a child run in the background returns.
#[must_use]
pub fn is_waiting_in_background(conversation: &Conversation) -> bool {
    conversation.run.is_none() && conversation.background_children().next().is_some()
}

fn effects_of_run(run: &Run) -> Vec<Effect> {
    match &run.phase {
        RunPhase::Deciding | RunPhase::AwaitingRetry { .. } => Vec::new(),
        RunPhase::CallingModel(asking) => {
            let launched =
                asking.early_calls.iter().filter(|early| early.start == EarlyStart::Started);
            let early = launched.map(|early| Effect::RunTool { call: early.id, attempt: 1 });
            std::iter::once(Effect::CallModel(asking.model_call)).chain(early).collect()
        }
        RunPhase::RunningTools(round) => round.calls.iter().filter_map(effect_of_call).collect(),
        RunPhase::InReview(consulting) => vec![Effect::RequestReview(consulting.id)],
        RunPhase::Paused(halt) => {
            let configure = (halt.approval == Approval::Given).then_some(Effect::RecordSettings);
            let calls = halt.round.iter().flat_map(|round| &round.calls);
            configure.into_iter().chain(calls.filter_map(effect_of_call)).collect()
        }
    }
}

fn effect_of_call(call: &Call) -> Option<Effect> {
    match &call.state {
        CallState::AwaitingPreHook => Some(Effect::RunPreHook(call.id)),
        CallState::Running { .. } => {
            Some(Effect::RunTool { call: call.id, attempt: call.attempts })
        }
        CallState::AwaitingClassifier => Some(Effect::ClassifyCall(call.id)),
        CallState::Lost => Some(Effect::ProbeCall(call.id)),
        CallState::AwaitingPostHook(_) => Some(Effect::RunPostHook(call.id)),
        CallState::AwaitingPermission
        | CallState::AwaitingHuman(_)
        | CallState::AwaitingChildren(_)
        | CallState::Ready
        | CallState::AwaitingRetry { .. }
        | CallState::Finished(_) => None,
    }
}

fn next_wake_at(conversation: &Conversation, run: &Run) -> Option<UnixMillis> {
    let deferred = match run.phase {
        RunPhase::AwaitingRetry { until } => Some(until),
        RunPhase::Deciding
        | RunPhase::CallingModel(_)
        | RunPhase::RunningTools(_)
        | RunPhase::InReview(_)
        | RunPhase::Paused(_) => None,
    };
    deferred
        .into_iter()
        .chain(earliest_retry(conversation, run))
        .chain(cancel_deadline(conversation, run))
        .chain(earliest_expiry(run))
        .chain(time_limit_at(conversation, run))
        .chain(grace_deadline(conversation, run))
        .min()
}

/// When the next time limit of the active run is reached; used by the watchdog of the driver.
#[must_use]
pub fn next_time_limit_at(conversation: &Conversation) -> Option<UnixMillis> {
    time_limit_at(conversation, conversation.run.as_ref()?)
}

/// Returns when the next time limit is reached, if the run stays active until then. One that passed
/// unnoticed while the last result arrived is due at once.
fn time_limit_at(conversation: &Conversation, run: &Run) -> Option<UnixMillis> {
    let limit = conversation.next_time_limit_ms()?;
    let due = || conversation.active_time_counted_to.plus_ms(limit.saturating_sub(run.active_ms));
    (run.is_active() || run.active_ms >= limit).then(due)
}

/// Returns when the grace period of calls in flight after the soft limit ends.
fn grace_deadline(conversation: &Conversation, run: &Run) -> Option<UnixMillis> {
    let times = conversation.settings.as_ref()?.times?;
    let up = run.reached_time_limit.filter(|up| up.limit == TimeLimit::Soft)?;
    let stops = |call: &Call| {
        call.is_running()
            && call.facts.interrupt == crate::call::call_facts::Interruptibility::Interruptible
    };
    let waits = run.round().is_some_and(|round| round.calls.iter().any(stops));
    waits.then(|| up.at.plus_ms(times.grace_ms))
}

/// Returns the end of the first pause after which a call may start. A call that then has to wait
/// for another call is started when that one is done; a paused run starts nothing.
fn earliest_retry(conversation: &Conversation, run: &Run) -> Option<UnixMillis> {
    let RunPhase::RunningTools(round) = &run.phase else { return None };
    let limit = conversation.settings.as_ref()?.limits.parallel_calls.max(1);
    let running = round.calls.iter().filter(|call| call.is_running()).count();
    let pauses = (0..).zip(&round.calls).filter_map(|(index, call)| match call.state {
        CallState::AwaitingRetry { until } => Some((round.calls.get(..index)?, call, until)),
        CallState::AwaitingPreHook
        | CallState::AwaitingPermission
        | CallState::AwaitingClassifier
        | CallState::AwaitingHuman(_)
        | CallState::AwaitingChildren(_)
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::Lost
        | CallState::AwaitingPostHook(_)
        | CallState::Finished(_) => None,
    });
    let free = pauses.filter(|(before, call, _)| !before.iter().any(|b| b.must_precede(call)));
    free.map(|(_, _, until)| until).min().filter(|_| running < usize::from(limit))
}

/// Returns when the first question expires.
fn earliest_expiry(run: &Run) -> Option<UnixMillis> {
    let calls = run.round().into_iter().flat_map(|round| &round.calls);
    calls.filter_map(|call| call.question()?.expires_at).min()
}

/// Returns how long a run that is about to end waits for a human who was asked about unknown
/// effects, and for its child runs.
fn cancel_deadline(conversation: &Conversation, run: &Run) -> Option<UnixMillis> {
    let since = run.stop_request.map(|stop| stop.at).or(run.reached_time_limit.map(|up| up.at))?;
    let limits = &conversation.settings.as_ref()?.limits;
    let uncertain = run.open_questions().any(|q| matches!(q.kind, QuestionKind::Uncertain { .. }));
    let away =
        run.round().is_some_and(|round| round.calls.iter().any(|c| c.pending_children().is_some()));
    (uncertain || away).then(|| since.plus_ms(limits.cancel_wait_ms))
}
