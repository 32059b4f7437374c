//! Bugs of permissions.

use windlass_core::Input;
use windlass_core::input::{HookAnswer, Opinion};
use windlass_core::outcome::OutcomeKind;
use windlass_core::permission::{Mode, Otherwise};
use windlass_core::question::About;
use windlass_core::record::Record;

use super::rounds::{allow_instead, run_settled};
use super::{Mutant, Told, records};

pub(super) const MUTANTS: &[Mutant] = &[
    records("let an allow rule beat a deny", allow_beats_deny, &["lists"]),
    records("let an allow rule beat an ask", allow_beats_ask, &["lists"]),
    records("let a hook pass an ask rule", hook_passes_ask, &["leaning"]),
    records("let a hook pass a deny rule", hook_passes_deny, &["leaning"]),
    records("let a grant pass a deny rule", grant_passes_deny, &["grants"]),
    records("ignore a hook that wants a human", hook_ask_ignored, &["leaning"]),
    records("let a mode pass an ask rule", bypass_passes_ask, &["bypass"]),
    records("change something while planning", plan_changes, &["plan"]),
    records("run what no rule allows and nobody is asked about", runs_unasked, &["dont-ask"]),
    records("take a classifier's doubt for a yes", doubt_is_yes, &["auto"]),
    records("ignore a classifier's no", no_is_yes, &["auto"]),
    records("ask no classifier", unclassified, &["auto"]),
];

fn denied(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    run_settled(told, records, OutcomeKind::Denied)
}

fn approved(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    allow_instead(told, records, |about| matches!(about, About::Approval { .. }))
}

fn allow_beats_deny(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.rules.deny.clear();
        settings.rules.disallowed.clear();
    })
}

fn allow_beats_ask(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.rules.ask.clear())
}

fn hook_says(told: &Told<'_>, wanted: &HookAnswer) -> bool {
    matches!(told.input, Input::HookAnswered { answer, .. } if answer == wanted)
}

fn hook_passes_ask(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if hook_says(told, &HookAnswer::Allow {}) { approved(told, records) } else { records }
}

fn hook_passes_deny(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if hook_says(told, &HookAnswer::Allow {}) { denied(told, records) } else { records }
}

fn grant_passes_deny(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.state.grants.is_empty() { records } else { denied(told, records) }
}

fn hook_ask_ignored(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    if hook_says(told, &HookAnswer::Ask {}) { approved(told, records) } else { records }
}

fn bypass_passes_ask(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    approved(told, records)
}

fn plan_changes(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.rules.mode = Mode::Default)
}

fn runs_unasked(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.rules.mode = Mode::Default;
        settings.rules.otherwise = Otherwise::Allow;
    })
}

fn thinks(told: &Told<'_>, which: fn(&Opinion) -> bool) -> bool {
    matches!(told.input, Input::Classified { opinion, .. } if which(opinion))
}

fn doubt_is_yes(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let doubts = thinks(told, |opinion| matches!(opinion, Opinion::Unsure { .. }));
    if doubts { approved(told, records) } else { records }
}

fn no_is_yes(told: &Told<'_>, records: Vec<Record>) -> Vec<Record> {
    let says_no = thinks(told, |opinion| matches!(opinion, Opinion::Deny { .. }));
    if says_no { denied(told, records) } else { records }
}

fn unclassified(told: &Told<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.rules.mode = Mode::Default;
        settings.rules.otherwise = Otherwise::Allow;
    })
}
