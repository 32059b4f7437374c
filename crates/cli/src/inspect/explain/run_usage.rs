//! Resources that a run used, against their limits.

use windlass::core::budget::spending::{Spending, SpendingCaps};
use windlass::core::run::active_run::RunCounters;
use windlass::core::settings::conversation_settings::Settings;

use super::{ExplainSentence, RunPast};
use crate::inspect::estimate::{Priced, estimate};
use crate::messages::report;

/// Rounds, model calls, time and cost, each with its limit.
pub(super) fn usage_sentences(past: &RunPast<'_>) -> Vec<ExplainSentence> {
    let Some(settings) = past.state_at_end.settings.as_deref() else { return Vec::new() };
    let Some(used) = compute_usage(past) else { return Vec::new() };
    let mut sentences = vec![
        ExplainSentence::without_proof(report::explain::round_usage(&used.counters, settings)),
        ExplainSentence::without_proof(report::explain::time_usage(used.active_ms, settings)),
        ExplainSentence::without_proof(report::explain::spending(
            used.spent,
            run_caps(settings),
            used.priced,
        )),
    ];
    sentences
        .extend(estimate(past.estimated_spending, used.priced).map(ExplainSentence::without_proof));
    let conversation = settings.budget.conversation;
    if conversation != SpendingCaps::default() {
        let spent = past.state_at_end.spent;
        sentences.push(ExplainSentence::without_proof(report::explain::conversation_spending(
            spent,
            conversation,
        )));
    }
    let profile = settings.budget.profile.caps;
    if let Some(seen) =
        past.state_at_end.shared_spending.filter(|_| profile != SpendingCaps::default())
    {
        let spent = seen.with_own_spending(&past.state_at_end.committed_spending());
        sentences.push(ExplainSentence::without_proof(report::explain::profile_spending(
            &settings.profile,
            spent,
            profile,
        )));
    }
    sentences
}

struct RunUsage {
    counters: RunCounters,
    active_ms: u64,
    spent: Spending,
    priced: Priced,
}

fn compute_usage(past: &RunPast<'_>) -> Option<RunUsage> {
    let price = past.state_at_end.active_settings()?.model.price;
    let priced = if price.is_some() { Priced::Yes } else { Priced::No };
    if let Some(ended) = past.run_end() {
        let counters = ended.counters.clone();
        return Some(RunUsage { counters, active_ms: ended.active_ms, spent: ended.spent, priced });
    }
    let run = past.state_at_end.run.as_ref().filter(|run| run.id == *past.run)?;
    let active_ms = past.state_at_end.active_ms(past.state_at_end.at);
    Some(RunUsage { counters: run.counters.clone(), active_ms, spent: run.spent, priced })
}

/// The budgets of a run: its own and the older one of the limits.
fn run_caps(settings: &Settings) -> SpendingCaps {
    settings
        .budget
        .run
        .tighter_of(&SpendingCaps { tokens: settings.limits.run_tokens, usd_micros: None })
}
