//! Estimated spending: a model call whose process died before it reported its usage is charged with
//! the most it can have used.

use windlass::core::budget::spending::Spending;
use windlass::core::log::record::Record;

use super::history::RecordContext;
use crate::terminal::number_format::{count_noun, format_dollars};

/// Whether the price of the model is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priced {
    Yes,
    No,
}

/// What a record charges without a measurement.
pub(crate) fn charged_unmeasured(moment: RecordContext<'_>) -> Spending {
    if !matches!(moment.record, Record::ModelCallAbandoned { .. }) {
        return Spending::default();
    }
    let (before, now) = (&moment.before.spent, &moment.after.spent);
    Spending {
        tokens: now.tokens.saturating_sub(before.tokens),
        usd_micros: now.usd_micros.saturating_sub(before.usd_micros),
    }
}

/// Says which part of the spending is an estimate; `None` if all of it was measured.
pub(crate) fn estimate(estimated: Spending, priced: Priced) -> Option<String> {
    let money = match priced {
        Priced::Yes => format!(" ({})", format_dollars(estimated.usd_micros)),
        Priced::No => String::new(),
    };
    let are = if estimated.tokens == 1 { "is" } else { "are" };
    (estimated.tokens > 0).then(|| {
        format!(
            "Of that, {}{money} {are} an upper estimate: a model call was \
             interrupted before it reported its usage.",
            count_noun(estimated.tokens, "token")
        )
    })
}
