//! Limits and spend.

use windlass_core::input::{FailureClass, Input};
use windlass_core::record::Record;
use windlass_core::run::Run;

use super::{Fact, OfFact, OfState, State, Verdict, ensure};

pub(super) const STATES: &[OfState] = &[
    ("spend stays within its cap", spend_is_capped),
    ("a run stays within its limits", limits_hold),
];

pub(super) const FACTS: &[OfFact] =
    &[("a model call that began is paid for", abandoned_is_charged)];

/// In a world where no reply costs more than was set aside, the cap itself is never passed.
fn spend_is_capped(state: &State<'_>) -> Verdict {
    let live = &state.world.live;
    let cap = live.settings.as_ref().and_then(|settings| settings.limits.run_tokens);
    let (Some(cap), Some(run)) = (cap, &live.run) else { return Ok(()) };
    let in_the_air = run.asking().map_or(0, |asking| asking.reserved_tokens);
    let used = run.counters.usage.total() + in_the_air;
    ensure(used <= cap, || format!("{used} of {cap} tokens"))
}

fn limits_hold(state: &State<'_>) -> Verdict {
    let live = &state.world.live;
    let (Some(run), Some(settings)) = (&live.run, &live.settings) else { return Ok(()) };
    let (counters, limits) = (&run.counters, &settings.limits);
    let held = counters.tool_rounds <= limits.tool_rounds
        && counters.model_calls <= limits.model_calls
        && counters.failures <= limits.model_retries
        && counters.reprompts <= limits.reprompts
        && counters.reactive_compactions <= 1
        && counters.truncations <= limits.truncations + 2
        && run.steers.len() <= limits.waiting_steers as usize + 1
        && live.queue.len() <= limits.queued_prompts as usize;
    ensure(held, || {
        format!("{counters:?}, {} steers, {} prompts", run.steers.len(), live.queue.len())
    })
}

/// Only a failure before the first token is free.
fn abandoned_is_charged(fact: &Fact<'_>) -> Verdict {
    let Record::AttemptAbandoned { charged, .. } = fact.record else { return Ok(()) };
    let reserved =
        fact.now.run.as_ref().and_then(Run::asking).map_or(0, |asking| asking.reserved_tokens);
    let free = match &fact.entry.input {
        Input::ModelFailed { failure, .. } => failure.class != FailureClass::Cut,
        _ => false,
    };
    let due = if free { 0 } else { reserved };
    ensure(charged.total() == due, || format!("charged {} of {due}", charged.total()))
}
