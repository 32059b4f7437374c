//! Spending caps: what a model call may still cost, and what happens when a cap is reached.

use super::draft::DecisionDraft;
use crate::budget::spending::{
    self, CallAllowance, CapAction, CapCheck, ModelPrice, PlannedCall, Spending, SpendingCaps,
    UnpricedPolicy,
};
use crate::call::call_state::CallState;
use crate::log::record::{OutputBound, Record};
use crate::message::reply::TokenUsage;
use crate::permission::HumanAvailability;
use crate::run::active_run::Run;
use crate::run::conversation::Conversation;
use crate::run::side_requests;
use crate::settings::conversation_settings::{ModelSpec, Settings};
use crate::stop::StopCause;

/// Share of the budget above which a warning is recorded, in per cent.
const BUDGET_WARNING_PERCENT: u64 = 80;

/// Returns the output tokens of a call with this cap, and what bounds them; or the cap that leaves
/// too few.
pub(super) fn affordable_output(
    draft: &DecisionDraft<'_>,
    cap_tokens: u64,
) -> Result<(u64, OutputBound), StopCause> {
    let Some(settings) = draft.state().active_settings() else {
        return Err(StopCause::BudgetTokens);
    };
    let planned = planned_call(draft, &settings, cap_tokens);
    let CallAllowance { max_tokens, lowered_by } =
        spending::allow_call(planned, settings.model.price.as_ref(), &reserving_scopes(draft))?;
    let bound = match lowered_by {
        None => OutputBound::Cap,
        Some(StopCause::BudgetUsd) => OutputBound::Money,
        Some(_) => OutputBound::Budget,
    };
    Ok((max_tokens, bound))
}

fn planned_call(draft: &DecisionDraft<'_>, settings: &Settings, cap_tokens: u64) -> PlannedCall {
    PlannedCall {
        input_tokens: estimate_input_tokens(draft),
        cap_tokens: cap_tokens.clamp(1, settings.model.max_output_tokens.max(1)),
        least_tokens: settings.limits.least_output_tokens,
    }
}

/// Caps with the spending that counts under them.
pub(crate) type CappedSpending = (SpendingCaps, Spending);

/// Returns the caps of the run.
fn run_scope(draft: &DecisionDraft<'_>) -> CappedSpending {
    draft.run().map_or_else(CappedSpending::default, |run| draft.state().run_scope(run.spent))
}

/// Returns all other caps that apply.
fn other_scopes(draft: &DecisionDraft<'_>) -> [CappedSpending; 4] {
    draft.state().scopes_beside_the_run()
}

fn all_scopes(draft: &DecisionDraft<'_>) -> Vec<CappedSpending> {
    std::iter::once(run_scope(draft)).chain(other_scopes(draft)).collect()
}

/// Returns the caps from which the worst case of a model call is reserved.
fn reserving_scopes(draft: &DecisionDraft<'_>) -> Vec<CappedSpending> {
    let (mut caps, spent) = run_scope(draft);
    if is_run_usd_checked_after_reply(draft) {
        caps.usd_micros = None;
    }
    std::iter::once((caps, spent)).chain(other_scopes(draft)).collect()
}

fn is_run_usd_checked_after_reply(draft: &DecisionDraft<'_>) -> bool {
    let settings = draft.state().settings.as_ref();
    settings.is_some_and(|settings| settings.budget.run_usd_check == CapCheck::AfterReply)
}

impl Conversation {
    /// Returns whether the budget covers a request to the model for side requests.
    pub(crate) fn can_afford(&self, cost: &TokenUsage) -> bool {
        let planned = PlannedCall {
            input_tokens: cost.input_tokens,
            cap_tokens: cost.output_tokens,
            least_tokens: cost.output_tokens,
        };
        let spent = self.run.as_ref().map(|run| run.spent).unwrap_or_default();
        let run = std::iter::once(self.run_scope(spent));
        let scopes: Vec<CappedSpending> = run.chain(self.scopes_beside_the_run()).collect();
        spending::allow_call(planned, self.side_model_price().as_ref(), &scopes).is_ok()
    }

    /// Returns the caps of the run, raised as often as a human extended them, with what the run
    /// spent.
    pub(crate) fn run_scope(&self, spent: Spending) -> CappedSpending {
        let Some(settings) = &self.settings else { return CappedSpending::default() };
        let limit = SpendingCaps { tokens: settings.limits.run_tokens, usd_micros: None };
        let extensions = self.run.as_ref().map_or(0, |run| run.budget_extensions);
        let caps = settings.budget.run.tighter_of(&limit);
        (caps.multiplied_by(u64::from(extensions).saturating_add(1)), self.add_reserved(spent))
    }

    /// Returns the caps of a call, the conversation, its parent and its profile, in this order.
    pub(crate) fn scopes_beside_the_run(&self) -> [CappedSpending; 4] {
        let Some(settings) = &self.settings else { return Default::default() };
        let spent = self.add_reserved(self.spent);
        let shared = match &self.shared_spending {
            Some(seen) => seen.with_own_spending(&spent),
            None => {
                let mut shared = settings.budget.profile.spent;
                shared.add_spending(&spent);
                shared
            }
        };
        let granted = self.parent.as_ref().map(|parent| parent.caps).unwrap_or_default();
        [
            (settings.budget.call, Spending::default()),
            (settings.budget.conversation, spent),
            (granted, spent),
            (settings.budget.profile.caps, shared),
        ]
    }

    /// Adds what is reserved to `spent`: what child runs and classifiers may spend counts as spent
    /// until they return.
    fn add_reserved(&self, mut spent: Spending) -> Spending {
        spent.add_spending(&self.reserved_spending());
        spent
    }

    /// Returns what working child runs and classifiers may still spend.
    fn reserved_spending(&self) -> Spending {
        let mut reserved = Spending::default();
        for orphan in &self.orphans {
            reserved.add_spending(&orphan.granted.as_spending());
        }
        let round = self.run.as_ref().and_then(Run::round);
        for call in round.into_iter().flat_map(|round| &round.calls) {
            if let Some(pending) = call.pending_children() {
                let granted = pending.granted.as_spending();
                (0..pending.outstanding_count()).for_each(|_| reserved.add_spending(&granted));
            }
            if call.state == CallState::AwaitingClassifier {
                reserved.add_usage(
                    &side_requests::CLASSIFICATION_COST,
                    self.side_model_price().as_ref(),
                );
            }
        }
        reserved
    }

    /// Returns what the conversation spent and what is reserved for it: the worst case of its calls
    /// in progress. A child run spends from its parent's budget and has none of its own.
    #[must_use]
    pub fn committed_spending(&self) -> Spending {
        if self.parent.is_some() {
            return Spending::default();
        }
        let mut committed = self.spent;
        committed.add_spending(&self.reserved_spending());
        if let Some(asking) = self.run.as_ref().and_then(Run::pending_model_call) {
            let reserved = TokenUsage {
                input_tokens: asking.reserved_tokens.saturating_sub(asking.max_tokens),
                output_tokens: asking.max_tokens,
                ..TokenUsage::default()
            };
            committed.add_usage(&reserved, self.active_price().as_ref());
        }
        committed
    }
}

/// Records what is spent under the profile's cap, if there is one and the number is new.
pub(super) fn on_shared_spending_updated(draft: &mut DecisionDraft<'_>, total: Spending) {
    let own = draft.state().committed_spending();
    let known = draft.state().shared_spending.map(|seen| seen.with_own_spending(&own));
    let has_cap =
        draft.settings().is_some_and(|it| it.budget.profile.caps != SpendingCaps::default());
    // Before a run starts, only its prompt knows whether it will have a cap.
    let may_have_cap = has_cap || draft.run().is_none();
    if may_have_cap && known != Some(total) {
        draft.record(Record::SharedSpendingUpdated { total });
    }
}

/// Returns what each of `tasks` child runs may spend: an equal share of what is left, with one
/// share for the parent.
pub(super) fn child_share(draft: &DecisionDraft<'_>, tasks: usize) -> SpendingCaps {
    // A cap on one call does not apply to child runs, which make calls of their own.
    let [_, rest @ ..] = other_scopes(draft);
    let rest = rest
        .iter()
        .chain([&run_scope(draft)])
        .fold(SpendingCaps::default(), |tightest, (caps, spent)| {
            tightest.tighter_of(&caps.remaining(spent))
        });
    rest.divided_by((tasks as u64).saturating_add(1))
}

/// Returns whether the budget covers a classifier.
pub(super) fn can_afford_classifier(draft: &DecisionDraft<'_>) -> bool {
    can_afford_side_request(draft, &side_requests::CLASSIFICATION_COST)
}

/// Returns whether the budget covers a side request of this cost.
fn can_afford_side_request(draft: &DecisionDraft<'_>, cost: &TokenUsage) -> bool {
    let Some(settings) = draft.state().active_settings() else { return false };
    let planned = PlannedCall {
        input_tokens: cost.input_tokens,
        cap_tokens: cost.output_tokens,
        least_tokens: cost.output_tokens,
    };
    !lacks_required_price(draft, side_requests::side_model(&settings))
        && spending::allow_call(
            planned,
            draft.state().side_model_price().as_ref(),
            &all_scopes(draft),
        )
        .is_ok()
}

/// Returns the output tokens of a judge request and what is reserved for it; nothing if the budget
/// does not cover it.
pub(super) fn judge_tokens(draft: &DecisionDraft<'_>) -> Option<(u64, u64)> {
    let cost = side_requests::JUDGE_COST;
    can_afford_side_request(draft, &cost).then_some((cost.output_tokens, cost.total_tokens()))
}

/// Returns the output tokens of any other side request; or the cap that leaves too few.
pub(super) fn side_request_output(
    draft: &DecisionDraft<'_>,
    planned: PlannedCall,
    price: Option<&ModelPrice>,
) -> Result<u64, StopCause> {
    Ok(spending::allow_call(planned, price, &all_scopes(draft))?.max_tokens)
}

/// Returns the cap that is exceeded, if any.
pub(super) fn exceeded_cap(draft: &DecisionDraft<'_>) -> Option<StopCause> {
    let (caps, spent) = run_scope(draft);
    let is_reached = caps.usd_micros.is_some_and(|cap| spent.usd_micros >= cap);
    if is_reached && is_run_usd_checked_after_reply(draft) {
        return Some(StopCause::BudgetUsd);
    }
    all_scopes(draft).iter().find_map(|(caps, spent)| caps.exceeded_cap(spent))
}

/// Returns the estimated tokens of the next request: the last count of the provider, and an
/// estimate for what was added since.
pub(super) fn estimate_input_tokens(draft: &DecisionDraft<'_>) -> u64 {
    let now = draft.state();
    let meter = if now.meter.is_uncalibrated() && could_reach_cap(draft) {
        now.meter_from_count()
    } else {
        now.current_meter()
    };
    meter.estimate(now.request_bytes())
}

/// Returns whether a cap could be reached if every byte were a token: only then tokens are counted.
fn could_reach_cap(draft: &DecisionDraft<'_>) -> bool {
    let Some(settings) = draft.state().active_settings() else { return false };
    let most = PlannedCall {
        input_tokens: draft.state().request_bytes(),
        cap_tokens: settings.model.max_tokens,
        least_tokens: settings.limits.least_output_tokens,
    };
    let room = spending::allow_call(most, settings.model.price.as_ref(), &reserving_scopes(draft));
    room.map_or(true, |allowance| allowance.lowered_by.is_some())
}

/// Records a warning when most of a budget is spent, once per run.
pub(super) fn warn_if_near_cap(draft: &mut DecisionDraft<'_>) {
    let share = all_scopes(draft).iter().map(|(caps, spent)| caps.spent_percent(spent)).max();
    let warned = draft.run().is_some_and(|run| run.is_budget_warning_given);
    if let Some(percent) = share.filter(|percent| *percent >= BUDGET_WARNING_PERCENT && !warned) {
        draft.record(Record::BudgetWarned { percent });
    }
}

/// Returns whether a human may let the run spend its cap once more: only the run's own cap can be
/// raised this way, so the others must leave enough.
pub(super) fn can_extend_budget(draft: &DecisionDraft<'_>) -> bool {
    let (Some(run), Some(settings)) = (draft.run(), draft.state().active_settings()) else {
        return false;
    };
    let asks = settings.budget.at_cap == CapAction::Ask
        && settings.rules.human == HumanAvailability::Available;
    let planned = planned_call(draft, &settings, run.output_cap_tokens);
    let others = other_scopes(draft);
    asks && others.iter().all(|(caps, spent)| caps.exceeded_cap(spent).is_none())
        && spending::allow_call(planned, settings.model.price.as_ref(), &others).is_ok()
}

/// Returns whether a dollar cap could not be enforced with this model because its price is unknown.
pub(super) fn lacks_required_price(draft: &DecisionDraft<'_>, model: &ModelSpec) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let granted = draft.state().parent.as_ref().and_then(|parent| parent.caps.usd_micros);
    let counts_money = settings.budget.has_money_cap() || granted.is_some();
    counts_money && model.price.is_none() && settings.budget.unpriced == UnpricedPolicy::Refuse
}
