//! What the rules say of a call, written a second time and on its own: the explored tools are about
//! nothing that a rule could be scoped to, so their names decide.

use windlass_core::call::Call;
use windlass_core::facts::AnsweredBy;
use windlass_core::ids::CallId;
use windlass_core::permission::{Human, Lean, Mode, Otherwise, Permissions, Rule};
use windlass_core::settings::Settings;

use super::ledger::Ledger;

/// What must have happened before a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It never may.
    Never,
    /// A human said yes to this very call.
    Human,
    /// A classifier said yes, or a human who was asked because it could not tell.
    Classifier,
    /// Nothing.
    Free,
}

/// What must have happened before `call` may run.
pub(crate) fn standing(settings: &Settings, call: &Call, ledger: &Ledger) -> Standing {
    let rules = &settings.rules;
    let lean = ledger.lean_of(call.id);
    match plainly(rules, call, lean, ledger) {
        Standing::Human if rules.human == Human::Absent => Standing::Never,
        standing => standing,
    }
}

fn plainly(rules: &Permissions, call: &Call, lean: Lean, ledger: &Ledger) -> Standing {
    let tool = &call.tool_use.name;
    let looks = only_looks(call);
    let never = match rules.mode {
        Mode::PlanNone => true,
        Mode::Plan => !looks,
        _ => false,
    };
    if is_denied(rules, tool) {
        return Standing::Never;
    }
    if names(&rules.ask, tool) {
        return Standing::Human;
    }
    let allowed = names(&rules.allow, tool) || names(ledger.grants(), tool) || looks;
    match lean {
        _ if never => Standing::Never,
        Lean::Ask => Standing::Human,
        _ if rules.mode == Mode::BypassPermissions || allowed => Standing::Free,
        _ if rules.mode == Mode::DontAsk => Standing::Never,
        Lean::Allow => Standing::Free,
        Lean::Neutral if rules.mode == Mode::Auto => Standing::Classifier,
        Lean::Neutral => by_default(rules.otherwise),
    }
}

fn by_default(otherwise: Otherwise) -> Standing {
    match otherwise {
        Otherwise::Ask => Standing::Human,
        Otherwise::Allow => Standing::Free,
        Otherwise::Deny => Standing::Never,
    }
}

/// Whether a deny rule names the tool.
pub(crate) fn is_denied(rules: &Permissions, tool: &str) -> bool {
    names(&rules.deny, tool) || names(&rules.disallowed, tool)
}

/// Whether an ask rule names the tool, and no deny rule does.
pub(crate) fn is_asked(rules: &Permissions, tool: &str) -> bool {
    names(&rules.ask, tool) && !is_denied(rules, tool)
}

fn names(rules: &[Rule], tool: &str) -> bool {
    rules.iter().any(|rule| rule.names(tool))
}

/// The journal and children are the runtime's own: what they lead to is judged there.
fn only_looks(call: &Call) -> bool {
    let ours = matches!(
        call.facts.answered_by,
        AnsweredBy::Journal | AnsweredBy::Children | AnsweredBy::PlanApproval
    );
    ours || (call.facts.touches.is_read() && call.facts.is_repeatable())
}

/// Whether what must have happened did.
pub(crate) fn has_leave(settings: &Settings, call: &Call, ledger: &Ledger) -> bool {
    let id: CallId = call.id;
    match standing(settings, call, ledger) {
        Standing::Never => false,
        Standing::Human => ledger.is_approved(id),
        Standing::Classifier => ledger.is_approved(id) || ledger.is_vouched_for(id),
        Standing::Free => true,
    }
}
