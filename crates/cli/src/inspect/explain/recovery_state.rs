//! How full the context is, and how many recoveries a run used.

use windlass::StopCause;

use super::{ExplainSentence, RunPast};
use crate::inspect::compaction_report::{explain_stuck, window_usage};
use crate::messages::report;

/// Adds how full the window is and, if it is too full, why nothing helped.
pub(super) fn add_window_state(
    mut sentences: Vec<ExplainSentence>,
    past: &RunPast<'_>,
) -> Vec<ExplainSentence> {
    let blocked = past.run_end().is_some_and(|ended| {
        ended.cause == StopCause::BlockingLimit
            || ended.other_causes.contains(&StopCause::BlockingLimit)
    });
    if blocked {
        let entry = past.end_entry.unwrap_or(past.last_entry);
        let why = explain_stuck(&past.state_before_end).into_iter();
        sentences.extend(why.map(|text| ExplainSentence::new(text, entry)));
    } else {
        sentences.extend(window_usage(&past.state_at_end).map(ExplainSentence::without_proof));
    }
    let used = past.state_before_end.run.as_ref().filter(|run| run.id == *past.run);
    if let (Some(run), Some(settings)) = (used, past.state_at_end.settings.as_ref())
        && run.recoveries.total > 0
    {
        let limit = settings.limits.recoveries;
        sentences.push(ExplainSentence::without_proof(report::explain::recoveries_used(
            run.recoveries.total,
            limit,
        )));
    }
    sentences
}

/// Adds how many of the recoveries from truncated replies were used.
pub(super) fn add_truncation_count(
    mut sentences: Vec<ExplainSentence>,
    past: &RunPast<'_>,
) -> Vec<ExplainSentence> {
    if let Some(settings) = past.state_at_end.settings.as_ref().filter(|_| past.max_truncations > 0)
    {
        let limit = settings.limits.truncations;
        sentences.push(ExplainSentence::without_proof(report::explain::truncations_used(
            past.max_truncations,
            limit,
        )));
    }
    sentences
}
