//! Checks of spending.

use windlass_core::log::record::Record;

use super::{CheckedWorld, ensure};

/// Holds for providers that count honestly: one that reports more than was requested cannot be
/// bounded by requests.
pub(super) fn within_cap(case: &CheckedWorld<'_>) -> Result<(), String> {
    if !case.evidence.honest_usage {
        return Ok(());
    }
    for history in &case.histories {
        let mut reserved = 0;
        for step in &history.steps {
            let limits = step.after.settings.as_ref().map(|settings| &settings.limits);
            let run = step.after.run.as_ref();
            let extended = u64::from(run.map_or(0, |run| run.budget_extensions)).saturating_add(1);
            let cap = limits.and_then(|limits| limits.run_tokens);
            let cap = cap.map(|cap| cap.saturating_mul(extended));
            let spent = run.map_or(0, |run| run.spent.tokens);
            if let Some(cap) = cap {
                ensure(spent <= cap.saturating_add(reserved), || {
                    format!("{} entry {}: {spent} of {cap}", history.lane(), step.entry.seq)
                })?;
            }
            reserved = reserved_tokens_in(&step.entry.records).unwrap_or(reserved);
        }
    }
    Ok(())
}

fn reserved_tokens_in(records: &[Record]) -> Option<u64> {
    records.iter().rev().find_map(|record| match record {
        Record::ModelCallStarted { reserved_tokens, .. } => Some(*reserved_tokens),
        Record::ReviewRequested { review, .. } => review.full_usage().map(|all| all.total_tokens()),
        _ => None,
    })
}
