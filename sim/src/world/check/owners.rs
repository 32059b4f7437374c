//! The streams of runs.

use windlass_core::ids::RunId;
use windlass_runtime::End;

use super::{Case, ensure};
use crate::world::witness::OwnerEnd;

/// A stream that says its run finished said so once, last, and truthfully.
pub(super) fn end_once(case: &Case<'_>) -> Result<(), String> {
    for owner in &case.evidence.seen.owners {
        let times = owner.ended.iter().filter(|run| is_mine(owner, run)).count();
        ensure(times <= 1, || format!("{:?} ended {times} times", owner.run))?;
        ensure(owner.after_end == 0, || {
            format!("{:?}: {} items after", owner.run, owner.after_end)
        })?;
        ensure(is_told(owner, times), || format!("{:?} ended as {:?}", owner.run, owner.end))?;
    }
    Ok(())
}

fn is_mine(owner: &OwnerEnd, run: &RunId) -> bool {
    owner.run.as_ref().is_none_or(|mine| mine == run)
}

/// Whoever saw the end is told it; whoever is told another run's end was told wrongly.
fn is_told(owner: &OwnerEnd, times: usize) -> bool {
    match &owner.end {
        Ok(End::Finished(ended)) => is_mine(owner, &ended.run),
        Ok(End::Parked(_) | End::Refused(_) | End::HandedOver) | Err(_) => times == 0,
    }
}
