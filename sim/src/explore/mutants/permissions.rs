//! Planted bugs in permissions.

use windlass_core::Input;
use windlass_core::call::outcome::OutcomeKind;
use windlass_core::log::input::{Classification, HookDecision};
use windlass_core::log::record::Record;
use windlass_core::permission::{DefaultDecision, PermissionMode};
use windlass_core::run::question::QuestionKind;

use super::rounds::{allow_instead, run_settled};
use super::{DecideCall, Mutant, records};

pub(super) const MUTANTS: &[Mutant] = &[
    records("let an allow rule beat a deny", allow_beats_deny, &["lists"]),
    records("let an allow rule beat an ask", allow_beats_ask, &["lists"]),
    records("let a hook pass an ask rule", hook_passes_ask, &["leaning"]),
    records("let a hook pass a deny rule", hook_passes_deny, &["leaning"]),
    records("let a grant pass a deny rule", grant_passes_deny, &["grants"]),
    records("ignore a hook that wants a human", hook_ask_ignored, &["leaning"]),
    records("let a mode pass an ask rule", bypass_passes_ask, &["bypass"]),
    records("change something while planning", plan_changes, &["plan"]),
    records("run what no rule allows without asking", runs_unasked, &["dont-ask"]),
    records("treat an unsure classifier as an allow", doubt_is_yes, &["auto"]),
    records("ignore a classifier that denies", no_is_yes, &["auto"]),
    records("ask no classifier", unclassified, &["auto"]),
];

fn denied(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    run_settled(told, records, OutcomeKind::Denied)
}

fn approved(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    allow_instead(told, records, |about| matches!(about, QuestionKind::Approval { .. }))
}

fn allow_beats_deny(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.rules.deny.clear();
        settings.rules.disallowed.clear();
    })
}

fn allow_beats_ask(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.rules.ask.clear())
}

fn hook_says(told: &DecideCall<'_>, wanted: &HookDecision) -> bool {
    matches!(told.input, Input::HookResponded { decision, .. } if decision == wanted)
}

fn hook_passes_ask(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if hook_says(told, &HookDecision::Allow {}) { approved(told, records) } else { records }
}

fn hook_passes_deny(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if hook_says(told, &HookDecision::Allow {}) { denied(told, records) } else { records }
}

fn grant_passes_deny(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if told.state.grants.is_empty() { records } else { denied(told, records) }
}

fn hook_ask_ignored(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    if hook_says(told, &HookDecision::Ask { reason: None }) {
        approved(told, records)
    } else {
        records
    }
}

fn bypass_passes_ask(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    approved(told, records)
}

fn plan_changes(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| settings.rules.mode = PermissionMode::Default)
}

fn runs_unasked(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.rules.mode = PermissionMode::Default;
        settings.rules.default_decision = DefaultDecision::Allow;
    })
}

fn thinks(told: &DecideCall<'_>, which: fn(&Classification) -> bool) -> bool {
    matches!(told.input, Input::CallClassified { classification, .. } if which(classification))
}

fn doubt_is_yes(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let doubts = thinks(told, |opinion| matches!(opinion, Classification::Unsure { .. }));
    if doubts { approved(told, records) } else { records }
}

fn no_is_yes(told: &DecideCall<'_>, records: Vec<Record>) -> Vec<Record> {
    let says_no = thinks(told, |opinion| matches!(opinion, Classification::Deny { .. }));
    if says_no { denied(told, records) } else { records }
}

fn unclassified(told: &DecideCall<'_>, _: Vec<Record>) -> Vec<Record> {
    told.decided_with(|settings| {
        settings.rules.mode = PermissionMode::Default;
        settings.rules.default_decision = DefaultDecision::Allow;
    })
}
