//! Who kept the run going or held it back: the watch for circles, gates, stop hooks, budgets, time.

use windlass::core::record::Record;

use super::Sentence;
use super::words;
use crate::look::story::Moment;

/// Listens to what guards and gates say.
pub(super) fn hear(said: &mut Vec<Sentence>, moment: Moment<'_>) {
    let limits = moment.now.settings.as_ref().map(|settings| settings.limits.clone());
    let limits = limits.unwrap_or_default();
    let counters = moment.now.run.as_ref().map(|run| run.counters.clone()).unwrap_or_default();
    let text = match moment.record {
        Record::Watched { level, found: Some(found) } => Some(words::circles(*level, found)),
        Record::Rejected { by, reason, .. } => {
            Some(words::rejected(*by, reason, &counters, &limits))
        }
        Record::Suspected { why } => Some(words::suspect(why)),
        Record::TimeUp { limit } => Some(words::time_up(*limit).to_owned()),
        Record::Slept {} => Some(words::SLEPT.to_owned()),
        Record::BudgetWarned { percent } => Some(words::budget_warned(*percent)),
        Record::BudgetExtended {} => Some(words::BUDGET_EXTENDED.to_owned()),
        Record::Guided { .. } => Some(words::GUIDED.to_owned()),
        Record::Granted { rule, folder } => Some(words::granted(rule, folder)),
        Record::CancelRequested { how, .. } => Some(words::stopping(*how).to_owned()),
        Record::MailRefused { why, .. } => Some(words::refused(why)),
        _ => None,
    };
    Sentence::add(said, text, moment.entry.seq);
}
