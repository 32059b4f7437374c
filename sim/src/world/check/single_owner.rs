//! Checks of ownership: a lane has one owner at a time.

use std::collections::BTreeMap;

use windlass_core::log::ids::{Epoch, LaneId};
use windlass_core::log::record::Record;

use super::{CheckedWorld, ensure};

/// The lease check leaves no gap here, because a simulated process is not frozen between it and the
/// effect; a real one can be, once, for as long as the effect takes to start.
pub(super) fn no_stale_effects(case: &CheckedWorld<'_>) -> Result<(), String> {
    let seen = &case.evidence.seen;
    for effect in &seen.effects {
        let before = |claim: &&crate::world::observation_log::SeenClaim| {
            claim.lane == effect.lane && claim.tick < effect.started
        };
        let owner = seen.claims.iter().rev().find(before).map(|claim| claim.process);
        ensure(owner == Some(effect.process), || {
            format!("{} {} by process {}, owner {owner:?}", effect.lane, effect.key, effect.process)
        })?;
    }
    Ok(())
}

/// Epochs in a log rise, and each claim had its own.
pub(super) fn epochs_rise(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        let mut last: Epoch = 0;
        for (step, record) in history.records() {
            if let Record::OwnerChanged { epoch } = record {
                ensure(*epoch > last, || format!("{} entry {}", history.lane(), step.entry.seq))?;
                last = *epoch;
            }
        }
    }
    claims_differ(case)
}

fn claims_differ(case: &CheckedWorld<'_>) -> Result<(), String> {
    let seen = &case.evidence.seen;
    let mut last: BTreeMap<&LaneId, (u64, Epoch)> = BTreeMap::new();
    for claim in &seen.claims {
        let (tick, epoch) = last.insert(&claim.lane, (claim.tick, claim.epoch)).unwrap_or_default();
        let cut = seen.power_cuts.iter().any(|cut| tick < cut.tick && cut.tick < claim.tick);
        ensure(claim.epoch > epoch || cut, || format!("{} epoch {epoch} twice", claim.lane))?;
    }
    Ok(())
}
