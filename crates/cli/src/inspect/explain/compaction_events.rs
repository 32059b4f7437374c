//! Compaction: which pruning stage or recovery step was used, what it freed, and what did not help.

use windlass::StopCause;
use windlass::core::context::{UsableWindow, WindowThresholds};
use windlass::core::log::record::Record;
use windlass::core::run::conversation::Conversation;

use super::{ExplainSentence, RunPast};
use crate::inspect::compaction_report::{explain_stuck, window_usage};
use crate::inspect::history::RecordContext;
use crate::messages::report;

/// Collects sentences about compaction from a record.
pub(super) fn observe(said: &mut Vec<ExplainSentence>, moment: RecordContext<'_>) {
    let text = match moment.record {
        Record::CompactionRequested { .. } => {
            Some(report::explain::COMPACTION_REQUESTED.to_owned())
        }
        Record::Pruned { stage, rewrites } => {
            Some(report::explain::pruning_done(*stage, rewrites.len(), &measure_freed(moment)))
        }
        Record::Compacted { step, kept_segments, .. } => Some(report::explain::compaction_done(
            *step,
            kept_segments.len(),
            &measure_freed(moment),
        )),
        Record::RecoveryStepUsed { step } => Some(report::explain::recovery_step_used(*step)),
        _ => None,
    };
    ExplainSentence::push_or_repeat(said, text, moment.entry.seq);
}

/// Tokens before and after a compaction, and whether that is enough.
pub(crate) struct FreedTokens {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) percent_after: u64,
    pub(crate) target_percent: u64,
}

fn measure_freed(moment: RecordContext<'_>) -> FreedTokens {
    let tokens = |c: &Conversation| c.meter.estimate(c.request_bytes());
    let settings = moment.after.active_settings();
    let after = tokens(moment.after);
    let share = |usable: UsableWindow| usable.percent(after);
    let usable = settings
        .as_ref()
        .map(|settings| UsableWindow::new(settings.model.window_tokens, settings.model.max_tokens));
    let thresholds = settings
        .as_ref()
        .map_or_else(WindowThresholds::default, |settings| settings.window.thresholds);
    FreedTokens {
        before: tokens(moment.before),
        after,
        percent_after: usable.map_or(0, share),
        target_percent: thresholds.gain,
    }
}

/// Adds how full the window is and, if it is too full, why nothing helped.
pub(super) fn add_window_state(
    mut said: Vec<ExplainSentence>,
    past: &RunPast<'_>,
) -> Vec<ExplainSentence> {
    let blocked = past.run_end().is_some_and(|ended| {
        ended.cause == StopCause::BlockingLimit
            || ended.other_causes.contains(&StopCause::BlockingLimit)
    });
    if blocked {
        let entry = past.end_entry.unwrap_or(past.last_entry);
        let why = explain_stuck(&past.state_before_end).into_iter();
        said.extend(why.map(|text| ExplainSentence::new(text, entry)));
    } else {
        said.extend(window_usage(&past.state_at_end).map(ExplainSentence::without_proof));
    }
    let used = past.state_before_end.run.as_ref().filter(|run| run.id == *past.run);
    if let (Some(run), Some(settings)) = (used, past.state_at_end.settings.as_ref())
        && run.recoveries.total > 0
    {
        let most = settings.limits.recoveries;
        said.push(ExplainSentence::without_proof(report::explain::recoveries_used(
            run.recoveries.total,
            most,
        )));
    }
    said
}
