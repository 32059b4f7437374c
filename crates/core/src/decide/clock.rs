//! The time that was waited for has come.

use super::boundary;
use super::calls;
use super::draft::Draft;
use crate::record::Transition;
use crate::run::Phase;

pub(super) fn ticked(draft: &mut Draft<'_>) {
    let Some(run) = draft.run() else { return };
    match &run.phase {
        Phase::Deferred { until } if *until <= draft.at => boundary::ask(draft, Transition::Retry),
        Phase::Acting(_) | Phase::Halted(_) => calls::advance(draft),
        Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } => {}
    }
}
