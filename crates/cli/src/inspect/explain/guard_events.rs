//! What kept a run going or stopped it: loops, completion gate, stop hooks, budgets, time
//! limits.

use windlass::core::log::record::Record;

use super::ExplainSentence;
use crate::inspect::history::RecordContext;
use crate::messages::report;

/// Collects sentences about guards and gates from a record.
pub(super) fn observe(said: &mut Vec<ExplainSentence>, moment: RecordContext<'_>) {
    let limits = moment.after.settings.as_ref().map(|settings| settings.limits.clone());
    let limits = limits.unwrap_or_default();
    let counters = moment.after.run.as_ref().map(|run| run.counters.clone()).unwrap_or_default();
    let text = match moment.record {
        Record::LoopDetectionUpdated { level, finding: Some(found) } => {
            Some(report::explain::loop_detected(*level, found))
        }
        Record::AnswerRejected { by, reason, .. } => {
            Some(report::explain::answer_rejected(*by, reason, &counters, &limits))
        }
        Record::AnswerMarkedSuspect { why } => Some(report::explain::suspect_answer(why)),
        Record::TimeLimitReached { limit } => {
            Some(report::explain::time_limit_reached(*limit).to_owned())
        }
        Record::SleepDetected {} => Some(report::explain::SLEEP_DETECTED.to_owned()),
        Record::BudgetWarned { percent } => Some(report::explain::budget_warned(*percent)),
        Record::BudgetExtended {} => Some(report::explain::BUDGET_EXTENDED.to_owned()),
        Record::GuidanceGiven { .. } => Some(report::explain::GUIDANCE_GIVEN.to_owned()),
        Record::RuleGranted { rule, folder } => Some(report::explain::rule_granted(rule, folder)),
        Record::CancelRequested { mode, .. } => {
            Some(report::explain::stop_requested(*mode).to_owned())
        }
        Record::CommandRejected { reason, .. } => Some(report::explain::command_rejected(reason)),
        _ => None,
    };
    ExplainSentence::push_or_repeat(said, text, moment.entry.seq);
}
