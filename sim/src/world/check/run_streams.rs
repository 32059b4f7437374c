//! Checks of the event streams of runs.

use windlass_core::log::ids::RunId;
use windlass_runtime::RunOutcome;

use super::{CheckedWorld, ensure};
use crate::world::observation_log::OwnerEnd;

/// A stream that reports the end of its run does so once, last, and truthfully.
pub(super) fn end_once(case: &CheckedWorld<'_>) -> Result<(), String> {
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

/// A reader that saw the end gets it; the end of another run must not be reported.
fn is_told(owner: &OwnerEnd, times: usize) -> bool {
    match &owner.end {
        Ok(RunOutcome::Finished(ended)) => is_mine(owner, &ended.run),
        Ok(RunOutcome::Parked(_) | RunOutcome::Rejected(_) | RunOutcome::HandedOver) | Err(_) => {
            times == 0
        }
    }
}
