//! Money and tokens: what a call may still cost, and what happens when a cap is reached.

use std::sync::Arc;

use super::boundary;
use super::calls;
use super::draft::Draft;
use crate::aside::OPINION_RESERVED_TOKENS;
use crate::budget::{self, AtCap, Caps, Planned, Price, Room, Spent, Unpriced};
use crate::call::{Call, CallState};
use crate::permission::Human;
use crate::question::About;
use crate::record::{OutputBound, Record};
use crate::reply::Usage;
use crate::run::Warned;
use crate::stop::StopCause;
use crate::window::Summariser;

/// A share of the budget that is worth a warning, in per cent.
const WARN_PERCENT: u64 = 80;

/// Output tokens of a call with this cap, and what bounds them; or the cap that leaves too few.
pub(super) fn affordable(
    draft: &Draft<'_>,
    cap_tokens: u64,
) -> Result<(u64, OutputBound), StopCause> {
    let Some(settings) = draft.now().settings_in_use() else { return Err(StopCause::BudgetTokens) };
    let planned = Planned {
        input_tokens: input_estimate(draft),
        cap_tokens: cap_tokens.clamp(1, settings.model.most_output_tokens.max(1)),
        least_tokens: settings.limits.least_output_tokens,
    };
    let Room { max_tokens, lowered_by } =
        budget::room(planned, settings.model.price.as_ref(), &scopes(draft))?;
    let bound = match lowered_by {
        None => OutputBound::Cap,
        Some(StopCause::BudgetUsd) => OutputBound::Money,
        Some(_) => OutputBound::Budget,
    };
    Ok((max_tokens, bound))
}

/// Every cap that applies, with what counts as spent under it. What children may spend is spent
/// until they come back.
fn scopes(draft: &Draft<'_>) -> [(Caps, Spent); 5] {
    let now = draft.now();
    let (Some(run), Some(settings)) = (&now.run, &now.settings) else { return Default::default() };
    let lent = lent(draft);
    let with_lent = |spent: Spent| {
        let mut spent = spent;
        spent.plus(&lent);
        spent
    };
    let mut shared = settings.budget.profile.spent;
    shared.plus(&with_lent(now.spent));
    [
        (settings.budget.call, Spent::default()),
        (run_caps(draft), with_lent(run.spent)),
        (settings.budget.conversation, with_lent(now.spent)),
        (settings.budget.profile.caps, shared),
        (now.parent.as_ref().map(|parent| parent.caps).unwrap_or_default(), with_lent(now.spent)),
    ]
}

/// The caps of the run, raised as often as a human said so.
fn run_caps(draft: &Draft<'_>) -> Caps {
    let (Some(run), Some(settings)) = (draft.run(), draft.settings()) else {
        return Caps::default();
    };
    let limit = Caps { tokens: settings.limits.run_tokens, usd_micros: None };
    settings.budget.run.tighter(&limit).times(u64::from(run.extensions).saturating_add(1))
}

/// What children that are at work may still spend, and classifiers that are asked.
fn lent(draft: &Draft<'_>) -> Spent {
    let mut lent = Spent::default();
    let opinion = opinion(draft);
    for _ in draft.calls().iter().filter(|call| call.state == CallState::Referred) {
        lent.plus(&opinion);
    }
    for away in draft.calls().iter().filter_map(Call::away) {
        for _ in 0..away.at_work() {
            lent.plus(&away.granted.as_spent());
        }
    }
    lent
}

/// What each of `tasks` children may spend: an equal share of what is left, the parent keeping one.
pub(super) fn share(draft: &Draft<'_>, tasks: usize) -> Caps {
    let rest = scopes(draft).iter().skip(1).fold(Caps::default(), |tightest, (caps, spent)| {
        tightest.tighter(&caps.rest(spent))
    });
    rest.share((tasks as u64).saturating_add(1))
}

/// Output tokens of any other call that is planned; or the cap that leaves too few.
pub(super) fn room(
    draft: &Draft<'_>,
    planned: Planned,
    price: Option<&Price>,
) -> Result<u64, StopCause> {
    Ok(budget::room(planned, price, &scopes(draft))?.max_tokens)
}

/// What a classifier may cost.
fn opinion(draft: &Draft<'_>) -> Spent {
    let usage = Usage { input_tokens: OPINION_RESERVED_TOKENS, ..Usage::default() };
    let mut spent = Spent::default();
    spent.add(&usage, price_of_aside(draft).as_ref());
    spent
}

/// What goes on beside the conversation may be done by another, cheaper model.
fn price_of_aside(draft: &Draft<'_>) -> Option<Price> {
    let settings = draft.now().settings_in_use()?;
    match &settings.window.summariser {
        Summariser::Model(model) => model.price,
        Summariser::Own | Summariser::Nobody => settings.model.price,
    }
}

/// Whether what is left pays for a classifier.
pub(super) fn pays_for_opinion(draft: &Draft<'_>) -> bool {
    let opinion = opinion(draft);
    scopes(draft).iter().all(|(caps, spent)| {
        let mut with_opinion = *spent;
        with_opinion.plus(&opinion);
        caps.is_passed(&with_opinion).is_none()
    })
}

/// The caps that are passed.
pub(super) fn overspent(draft: &Draft<'_>) -> Option<StopCause> {
    scopes(draft).iter().find_map(|(caps, spent)| caps.is_passed(spent))
}

/// Tokens of the next request: the last real count, and an estimate of what came since.
pub(super) fn input_estimate(draft: &Draft<'_>) -> u64 {
    draft.now().meter.estimate(draft.now().request_bytes())
}

/// Says once per run that most of a budget is spent.
pub(super) fn warn(draft: &mut Draft<'_>) {
    let share = scopes(draft).iter().map(|(caps, spent)| caps.spent_percent(spent)).max();
    let warned = draft.run().is_some_and(|run| run.warned == Warned::Yes);
    if let Some(percent) = share.filter(|percent| *percent >= WARN_PERCENT && !warned) {
        draft.record(Record::BudgetWarned { percent });
    }
}

/// Too little is left for a call: the run ends, or a human is asked for as much again. Only the
/// cap of the run can be raised this way.
pub(super) fn reached(draft: &mut Draft<'_>, cap: StopCause) {
    let asks = draft.settings().is_some_and(|settings| {
        settings.budget.at_cap == AtCap::Ask && settings.rules.human == Human::Reachable
    });
    if asks && is_of_run(draft) {
        calls::question(draft, About::Budget { cap });
    } else {
        boundary::finish_badly(draft, &[cap]);
    }
}

/// Whether the cap of the run is the one that leaves too little.
fn is_of_run(draft: &Draft<'_>) -> bool {
    let [_, (run, spent), others @ ..] = scopes(draft);
    let share = run.spent_percent(&spent);
    share > 0 && others.iter().all(|(caps, spent)| caps.spent_percent(spent) < share)
}

/// A cap on money means nothing without a price: such a run does not begin.
pub(super) fn refuses_to_begin(draft: &mut Draft<'_>) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let budget = &settings.budget;
    let refuses = budget.counts_money()
        && settings.model.price.is_none()
        && budget.unpriced == Unpriced::Refuse;
    if refuses {
        let said = format!(
            "the price of {} is not known, so a cap in dollars cannot be kept; give its price, or \
             cap tokens instead",
            settings.model.name
        );
        boundary::finish(draft, &[StopCause::BudgetUsd], Some(Arc::from(said)));
    }
    refuses
}
