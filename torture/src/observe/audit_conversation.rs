//! Audits one conversation: compares the store with the effect ledger.
//!
//! Not here: the product's own fold. A bug in it must not hide itself from the audit.

mod effects;
mod log_order;
mod questions;
mod run_end;

pub(crate) use effects::is_effect_block;

use crate::observe::store::StoredLane;
use crate::observe::violation::Violation;
use crate::plan::conversation_plan::ConversationPlan;

/// Everything that is known of a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditEvidence<'e> {
    pub(crate) plan: &'e ConversationPlan,
    pub(crate) lane: &'e StoredLane,
    pub(crate) ledger: &'e [String],
}

/// Finds all violations of a conversation.
pub(crate) fn find_violations(evidence: AuditEvidence<'_>) -> Vec<Violation> {
    let mut faults = log_order::find_violations(evidence.lane);
    faults.extend(effects::find_violations(evidence));
    faults.extend(questions::find_violations(evidence.lane));
    faults.extend(run_end::find_violations(evidence.lane));
    faults
}

/// Returns whether a human was asked about the conversation.
pub(crate) fn was_human_asked(lane: &StoredLane) -> bool {
    !lane.questions().is_empty()
}
