//! Loop detection: after every round, a hint, then a directive, then a person.

use super::boundary;
use super::counsel;
use super::draft::Draft;
use super::person;
use crate::call::Call;
use crate::record::{Found, Record, Transition};
use crate::run::Fatality;
use crate::thrash::{Detection, Detectors, Level, Seen};
use crate::words;

/// What the watch thinks of the round that is about to close.
pub(super) struct Watch {
    before: Level,
    level: Level,
    found: Option<Detection>,
}

/// Looks at the open round.
pub(super) fn look(draft: &Draft<'_>) -> Watch {
    let mut guard = draft.run().map(|run| run.guard.clone()).unwrap_or_default();
    let before = guard.level();
    let seen: Vec<Seen> = draft.calls().iter().filter_map(Call::seen).collect();
    let settings = draft.settings();
    let found = settings.and_then(|own| guard.observe(&seen, Detectors::of(&own)));
    Watch { before, level: guard.level(), found }
}

/// Says what was found, and asks the model, or a human. A run that ends here needs no advice.
pub(super) fn go_on(draft: &mut Draft<'_>, watch: Watch, fatal: Fatality) {
    let Watch { before, level, found } = watch;
    if level != before || found.is_some() {
        let found = found.as_ref().map(|d| Found { tier: d.tier, tool: d.tool.clone() });
        draft.record(Record::Watched { level, found });
    }
    let halted = draft.run().is_some_and(|run| run.halt().is_some());
    let ends = fatal == Fatality::Fatal || halted || !boundary::can_ask(draft);
    let summing_up = boundary::is_summing_up(draft);
    // A level that is held or falls says nothing: the calls brought something new.
    let speaks = (level > before || level == Level::Human) && !ends && !summing_up;
    match found.filter(|_| speaks).map(|found| (found.level, found.tool)) {
        Some((Level::Nudge, _)) => {
            counsel::note(draft, words::NUDGE);
            boundary::ask(draft, Transition::ToolResults);
        }
        Some((Level::Directive, _)) => {
            counsel::note(draft, words::DIRECTIVE);
            let lookup = draft.settings().and_then(|settings| settings.guards.lookup_tool.clone());
            boundary::ask_for(draft, Transition::ToolResults, lookup);
        }
        Some((Level::Human, tool)) => {
            person::ask_through_model(draft, &words::stuck(&tool), Transition::ToolResults);
        }
        Some((Level::Calm, _)) | None => {
            boundary::ask_after(draft, Transition::ToolResults, fatal);
        }
    }
}
