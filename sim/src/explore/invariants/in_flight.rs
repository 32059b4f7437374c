//! Invariants of effects in flight: only allowed ones, never two that conflict, and no once-only
//! call before its start is durable.

use windlass_core::Conversation;
use windlass_core::call::call_facts::{AnsweredBy, CallFacts};
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::log::ids::CallId;
use windlass_core::log::record::{EarlyStart, StopMode};
use windlass_core::run::active_run::{EarlyCall, Run};
use windlass_core::run::wanted::Effect;
use windlass_core::settings::conversation_settings::HookPresence;

use super::{InvariantResult, StateInvariant, StateUnderTest, ensure};
use crate::explore::permission_model;

pub(super) const STATES: &[StateInvariant] = &[
    ("conflicting calls are never in flight together", conflicts_are_apart),
    ("a call waits for earlier ones it conflicts with", order_is_kept),
    ("a once-only call is on disk before it runs", started_is_on_disk),
    ("a denied call never runs", denied_stays_down),
    ("an ask rule is passed by a human alone", asked_by_a_human),
    ("nothing runs without approval", leave_was_given),
    ("no more calls at once than allowed", few_at_once),
    ("only harmless calls run early", early_is_harmless),
    ("after an abort the model is not asked", abort_is_silent),
    ("a halted run does nothing new", halt_is_quiet),
    ("a call that ended is not in flight", ended_calls_are_down),
];

/// Returns the tool calls in flight.
fn flying<'a>(state: &'a StateUnderTest<'_>) -> impl Iterator<Item = (CallId, u32)> + 'a {
    state.wanted.effects.iter().filter_map(|effect| match effect {
        Effect::RunTool { call, attempt } => Some((*call, *attempt)),
        _ => None,
    })
}

fn calls_of(c: &Conversation) -> &[Call] {
    c.run.as_ref().and_then(Run::round).map_or(&[], |round| &round.calls)
}

fn early_of(c: &Conversation) -> &[EarlyCall] {
    c.run.as_ref().and_then(Run::pending_model_call).map_or(&[], |asking| &asking.early_calls)
}

fn call_of(c: &Conversation, id: CallId) -> Option<&Call> {
    calls_of(c).iter().find(|call| call.id == id)
}

fn facts_of(c: &Conversation, id: CallId) -> Option<&CallFacts> {
    let early = || early_of(c).iter().find(|early| early.id == id).map(|early| &*early.facts);
    call_of(c, id).map(|call| &*call.facts).or_else(early)
}

fn conflicts_are_apart(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let up: Vec<_> = flying(state).filter_map(|(id, _)| Some((id, facts_of(live, id)?))).collect();
    for (place, (a, touches)) in up.iter().enumerate() {
        let others = up.iter().skip(place + 1);
        let clash = others.clone().find(|(_, o)| o.touches.conflicts_with(&touches.touches));
        ensure(clash.is_none(), || format!("call {a} flies with {:?}", clash.map(|c| c.0)))?;
    }
    Ok(())
}

fn order_is_kept(state: &StateUnderTest<'_>) -> InvariantResult {
    for (id, _) in flying(state).filter(|(id, _)| !state.world.ledger.is_overtaker(*id)) {
        let calls = calls_of(&state.world.live);
        let Some(call) = calls.iter().find(|call| call.id == id) else { continue };
        let before = calls.iter().take_while(|earlier| earlier.id != id);
        let mut open = before.filter(|earlier| is_open(earlier));
        let blocked = open.find(|o| o.facts.touches.conflicts_with(&call.facts.touches));
        ensure(blocked.is_none(), || format!("call {id} overtook {:?}", blocked.map(|b| b.id)))?;
    }
    Ok(())
}

fn is_open(call: &Call) -> bool {
    !matches!(call.state, CallState::Finished(_) | CallState::AwaitingPostHook(_))
}

fn started_is_on_disk(state: &StateUnderTest<'_>) -> InvariantResult {
    for (id, attempt) in flying(state) {
        let once = facts_of(&state.world.live, id).is_some_and(|facts| !facts.is_repeatable());
        let safe = state.world.disk.first().map(|stored| &stored.conversation);
        let started = safe.and_then(|safe| call_of(safe, id)).is_some_and(|call| {
            matches!(call.state, CallState::Running { .. }) && call.attempts == attempt
        });
        ensure(!once || started, || format!("a power loss would forget that {id} started"))?;
    }
    Ok(())
}

fn denied_stays_down(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let Some(settings) = &live.settings else { return Ok(()) };
    let calls = flying(state).filter_map(|(id, _)| call_of(live, id));
    // A rule does not stop a call that has started.
    let mut calls = calls.filter(|call| !state.world.ledger.was_under_way(call.id));
    let denied = calls.find(|call| permission_model::is_forbidden(&settings.rules, call));
    ensure(denied.is_none(), || format!("{:?} runs", denied.map(|call| &call.tool_use.name)))
}

fn asked_by_a_human(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let Some(settings) = &live.settings else { return Ok(()) };
    let calls = flying(state).filter_map(|(id, _)| call_of(live, id));
    let calls = calls.filter(|call| !state.world.ledger.is_settled(call.id));
    let mut asked =
        calls.filter(|call| permission_model::is_asked(&settings.rules, &call.tool_use.name));
    let unasked = asked.find(|call| !state.world.ledger.is_approved(call.id));
    ensure(unasked.is_none(), || format!("{:?} runs", unasked.map(|call| &call.tool_use.name)))
}

fn leave_was_given(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let Some(settings) = &live.settings else { return Ok(()) };
    for (id, _) in flying(state) {
        let Some(call) = call_of(live, id) else { continue };
        let fits = call.facts.problem.is_none()
            && call.tool_use.input.is_object()
            && call.facts.answered_by == AnsweredBy::Tool;
        let ledger = &state.world.ledger;
        let allowed = ledger.is_settled(id) || permission_model::has_leave(settings, call, ledger);
        ensure(fits && allowed, || format!("{} runs without approval", call.tool_use.name))?;
    }
    Ok(())
}

fn few_at_once(state: &StateUnderTest<'_>) -> InvariantResult {
    let most = state.config.settings_of(state.world.owner).limits.parallel_calls;
    let count = flying(state).count();
    ensure(count <= usize::from(most), || format!("{count} calls in flight"))
}

fn early_is_harmless(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let Some(settings) = &live.settings else { return Ok(()) };
    for early in early_of(live).iter().filter(|early| early.start == EarlyStart::Started) {
        let harmless = early.facts.touches.is_read()
            && early.facts.is_repeatable()
            && early.facts.problem.is_none()
            && settings.hooks.before_tool == HookPresence::Absent;
        ensure(harmless, || format!("call {} ran ahead of its reply", early.id))?;
        let seen = early_of(live).iter().take_while(|other| other.id != early.id);
        let mut clash = seen.filter(|o| o.facts.touches.conflicts_with(&early.facts.touches));
        ensure(clash.next().is_none(), || format!("call {} overtook a block", early.id))?;
    }
    Ok(())
}

fn abort_is_silent(state: &StateUnderTest<'_>) -> InvariantResult {
    let stop = state.world.live.run.as_ref().and_then(|run| run.stop_request);
    let aborted = stop.is_some_and(|stop| stop.mode == StopMode::Abort);
    let asks = state.wanted.effects.iter().any(|effect| matches!(effect, Effect::CallModel(_)));
    ensure(!(aborted && asks), || "the model is asked in an aborted run".to_owned())
}

fn halt_is_quiet(state: &StateUnderTest<'_>) -> InvariantResult {
    let halted = state.world.live.run.as_ref().and_then(Run::human_pause).is_some();
    let loud = |effect: &&Effect| matches!(effect, Effect::CallModel(_) | Effect::RunTool { .. });
    let found = state.wanted.effects.iter().find(loud);
    ensure(!halted || found.is_none(), || format!("{found:?} in a halted run"))
}

fn ended_calls_are_down(state: &StateUnderTest<'_>) -> InvariantResult {
    for (id, attempt) in flying(state) {
        let Some(call) = call_of(&state.world.live, id) else { continue };
        let up = matches!(call.state, CallState::Running { .. }) && call.attempts == attempt;
        ensure(up, || format!("call {id} is {:?} and in flight", call.state))?;
    }
    Ok(())
}
