//! Limits and spend.

use windlass_core::Conversation;
use windlass_core::aside::OPINION_RESERVED_TOKENS;
use windlass_core::budget::{Caps, Price, Spent};
use windlass_core::call::CallState;
use windlass_core::counsel::Counsel;
use windlass_core::input::{FailureClass, Input};
use windlass_core::limits::Limits;
use windlass_core::record::Record;
use windlass_core::reply::Usage;
use windlass_core::run::{InUse, Run, Warned};
use windlass_core::settings::Settings;

use super::kids::is_awaited;
use super::{Fact, OfFact, OfState, State, Verdict, ensure};

pub(super) const STATES: &[OfState] = &[
    ("spend stays within its caps, children included", spend_is_capped),
    ("a run stays within its limits", limits_hold),
];

pub(super) const FACTS: &[OfFact] = &[
    ("a model call that began is paid for", abandoned_is_charged),
    ("a model call reserves what it may cost", reserved_in_full),
    ("a budget is warned about once, when most is spent", warned_once),
    ("a counsel is paid for", counsel_is_charged),
    ("a run falls back once", falls_back_once),
];

/// The caps that apply, each with what counts under it.
fn scopes(c: &Conversation) -> Vec<(Caps, Spent)> {
    let (Some(run), Some(settings)) = (&c.run, &c.settings) else { return Vec::new() };
    let budget = &settings.budget;
    let limit = Caps { tokens: settings.limits.run_tokens, usd_micros: None };
    let of_run = budget.run.tighter(&limit).times(u64::from(run.extensions) + 1);
    let mut profile = budget.profile.spent;
    profile.plus(&c.spent);
    let parent = c.parent.as_ref().map_or_else(Caps::default, |parent| parent.caps);
    vec![
        (of_run, run.spent),
        (budget.conversation, c.spent),
        (budget.profile.caps, profile),
        (parent, c.spent),
    ]
}

fn price(c: &Conversation, settings: &Settings) -> Option<Price> {
    let fell_back = c.run.as_ref().is_some_and(|run| run.model == InUse::Fallback);
    let fallback = settings.fallback.as_ref().filter(|_| fell_back);
    fallback.unwrap_or(&settings.model).price
}

fn worst_case(reserved_tokens: u64, max_tokens: u64, price: Option<&Price>) -> Spent {
    let usage = Usage {
        input_tokens: reserved_tokens.saturating_sub(max_tokens),
        output_tokens: max_tokens,
        ..Usage::default()
    };
    let mut spent = Spent::default();
    spent.add(&usage, price);
    spent
}

/// What is in the air may cost this much, and children may spend that.
fn in_the_air(state: &State<'_>) -> Spent {
    let live = &state.world.live;
    let price = live.settings.as_ref().and_then(|settings| price(live, settings));
    let asking = live.run.as_ref().and_then(Run::asking);
    let mut due = asking.map_or_else(Spent::default, |asking| {
        worst_case(asking.reserved_tokens, asking.max_tokens, price.as_ref())
    });
    let sought = live.run.as_ref().and_then(Run::consulting).map(|sought| &sought.about);
    if let Some(all) = sought.and_then(Counsel::in_full) {
        due.plus(&worst_case(all.total(), all.output_tokens, price.as_ref()));
    }
    due.tokens = due.tokens.saturating_add(opinions(live));
    for kid in state.world.ledger.kids().iter().filter(|kid| is_awaited(live, kid)) {
        due.plus(&kid.granted.as_spent());
    }
    due
}

/// In a world where nothing costs more than was set aside, no cap is ever passed.
fn spend_is_capped(state: &State<'_>) -> Verdict {
    let due = in_the_air(state);
    for (caps, spent) in scopes(&state.world.live) {
        let mut all = spent;
        all.plus(&due);
        ensure(caps.is_passed(&all).is_none(), || format!("{all:?} of {caps:?}"))?;
    }
    Ok(())
}

/// What classifiers who are asked may cost.
fn opinions(c: &Conversation) -> u64 {
    let calls = c.run.as_ref().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
    let referred = calls.filter(|call| call.state == CallState::Referred).count() as u64;
    referred.saturating_mul(OPINION_RESERVED_TOKENS)
}

/// Whether what is left pays for one more classifier.
pub(super) fn pays_for_opinion(c: &Conversation) -> bool {
    let due = Spent { tokens: opinions(c) + OPINION_RESERVED_TOKENS, usd_micros: 0 };
    scopes(c).iter().all(|(caps, spent)| {
        let mut all = *spent;
        all.plus(&due);
        caps.is_passed(&all).is_none()
    })
}

/// Whether what is left does not pay for a call worth making.
pub(super) fn is_short(c: &Conversation) -> bool {
    let (Some(run), Some(settings)) = (&c.run, &c.settings) else { return false };
    let input = c.meter.estimate(c.request_bytes());
    let output = settings.limits.least_output_tokens.min(run.cap_tokens);
    let price = price(c, settings);
    let least = worst_case(input + output, output, price.as_ref());
    scopes(c).iter().any(|(caps, spent)| {
        let mut all = *spent;
        all.plus(&least);
        caps.is_passed(&all).is_some()
    })
}

fn limits_hold(state: &State<'_>) -> Verdict {
    let live = &state.world.live;
    let (Some(run), Some(settings)) = (&live.run, &live.settings) else { return Ok(()) };
    let (counters, limits) = (&run.counters, &settings.limits);
    let patient = counters.failures <= limits.model_retries || limits.provider_wait_ms > 0;
    // A call that gives the answer is the answer, also at the cap; one that is rejected is given again.
    let answers = settings.output.as_ref().map_or(0, |_| limits.rejections.saturating_add(1));
    let held = counters.tool_rounds <= limits.tool_rounds.saturating_add(answers)
        // What had to be asked again does not count.
        && counters.model_calls <= limits.model_calls.saturating_add(counters.retries)
        && patient
        // Once more, and a person is asked.
        && counters.reprompts <= limits.reprompts.saturating_add(1)
        && counters.rejections <= limits.rejections.saturating_add(1)
        && counters.output_retries <= limits.output_retries.saturating_add(1)
        && run.recoveries.total <= limits.recoveries
        && counters.truncations <= limits.truncations + 2
        && run.steers.len() <= limits.waiting_steers as usize + 1
        && run.memories.len() <= limits.waiting_steers as usize
        // The one task of a child is never refused: its parent waits for it.
        && live.queue.len() <= limits.queued_prompts as usize + usize::from(live.parent.is_some());
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

fn reserved_in_full(fact: &Fact<'_>) -> Verdict {
    let Record::Asked { max_tokens, reserved_tokens, .. } = fact.record else { return Ok(()) };
    let due = fact.now.meter.estimate(fact.now.request_bytes()).saturating_add(*max_tokens);
    ensure(*reserved_tokens >= due, || format!("reserved {reserved_tokens} of {due}"))
}

fn warned_once(fact: &Fact<'_>) -> Verdict {
    let Record::BudgetWarned { percent } = fact.record else { return Ok(()) };
    let again = fact.now.run.as_ref().is_none_or(|run| run.warned == Warned::Yes);
    ensure(!again && *percent >= 80, || format!("at {percent} per cent, warned before: {again}"))
}

fn counsel_is_charged(fact: &Fact<'_>) -> Verdict {
    let Record::CounselHeard { charged, .. } = fact.record else { return Ok(()) };
    let sought = fact.now.run.as_ref().and_then(Run::consulting).map(|sought| &sought.about);
    let Some(all) = sought.and_then(Counsel::in_full) else { return Ok(()) };
    let told = matches!(fact.entry.input, Input::Counselled { .. });
    let paid = charged.map_or(0, |usage| usage.total());
    let due = if told { 1 } else { all.total() };
    ensure(paid >= due, || format!("paid {paid} of {due}"))
}

fn falls_back_once(fact: &Fact<'_>) -> Verdict {
    let Record::FellBack { .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let may = settings.fallback.is_some() && run.model == InUse::First;
    let Limits { model_retries, fallback_failures, .. } = settings.limits;
    let tried = run.counters.failures >= model_retries.min(fallback_failures - 1);
    ensure(may && tried, || format!("{:?} after {} failures", run.model, run.counters.failures))
}
