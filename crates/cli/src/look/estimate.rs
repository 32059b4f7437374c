//! Spending that was never measured: a model call whose process died before it reported its usage is
//! charged with the most it can have used.

use windlass::core::budget::Spent;
use windlass::core::record::Record;

use super::numbers::{counted, dollars};
use super::story::Moment;

/// Whether it is known what the model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priced {
    Yes,
    No,
}

/// What a moment charges without a measurement.
pub(crate) fn charged_unmeasured(moment: Moment<'_>) -> Spent {
    if !matches!(moment.record, Record::AttemptAbandoned { .. }) {
        return Spent::default();
    }
    let (before, now) = (&moment.before.spent, &moment.now.spent);
    Spent {
        tokens: now.tokens.saturating_sub(before.tokens),
        usd_micros: now.usd_micros.saturating_sub(before.usd_micros),
    }
}

/// Says which part of the spending is an estimate; nothing if all of it was measured.
pub(crate) fn estimate(estimated: Spent, priced: Priced) -> Option<String> {
    let money = match priced {
        Priced::Yes => format!(" ({})", dollars(estimated.usd_micros)),
        Priced::No => String::new(),
    };
    let are = if estimated.tokens == 1 { "is" } else { "are" };
    (estimated.tokens > 0).then(|| {
        format!(
            "Of that, {}{money} {are} an estimate, the most it can have been: a model call was \
             interrupted before it reported its usage.",
            counted(estimated.tokens, "token")
        )
    })
}
