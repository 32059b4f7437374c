//! Guardrails: completion gate, schema of the answer, drift. They take the same steps as loop
//! detection: a hint, a directive, a person.

use std::sync::Arc;

use super::counsel;
use super::draft::Draft;
use super::person;
use crate::record::{Record, Rejection};
use crate::thrash::Level;
use crate::words;

/// The step that one more rejection is: the first is a hint, the last that is allowed and those
/// between are directives, and then a person is asked.
pub(super) fn next_level(draft: &Draft<'_>, by: Rejection) -> Level {
    let (used, most) = used(draft, by);
    if used >= most {
        Level::Human
    } else if used == 0 {
        Level::Nudge
    } else {
        Level::Directive
    }
}

fn used(draft: &Draft<'_>, by: Rejection) -> (u32, u32) {
    let limits = draft.limits();
    let Some(run) = draft.run() else { return (0, 0) };
    match by {
        Rejection::Schema => (run.counters.output_retries, limits.output_retries),
        Rejection::Drift => (run.counters.reprompts, limits.reprompts),
        Rejection::Checklist | Rejection::Hook | Rejection::Judge => {
            (run.counters.rejections, limits.rejections)
        }
    }
}

/// Records a rejection and tells the model why, from the second time on as a directive.
pub(super) fn record(draft: &mut Draft<'_>, by: Rejection, reason: &str, level: Level) {
    draft.record(Record::Rejected { by, reason: Arc::from(reason), level });
    let said = match by {
        Rejection::Drift => words::REPROMPT,
        Rejection::Checklist | Rejection::Hook | Rejection::Judge | Rejection::Schema => reason,
    };
    match level {
        Level::Calm | Level::Nudge => counsel::note(draft, said),
        Level::Directive | Level::Human => counsel::note(draft, &words::insist(said)),
    }
}

/// A person is asked how to go on.
pub(super) fn ask_person(draft: &mut Draft<'_>, by: Rejection, reason: &str) {
    let question = question(draft, by, reason);
    person::ask(draft, &question);
}

/// What a person is asked.
pub(super) fn question(draft: &Draft<'_>, by: Rejection, reason: &str) -> String {
    let (times, _) = used(draft, by);
    match by {
        Rejection::Drift => words::keeps_drifting(times),
        Rejection::Schema => words::never_fits(times),
        Rejection::Checklist | Rejection::Hook | Rejection::Judge => {
            words::keeps_failing(times, reason)
        }
    }
}
