//! What kept a run going or stopped it: loop detection, completion gate, stop hooks, budgets, time
//! limits.

use windlass::core::log::record::Record;

use super::ExplainSentence;
use super::explain_messages;
use crate::inspect::history::RecordContext;

/// Collects sentences about guards and gates from a record.
pub(super) fn observe(said: &mut Vec<ExplainSentence>, moment: RecordContext<'_>) {
    let limits = moment.after.settings.as_ref().map(|settings| settings.limits.clone());
    let limits = limits.unwrap_or_default();
    let counters = moment.after.run.as_ref().map(|run| run.counters.clone()).unwrap_or_default();
    let text = match moment.record {
        Record::LoopDetectionUpdated { level, finding: Some(found) } => {
            Some(explain_messages::loop_detected(*level, found))
        }
        Record::AnswerRejected { by, reason, .. } => {
            Some(explain_messages::answer_rejected(*by, reason, &counters, &limits))
        }
        Record::AnswerMarkedSuspect { why } => Some(explain_messages::suspect_answer(why)),
        Record::TimeLimitReached { limit } => {
            Some(explain_messages::time_limit_reached(*limit).to_owned())
        }
        Record::SleepDetected {} => Some(explain_messages::SLEEP_DETECTED.to_owned()),
        Record::BudgetWarned { percent } => Some(explain_messages::budget_warned(*percent)),
        Record::BudgetExtended {} => Some(explain_messages::BUDGET_EXTENDED.to_owned()),
        Record::GuidanceGiven { .. } => Some(explain_messages::GUIDANCE_GIVEN.to_owned()),
        Record::RuleGranted { rule, folder } => Some(explain_messages::rule_granted(rule, folder)),
        Record::CancelRequested { mode, .. } => {
            Some(explain_messages::stop_requested(*mode).to_owned())
        }
        Record::CommandRejected { why, .. } => Some(explain_messages::command_rejected(why)),
        _ => None,
    };
    ExplainSentence::push_or_repeat(said, text, moment.entry.seq);
}
