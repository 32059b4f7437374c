//! Compares what the store says with what the ledger says, for one conversation.
//!
//! Not here: the product's own fold. A bug in it must not blind the one who looks for bugs.

mod effects;
mod ending;
mod order;
mod questions;

pub(crate) use effects::is_block_of;

use crate::fault::Fault;
use crate::plan::Plan;
use crate::store::Lane;

/// All that is known of a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'e> {
    pub(crate) plan: &'e Plan,
    pub(crate) lane: &'e Lane,
    pub(crate) ledger: &'e [String],
}

/// Everything that is wrong with it.
pub(crate) fn faults(evidence: Evidence<'_>) -> Vec<Fault> {
    let mut faults = order::faults(evidence.lane);
    faults.extend(effects::faults(evidence));
    faults.extend(questions::faults(evidence.lane));
    faults.extend(ending::faults(evidence.lane));
    faults
}

/// Whether a human was asked about it.
pub(crate) fn was_surfaced(lane: &Lane) -> bool {
    !lane.questions().is_empty()
}
