//! Money and tokens: what a call may still cost, and what happens when a cap is reached.

use std::sync::Arc;

use super::boundary;
use super::calls;
use super::draft::Draft;
use crate::aside;
use crate::budget::{self, AtCap, Caps, Planned, Price, Room, Spent, Unpriced};
use crate::call::CallState;
use crate::conversation::Conversation;
use crate::permission::Human;
use crate::question::About;
use crate::record::{OutputBound, Record};
use crate::reply::Usage;
use crate::run::{Run, Warned};
use crate::settings::{Model, Settings};
use crate::stop::StopCause;

/// A share of the budget that is worth a warning, in per cent.
const WARN_PERCENT: u64 = 80;

/// Output tokens of a call with this cap, and what bounds them; or the cap that leaves too few.
pub(super) fn affordable(
    draft: &Draft<'_>,
    cap_tokens: u64,
) -> Result<(u64, OutputBound), StopCause> {
    let Some(settings) = draft.now().settings_in_use() else { return Err(StopCause::BudgetTokens) };
    let planned = planned(draft, &settings, cap_tokens);
    let Room { max_tokens, lowered_by } =
        budget::room(planned, settings.model.price.as_ref(), &scopes(draft))?;
    let bound = match lowered_by {
        None => OutputBound::Cap,
        Some(StopCause::BudgetUsd) => OutputBound::Money,
        Some(_) => OutputBound::Budget,
    };
    Ok((max_tokens, bound))
}

fn planned(draft: &Draft<'_>, settings: &Settings, cap_tokens: u64) -> Planned {
    Planned {
        input_tokens: input_estimate(draft),
        cap_tokens: cap_tokens.clamp(1, settings.model.most_output_tokens.max(1)),
        least_tokens: settings.limits.least_output_tokens,
    }
}

/// A cap, with what counts as spent under it.
pub(crate) type Scope = (Caps, Spent);

/// The cap of the run.
fn of_run(draft: &Draft<'_>) -> Scope {
    draft.run().map_or_else(Scope::default, |run| draft.now().run_scope(run.spent))
}

/// Every other cap that applies.
fn of_others(draft: &Draft<'_>) -> [Scope; 4] {
    draft.now().scopes_beside_the_run()
}

fn scopes(draft: &Draft<'_>) -> Vec<Scope> {
    std::iter::once(of_run(draft)).chain(of_others(draft)).collect()
}

impl Conversation {
    /// The caps of the run, raised as often as a person said so, with what it spent.
    pub(crate) fn run_scope(&self, spent: Spent) -> Scope {
        let Some(settings) = &self.settings else { return Scope::default() };
        let limit = Caps { tokens: settings.limits.run_tokens, usd_micros: None };
        let extensions = self.run.as_ref().map_or(0, |run| run.extensions);
        let caps = settings.budget.run.tighter(&limit);
        (caps.times(u64::from(extensions).saturating_add(1)), self.with_lent(spent))
    }

    /// The caps of a call, the conversation, its parent and its profile, in this order.
    pub(crate) fn scopes_beside_the_run(&self) -> [Scope; 4] {
        let Some(settings) = &self.settings else { return Default::default() };
        let spent = self.with_lent(self.spent);
        let shared = match &self.shared_spending {
            Some(seen) => seen.with_own(&spent),
            None => {
                let mut shared = settings.budget.profile.spent;
                shared.plus(&spent);
                shared
            }
        };
        let granted = self.parent.as_ref().map(|parent| parent.caps).unwrap_or_default();
        [
            (settings.budget.call, Spent::default()),
            (settings.budget.conversation, spent),
            (granted, spent),
            (settings.budget.profile.caps, shared),
        ]
    }

    /// What children may spend is spent until they come back, and so is what classifiers may.
    fn with_lent(&self, mut spent: Spent) -> Spent {
        spent.plus(&self.lent());
        spent
    }

    /// What children that are at work, and classifiers, may still spend.
    fn lent(&self) -> Spent {
        let mut lent = Spent::default();
        for stray in &self.strays {
            lent.plus(&stray.granted.as_spent());
        }
        let round = self.run.as_ref().and_then(Run::round);
        for call in round.into_iter().flat_map(|round| &round.calls) {
            if let Some(away) = call.away() {
                let granted = away.granted.as_spent();
                (0..away.out()).for_each(|_| lent.plus(&granted));
            }
            if call.state == CallState::Referred {
                lent.add(&aside::OPINION_COST, self.price_beside().as_ref());
            }
        }
        lent
    }

    /// What the conversation spent and what is set aside for it: the whole of what its calls in
    /// progress may cost. A child draws on its parent and has nothing of its own.
    #[must_use]
    pub fn committed(&self) -> Spent {
        if self.parent.is_some() {
            return Spent::default();
        }
        let mut committed = self.spent;
        committed.plus(&self.lent());
        if let Some(asking) = self.run.as_ref().and_then(Run::asking) {
            let reserved = Usage {
                input_tokens: asking.reserved_tokens.saturating_sub(asking.max_tokens),
                output_tokens: asking.max_tokens,
                ..Usage::default()
            };
            committed.add(&reserved, self.price_in_use().as_ref());
        }
        committed
    }
}

/// Takes note of what is spent under the profile's cap, if there is one and the figure is new.
pub(super) fn spending_seen(draft: &mut Draft<'_>, total: Spent) {
    let own = draft.now().committed();
    let known = draft.now().shared_spending.map(|seen| seen.with_own(&own));
    let has_cap = draft.settings().is_some_and(|it| it.budget.profile.caps != Caps::default());
    // Before a run begins, only its prompt knows whether it will have one.
    let may_have_cap = has_cap || draft.run().is_none();
    if may_have_cap && known != Some(total) {
        draft.record(Record::SpendingSeen { total });
    }
}

/// What each of `tasks` children may spend: an equal share of what is left, the parent keeping one.
pub(super) fn share(draft: &Draft<'_>, tasks: usize) -> Caps {
    // A cap on one call says nothing about children, who make calls of their own.
    let [_, rest @ ..] = of_others(draft);
    let rest = rest
        .iter()
        .chain([&of_run(draft)])
        .fold(Caps::default(), |tightest, (caps, spent)| tightest.tighter(&caps.rest(spent)));
    rest.share((tasks as u64).saturating_add(1))
}

/// Whether a classifier can be paid.
pub(super) fn can_classify(draft: &Draft<'_>) -> bool {
    can_pay_beside(draft, &aside::OPINION_COST)
}

/// Whether a model that is asked beside the conversation can be paid so much.
fn can_pay_beside(draft: &Draft<'_>, cost: &Usage) -> bool {
    let Some(settings) = draft.now().settings_in_use() else { return false };
    let planned = Planned {
        input_tokens: cost.input_tokens,
        cap_tokens: cost.output_tokens,
        least_tokens: cost.output_tokens,
    };
    !is_unpriced(draft, aside::beside(&settings))
        && budget::room(planned, draft.now().price_beside().as_ref(), &scopes(draft)).is_ok()
}

/// Output tokens of a ruling and what is set aside for it; nothing if it cannot be paid.
pub(super) fn for_ruling(draft: &Draft<'_>) -> Option<(u64, u64)> {
    let cost = aside::RULING_COST;
    can_pay_beside(draft, &cost).then_some((cost.output_tokens, cost.total()))
}

/// Output tokens of any other call that is planned; or the cap that leaves too few.
pub(super) fn room(
    draft: &Draft<'_>,
    planned: Planned,
    price: Option<&Price>,
) -> Result<u64, StopCause> {
    Ok(budget::room(planned, price, &scopes(draft))?.max_tokens)
}

/// The caps that are passed.
pub(super) fn overspent(draft: &Draft<'_>) -> Option<StopCause> {
    scopes(draft).iter().find_map(|(caps, spent)| caps.is_passed(spent))
}

/// Tokens of the next request: the last real count, and an estimate of what came since.
pub(super) fn input_estimate(draft: &Draft<'_>) -> u64 {
    let now = draft.now();
    let meter = if now.meter.is_cold() && may_meet_a_cap(draft) {
        now.counted_meter()
    } else {
        now.meter_in_use()
    };
    meter.estimate(now.request_bytes())
}

/// Whether a cap could matter if every byte were a token: only then is it worth counting.
fn may_meet_a_cap(draft: &Draft<'_>) -> bool {
    let Some(settings) = draft.now().settings_in_use() else { return false };
    let most = Planned {
        input_tokens: draft.now().request_bytes(),
        cap_tokens: settings.model.max_tokens,
        least_tokens: settings.limits.least_output_tokens,
    };
    let room = budget::room(most, settings.model.price.as_ref(), &scopes(draft));
    room.map_or(true, |room| room.lowered_by.is_some())
}

/// Says once per run that most of a budget is spent.
pub(super) fn warn(draft: &mut Draft<'_>) {
    let share = scopes(draft).iter().map(|(caps, spent)| caps.spent_percent(spent)).max();
    let warned = draft.run().is_some_and(|run| run.warned == Warned::Yes);
    if let Some(percent) = share.filter(|percent| *percent >= WARN_PERCENT && !warned) {
        draft.record(Record::BudgetWarned { percent });
    }
}

/// Too little is left for a call: the run ends, or a human is asked for as much again.
pub(super) fn reached(draft: &mut Draft<'_>, cap: StopCause) {
    if can_be_raised(draft) {
        calls::question(draft, About::Budget { cap });
    } else {
        boundary::finish_badly(draft, &[cap]);
    }
}

/// Whether a human may let the run spend as much again: only its own cap can be raised this way, so
/// the others must leave enough.
pub(super) fn can_be_raised(draft: &Draft<'_>) -> bool {
    let (Some(run), Some(settings)) = (draft.run(), draft.now().settings_in_use()) else {
        return false;
    };
    let asks = settings.budget.at_cap == AtCap::Ask && settings.rules.human == Human::Reachable;
    let planned = planned(draft, &settings, run.cap_tokens);
    let others = of_others(draft);
    asks && others.iter().all(|(caps, spent)| caps.is_passed(spent).is_none())
        && budget::room(planned, settings.model.price.as_ref(), &others).is_ok()
}

/// Whether a cap on money could not be kept with this model.
pub(super) fn is_unpriced(draft: &Draft<'_>, model: &Model) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let granted = draft.now().parent.as_ref().and_then(|parent| parent.caps.usd_micros);
    let counts_money = settings.budget.counts_money() || granted.is_some();
    counts_money && model.price.is_none() && settings.budget.unpriced == Unpriced::Refuse
}

/// A cap on money means nothing without a price: such a run does not begin.
pub(super) fn refuses_to_begin(draft: &mut Draft<'_>) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let refuses = is_unpriced(draft, &settings.model);
    if refuses {
        let name = &settings.model.name;
        let said = format!(
            "price unknown for {name}, so a budget in dollars cannot be kept; give its price in \
             [models.\"{name}\"] of config.toml, set unpriced = \"free\" in the profile, or use a \
             budget in tokens"
        );
        boundary::finish(draft, &[StopCause::PriceUnknown], Some(Arc::from(said)));
    }
    refuses
}
