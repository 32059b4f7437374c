//! Tokens.

use windlass_core::record::Record;

use super::{Case, ensure};

/// Holds for providers that count honestly: one that claims to have used more than was asked for
/// cannot be bounded by asking.
pub(super) fn within_cap(case: &Case<'_>) -> Result<(), String> {
    if !case.evidence.honest_usage {
        return Ok(());
    }
    for history in &case.histories {
        let mut reserved = 0;
        for step in &history.steps {
            let limits = step.after.settings.as_ref().map(|settings| &settings.limits);
            let run = step.after.run.as_ref();
            let extended = u64::from(run.map_or(0, |run| run.extensions)).saturating_add(1);
            let cap = limits.and_then(|limits| limits.run_tokens);
            let cap = cap.map(|cap| cap.saturating_mul(extended));
            let spent = run.map_or(0, |run| run.spent.tokens);
            if let Some(cap) = cap {
                ensure(spent <= cap.saturating_add(reserved), || {
                    format!("{} entry {}: {spent} of {cap}", history.lane(), step.entry.seq)
                })?;
            }
            reserved = asked(&step.entry.records).unwrap_or(reserved);
        }
    }
    Ok(())
}

fn asked(records: &[Record]) -> Option<u64> {
    records.iter().rev().find_map(|record| match record {
        Record::Asked { reserved_tokens, .. } => Some(*reserved_tokens),
        Record::CounselSought { about, .. } => about.in_full().map(|all| all.total()),
        _ => None,
    })
}
