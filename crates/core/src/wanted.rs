//! What should be in the air now, derived from the state. The driver starts what is missing and
//! stops what is no longer wanted: start, cancel, retry and crash recovery are one path.

use crate::call::{Call, CallState};
use crate::conversation::Conversation;
use crate::counsel::CounselId;
use crate::ids::{AskId, CallId, Millis};
use crate::question::About;
use crate::record::{Launch, TimeLimit};
use crate::run::{Leave, Phase, Run};

/// What should be in the air.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Effects, each with its identity.
    pub effects: Vec<Effect>,
    /// When to look again at the latest.
    pub wake_at: Option<Millis>,
}

/// Something to do in the world; also the ticket its result comes back with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Ask the model.
    Ask(AskId),
    /// Run a tool.
    RunTool {
        /// Which call.
        call: CallId,
        /// Which attempt at it.
        attempt: u32,
    },
    /// Ask the hooks about a call that is to run.
    HookBefore(CallId),
    /// Ask the hooks about a call that came back.
    HookAfter(CallId),
    /// Ask a classifier about a call.
    Classify(CallId),
    /// Ask a tool what became of a call.
    Probe(CallId),
    /// Ask whoever the run waits for.
    Consult(CounselId),
    /// Record the settings now in force.
    Configure,
}

/// What `conversation` wants.
#[must_use]
pub fn wanted(conversation: &Conversation) -> Wanted {
    let Some(run) = &conversation.run else { return Wanted::default() };
    Wanted { effects: effects(run), wake_at: wake_at(conversation, run) }
}

/// Whether the run waits for a human and nothing is in the air: it may leave memory.
#[must_use]
pub fn is_parked(conversation: &Conversation) -> bool {
    let waits = conversation.run.as_ref().is_some_and(|run| run.questions().next().is_some());
    waits && wanted(conversation).effects.is_empty()
}

/// Whether the retries of a model call are used up, and the run waits for its provider to come back.
#[must_use]
pub fn waits_on_provider(conversation: &Conversation) -> bool {
    let Some(run) = &conversation.run else { return false };
    let settings = conversation.settings.as_ref();
    let used_up = settings.is_some_and(|own| run.counters.failures > own.limits.model_retries);
    used_up && matches!(run.phase, Phase::Deferred { .. })
}

/// Whether the run waits for its children and nothing is in the air: it may leave memory too.
#[must_use]
pub fn waits_for_children(conversation: &Conversation) -> bool {
    let round = conversation.run.as_ref().and_then(Run::round);
    let away = round.is_some_and(|round| round.calls.iter().any(|call| call.away().is_some()));
    away && wanted(conversation).effects.is_empty()
}

fn effects(run: &Run) -> Vec<Effect> {
    match &run.phase {
        Phase::Between | Phase::Deferred { .. } => Vec::new(),
        Phase::Asking(asking) => {
            let launched = asking.early.iter().filter(|early| early.launch == Launch::Launched);
            let early = launched.map(|early| Effect::RunTool { call: early.id, attempt: 1 });
            std::iter::once(Effect::Ask(asking.ask)).chain(early).collect()
        }
        Phase::Acting(round) => round.calls.iter().filter_map(effect_of).collect(),
        Phase::Consulting(consulting) => vec![Effect::Consult(consulting.id)],
        Phase::Halted(halt) => {
            let configure = (halt.leave == Leave::Given).then_some(Effect::Configure);
            let calls = halt.round.iter().flat_map(|round| &round.calls);
            configure.into_iter().chain(calls.filter_map(effect_of)).collect()
        }
    }
}

fn effect_of(call: &Call) -> Option<Effect> {
    match &call.state {
        CallState::BeforeHook => Some(Effect::HookBefore(call.id)),
        CallState::Running { .. } => {
            Some(Effect::RunTool { call: call.id, attempt: call.attempts })
        }
        CallState::Referred => Some(Effect::Classify(call.id)),
        CallState::Lost => Some(Effect::Probe(call.id)),
        CallState::AfterHook(_) => Some(Effect::HookAfter(call.id)),
        CallState::Unjudged
        | CallState::Questioned(_)
        | CallState::Away(_)
        | CallState::Ready
        | CallState::Resting { .. }
        | CallState::Settled(_) => None,
    }
}

fn wake_at(conversation: &Conversation, run: &Run) -> Option<Millis> {
    let deferred = match run.phase {
        Phase::Deferred { until } => Some(until),
        Phase::Between
        | Phase::Asking(_)
        | Phase::Acting(_)
        | Phase::Consulting(_)
        | Phase::Halted(_) => None,
    };
    deferred
        .into_iter()
        .chain(rested(conversation, run))
        .chain(cancel_deadline(conversation, run))
        .chain(expiry(run))
        .chain(time_limit(conversation, run))
        .chain(grace(conversation, run))
        .min()
}

/// When the next limit on the active run's time comes, for whoever watches its driver from outside.
#[must_use]
pub fn next_time_limit(conversation: &Conversation) -> Option<Millis> {
    time_limit(conversation, conversation.run.as_ref()?)
}

/// When the next time limit comes, if the run stays at work until then. One that passed unnoticed
/// while the last result came in is due at once.
fn time_limit(conversation: &Conversation, run: &Run) -> Option<Millis> {
    let limit = conversation.time_limit()?;
    let due = || conversation.counted_to.plus(limit.saturating_sub(run.active_ms));
    (run.is_active() || run.active_ms >= limit).then(due)
}

/// When calls in the air have had their time after the soft limit.
fn grace(conversation: &Conversation, run: &Run) -> Option<Millis> {
    let times = conversation.settings.as_ref()?.times?;
    let up = run.time_up.filter(|up| up.limit == TimeLimit::Soft)?;
    let stops = |call: &Call| {
        call.is_running() && call.facts.interrupt == crate::facts::Interrupt::Interruptible
    };
    let waits = run.round().is_some_and(|round| round.calls.iter().any(stops));
    waits.then(|| up.at.plus(times.grace_ms))
}

/// The end of the first pause after which a call may start. One that then has to wait for another
/// call is looked at when that one is done; a halted run starts nothing.
fn rested(conversation: &Conversation, run: &Run) -> Option<Millis> {
    let Phase::Acting(round) = &run.phase else { return None };
    let most = conversation.settings.as_ref()?.limits.parallel_calls.max(1);
    let running = round.calls.iter().filter(|call| call.is_running()).count();
    let pauses = (0..).zip(&round.calls).filter_map(|(place, call)| match call.state {
        CallState::Resting { until } => Some((round.calls.get(..place)?, call, until)),
        CallState::BeforeHook
        | CallState::Unjudged
        | CallState::Referred
        | CallState::Questioned(_)
        | CallState::Away(_)
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::Lost
        | CallState::AfterHook(_)
        | CallState::Settled(_) => None,
    });
    let free = pauses.filter(|(before, call, _)| !before.iter().any(|b| b.stands_before(call)));
    free.map(|(_, _, until)| until).min().filter(|_| running < usize::from(most))
}

/// When the first question expires.
fn expiry(run: &Run) -> Option<Millis> {
    let calls = run.round().into_iter().flat_map(|round| &round.calls);
    calls.filter_map(|call| call.question()?.expires_at).min()
}

/// A run that is to end waits only so long for a human who was asked about unknown effects, and for
/// its children.
fn cancel_deadline(conversation: &Conversation, run: &Run) -> Option<Millis> {
    let since = run.stop.map(|stop| stop.at).or(run.time_up.map(|up| up.at))?;
    let limits = &conversation.settings.as_ref()?.limits;
    let uncertain = run.questions().any(|q| matches!(q.about, About::Uncertain { .. }));
    let away = run.round().is_some_and(|round| round.calls.iter().any(|c| c.away().is_some()));
    (uncertain || away).then(|| since.plus(limits.cancel_wait_ms))
}
