//! Invariants of limits and spending.

use windlass_core::Conversation;
use windlass_core::budget::spending::{ModelPrice, Spending, SpendingCaps};
use windlass_core::call::call_state::CallState;
use windlass_core::log::input::{FailureClass, Input};
use windlass_core::log::record::Record;
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::active_run::{ActiveModel, Run};
use windlass_core::run::review::Review;
use windlass_core::run::side_requests::CLASSIFICATION_RESERVED_TOKENS;
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::settings::limits::Limits;

use super::child_runs::is_awaited;
use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StateInvariant, StateUnderTest, ensure,
};

pub(super) const STATES: &[StateInvariant] = &[
    ("spend stays within its caps, children included", spend_is_capped),
    ("a run stays within its limits", limits_hold),
];

pub(super) const FACTS: &[RecordInvariant] = &[
    ("a model call that began is paid for", abandoned_is_charged),
    ("a model call reserves what it may cost", reserved_in_full),
    ("a budget is warned about once, when most is spent", warned_once),
    ("a review is paid for", counsel_is_charged),
    ("a run falls back to the next model alone", falls_back_in_order),
];

/// Returns the caps that apply, each with what counts under it.
fn scopes(c: &Conversation) -> Vec<(SpendingCaps, Spending)> {
    let (Some(run), Some(settings)) = (&c.run, &c.settings) else { return Vec::new() };
    let budget = &settings.budget;
    let limit = SpendingCaps { tokens: settings.limits.run_tokens, usd_micros: None };
    let of_run = budget.run.tighter_of(&limit).multiplied_by(u64::from(run.budget_extensions) + 1);
    let mut profile = budget.profile.spent;
    profile.add_spending(&c.spent);
    let parent = c.parent.as_ref().map_or_else(SpendingCaps::default, |parent| parent.caps);
    vec![
        (of_run, run.spent),
        (budget.conversation, c.spent),
        (budget.profile.caps, profile),
        (parent, c.spent),
    ]
}

fn price(c: &Conversation, settings: &Settings) -> Option<ModelPrice> {
    let active = c.run.as_ref().map_or(ActiveModel::Primary, |run| run.active_model);
    active.find(settings).unwrap_or(&settings.model).price
}

fn worst_case(reserved_tokens: u64, max_tokens: u64, price: Option<&ModelPrice>) -> Spending {
    let usage = TokenUsage {
        input_tokens: reserved_tokens.saturating_sub(max_tokens),
        output_tokens: max_tokens,
        ..TokenUsage::default()
    };
    let mut spent = Spending::default();
    spent.add_usage(&usage, price);
    spent
}

/// Returns what the effects in flight may cost, and what child runs may spend.
fn in_the_air(state: &StateUnderTest<'_>) -> Spending {
    let live = &state.world.live;
    let price = live.settings.as_ref().and_then(|settings| price(live, settings));
    let asking = live.run.as_ref().and_then(Run::pending_model_call);
    let mut due = asking.map_or_else(Spending::default, |asking| {
        worst_case(asking.reserved_tokens, asking.max_tokens, price.as_ref())
    });
    let sought = live.run.as_ref().and_then(Run::pending_review).map(|sought| &sought.review);
    if let Some(all) = sought.and_then(Review::full_usage) {
        due.add_spending(&worst_case(all.total_tokens(), all.output_tokens, price.as_ref()));
    }
    due.tokens = due.tokens.saturating_add(classification_count(live));
    for kid in state.world.ledger.started_children().iter().filter(|kid| is_awaited(live, kid)) {
        due.add_spending(&kid.granted.as_spending());
    }
    due
}

/// Where nothing costs more than was reserved, no cap is ever exceeded.
fn spend_is_capped(state: &StateUnderTest<'_>) -> InvariantResult {
    let due = in_the_air(state);
    for (caps, spent) in scopes(&state.world.live) {
        let mut all = spent;
        all.add_spending(&due);
        ensure(caps.exceeded_cap(&all).is_none(), || format!("{all:?} of {caps:?}"))?;
    }
    Ok(())
}

/// Returns what the classifiers in flight may cost.
fn classification_count(c: &Conversation) -> u64 {
    let calls = c.run.as_ref().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
    let referred = calls.filter(|call| call.state == CallState::AwaitingClassifier).count() as u64;
    referred.saturating_mul(CLASSIFICATION_RESERVED_TOKENS)
}

/// Whether the remaining budget covers one more classifier.
pub(super) fn pays_for_opinion(c: &Conversation) -> bool {
    let due = Spending {
        tokens: classification_count(c) + CLASSIFICATION_RESERVED_TOKENS,
        usd_micros: 0,
    };
    scopes(c).iter().all(|(caps, spent)| {
        let mut all = *spent;
        all.add_spending(&due);
        caps.exceeded_cap(&all).is_none()
    })
}

/// Whether the remaining budget does not cover a call worth making.
pub(super) fn is_short(c: &Conversation) -> bool {
    let (Some(run), Some(settings)) = (&c.run, &c.settings) else { return false };
    let input = c.meter.estimate(c.request_bytes());
    let output = settings.limits.least_output_tokens.min(run.output_cap_tokens);
    let price = price(c, settings);
    let least = worst_case(input + output, output, price.as_ref());
    scopes(c).iter().any(|(caps, spent)| {
        let mut all = *spent;
        all.add_spending(&least);
        caps.exceeded_cap(&all).is_some()
    })
}

fn limits_hold(state: &StateUnderTest<'_>) -> InvariantResult {
    let live = &state.world.live;
    let (Some(run), Some(settings)) = (&live.run, &live.settings) else { return Ok(()) };
    let (counters, limits) = (&run.counters, &settings.limits);
    let patient = counters.failures <= limits.model_retries || limits.provider_wait_ms > 0;
    // A call that gives the answer counts as the answer, also at the cap; a rejected one is given
    // again.
    let answers = settings.output.as_ref().map_or(0, |_| limits.rejections.saturating_add(1));
    let held = counters.tool_rounds <= limits.tool_rounds.saturating_add(answers)
        // Retries do not count.
        && counters.model_calls <= limits.model_calls.saturating_add(counters.retries)
        && patient
        // Once more, and a human is asked.
        && counters.reprompts <= limits.reprompts.saturating_add(1)
        && counters.rejections <= limits.rejections.saturating_add(1)
        && counters.output_retries <= limits.output_retries.saturating_add(1)
        && run.recoveries.total <= limits.recoveries
        && counters.truncations <= limits.truncations + 2
        && run.steers.len() <= limits.waiting_steers as usize + 1
        && run.memories.len() <= limits.waiting_steers as usize
        // The one task of a child is never rejected: its parent waits for it.
        && live.prompt_queue.len() <= limits.queued_prompts as usize + usize::from(live.parent.is_some());
    ensure(held, || {
        format!("{counters:?}, {} steers, {} prompts", run.steers.len(), live.prompt_queue.len())
    })
}

/// Only a failure before the first token is free.
fn abandoned_is_charged(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallAbandoned { charged, .. } = fact.record else { return Ok(()) };
    let reserved = fact
        .now
        .run
        .as_ref()
        .and_then(Run::pending_model_call)
        .map_or(0, |asking| asking.reserved_tokens);
    let free = match &fact.entry.input {
        Input::ModelFailed { failure, .. } => failure.class != FailureClass::StreamCut,
        _ => false,
    };
    let due = if free { 0 } else { reserved };
    ensure(charged.total_tokens() == due, || format!("charged {} of {due}", charged.total_tokens()))
}

fn reserved_in_full(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallStarted { max_tokens, reserved_tokens, .. } = fact.record else {
        return Ok(());
    };
    let due = fact.now.meter.estimate(fact.now.request_bytes()).saturating_add(*max_tokens);
    ensure(*reserved_tokens >= due, || format!("reserved {reserved_tokens} of {due}"))
}

fn warned_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::BudgetWarned { percent } = fact.record else { return Ok(()) };
    let again = fact.now.run.as_ref().is_none_or(|run| run.is_budget_warning_given);
    ensure(!again && *percent >= 80, || format!("at {percent} per cent, warned before: {again}"))
}

fn counsel_is_charged(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ReviewCompleted { charged, .. } = fact.record else { return Ok(()) };
    let sought = fact.now.run.as_ref().and_then(Run::pending_review).map(|sought| &sought.review);
    let Some(all) = sought.and_then(Review::full_usage) else { return Ok(()) };
    let told = matches!(fact.entry.input, Input::ReviewReturned { .. });
    let paid = charged.map_or(0, |usage| usage.total_tokens());
    let due = if told { 1 } else { all.total_tokens() };
    ensure(paid >= due, || format!("paid {paid} of {due}"))
}

fn falls_back_in_order(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::FallbackModelSelected { .. } = fact.record else { return Ok(()) };
    let (Some(run), Some(settings)) = (&fact.now.run, &fact.now.settings) else { return Ok(()) };
    let may = run.active_model.next().find(settings).is_some();
    let Limits { model_retries, fallback_failures, .. } = settings.limits;
    let tried = run.counters.failures >= model_retries.min(fallback_failures - 1);
    ensure(may && tried, || {
        format!("{:?} after {} failures", run.active_model, run.counters.failures)
    })
}
