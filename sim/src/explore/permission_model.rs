//! A second, independent implementation of the permission rules: the explored tools have no subject
//! that a rule could be scoped to, so their names decide.

use windlass_core::call::call_facts::AnsweredBy;
use windlass_core::call::call_state::Call;
use windlass_core::log::ids::CallId;
use windlass_core::permission::{
    DefaultDecision, HookPreference, HumanAvailability, PermissionMode, PermissionRule, Permissions,
};
use windlass_core::settings::conversation_settings::Settings;

use super::ledger::Ledger;

/// What must have happened before a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredConsent {
    /// The call may never run.
    Never,
    /// A human approved this very call.
    Human,
    /// A human approved this very call before the mode asked no one any more.
    EarlierHuman,
    /// A classifier allowed it, or a human who was asked because the classifier was unsure.
    Classifier,
    /// Nothing must have happened.
    Free,
}

/// Returns what must have happened before `call` may run.
pub(crate) fn required_consent(
    settings: &Settings,
    call: &Call,
    ledger: &Ledger,
) -> RequiredConsent {
    let rules = &settings.rules;
    let lean = ledger.preference_of(call.id);
    match consent_by_rules(rules, call, lean, ledger) {
        RequiredConsent::Human if rules.human == HumanAvailability::Absent => {
            RequiredConsent::Never
        }
        standing => standing,
    }
}

fn consent_by_rules(
    rules: &Permissions,
    call: &Call,
    lean: HookPreference,
    ledger: &Ledger,
) -> RequiredConsent {
    let tool = &call.tool_use.name;
    let looks = only_looks(call);
    if is_denied(rules, tool) {
        return RequiredConsent::Never;
    }
    let never = is_against_mode(rules, call);
    if names(&rules.ask, tool) {
        return RequiredConsent::Human;
    }
    let allowed = names(&rules.allow, tool) || names(ledger.grants(), tool) || looks;
    match lean {
        _ if never => RequiredConsent::Never,
        HookPreference::Ask => RequiredConsent::Human,
        _ if rules.mode == PermissionMode::BypassPermissions || allowed => RequiredConsent::Free,
        _ if rules.mode == PermissionMode::DontAsk => RequiredConsent::EarlierHuman,
        HookPreference::Allow => RequiredConsent::Free,
        HookPreference::Neutral if rules.mode == PermissionMode::Auto => {
            RequiredConsent::Classifier
        }
        HookPreference::Neutral => by_default(rules.default_decision),
    }
}

fn by_default(otherwise: DefaultDecision) -> RequiredConsent {
    match otherwise {
        DefaultDecision::Ask => RequiredConsent::Human,
        DefaultDecision::Allow => RequiredConsent::Free,
        DefaultDecision::Deny => RequiredConsent::Never,
    }
}

/// Whether the mode lets no such call run.
fn is_against_mode(rules: &Permissions, call: &Call) -> bool {
    match rules.mode {
        PermissionMode::PlanNone => true,
        PermissionMode::Plan => !only_looks(call),
        _ => false,
    }
}

/// Whether a deny rule or the mode lets no such call run, whoever approves it.
pub(crate) fn is_forbidden(rules: &Permissions, call: &Call) -> bool {
    is_denied(rules, &call.tool_use.name) || is_against_mode(rules, call)
}

/// Whether a deny rule names the tool.
pub(crate) fn is_denied(rules: &Permissions, tool: &str) -> bool {
    names(&rules.deny, tool) || names(&rules.disallowed, tool)
}

/// Whether an ask rule names the tool, and no deny rule does.
pub(crate) fn is_asked(rules: &Permissions, tool: &str) -> bool {
    names(&rules.ask, tool) && !is_denied(rules, tool)
}

fn names(rules: &[PermissionRule], tool: &str) -> bool {
    rules.iter().any(|rule| rule.covers_tool(tool))
}

/// Whether the call is read-only. The journal and child runs belong to the runtime: what they do is
/// decided there.
fn only_looks(call: &Call) -> bool {
    let ours = matches!(
        call.facts.answered_by,
        AnsweredBy::Journal | AnsweredBy::Children | AnsweredBy::PlanApproval
    );
    ours || (call.facts.touches.is_read() && call.facts.is_repeatable())
}

/// Whether the required consent was given.
pub(crate) fn has_leave(settings: &Settings, call: &Call, ledger: &Ledger) -> bool {
    let id: CallId = call.id;
    match required_consent(settings, call, ledger) {
        RequiredConsent::Never => false,
        RequiredConsent::Human | RequiredConsent::EarlierHuman => ledger.is_approved(id),
        RequiredConsent::Classifier => ledger.is_approved(id) || ledger.is_vouched_for(id),
        RequiredConsent::Free => true,
    }
}
