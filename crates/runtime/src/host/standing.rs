//! What a worker asks its host: who it is, what it drives, and whether it is to stop.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use windlass_core::ids::{Epoch, LaneId};

use super::{Driving, Host, Taken};
use crate::driver::DriveError;
use crate::ports::{ServedWorkspace, StoreError, WorkerId};
use crate::workers::Tally;

#[cfg(test)]
#[path = "standing_tests.rs"]
mod standing_tests;

/// How often it is looked whether every driver has stopped, if nobody says so.
const LOOK_MS: u64 = 20;

/// What ails a lane itself lasts: a process that knows more may come.
const AILING_MS: u64 = 60_000;

/// What ails its store passes, and others fare no better.
const TROUBLE_MS: u64 = 2_000;

/// How long a lane that could not be driven is left to others.
const fn shunned_ms(error: &DriveError) -> u64 {
    let DriveError::Store(error) = error else { return AILING_MS };
    match error {
        // Whoever took it may die: then it is anybody's again.
        StoreError::Fenced { .. } | StoreError::Busy { .. } => 0,
        StoreError::Full { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Locked { .. }
        | StoreError::Unreachable { .. }
        | StoreError::Broken { .. } => TROUBLE_MS,
        StoreError::NoLane { .. }
        | StoreError::Invalid { .. }
        | StoreError::Corrupt { .. }
        | StoreError::OlderSchema { .. }
        | StoreError::FromTheFuture { .. } => AILING_MS,
    }
}

impl Host {
    /// This process's name.
    pub(crate) fn worker(&self) -> &WorkerId {
        &self.lease.worker
    }

    /// Silence after which others may take its lanes.
    pub(crate) fn expiry_ms(&self) -> u64 {
        self.lease.times.expiry_ms
    }

    /// The workspaces that it serves.
    pub(crate) fn served(&self) -> Vec<ServedWorkspace> {
        self.agents.served()
    }

    /// How long tool calls may go on after it was told to hand over.
    pub(crate) fn grace_ms(&self) -> u64 {
        self.grace_ms.load(Ordering::SeqCst)
    }

    pub(crate) fn is_handing_over(&self) -> bool {
        self.hand_over.is_cancelled()
    }

    pub(crate) async fn handing_over(&self) {
        self.hand_over.cancelled().await;
    }

    /// Whether a driver of this process has the lane.
    pub(crate) fn is_driving(&self, lane: &LaneId) -> bool {
        self.slots().get(lane).is_some_and(|slot| slot.driving != Driving::No)
    }

    /// Leaves a lane that could not be driven to others for a while.
    pub(crate) fn shun(&self, lane: LaneId, error: &DriveError) {
        let now = self.agent().ports.clock.monotonic_ms();
        let mut shunned = self.shunned.lock().unwrap_or_else(PoisonError::into_inner);
        shunned.retain(|_, until| *until > now);
        shunned.insert(lane, now.saturating_add(shunned_ms(error)));
    }

    /// The lanes that are left to others now.
    pub(super) fn shunned(&self) -> Vec<LaneId> {
        let now = self.agent().ports.clock.monotonic_ms();
        let shunned = self.shunned.lock().unwrap_or_else(PoisonError::into_inner);
        shunned.iter().filter(|(_, until)| **until > now).map(|(lane, _)| lane.clone()).collect()
    }

    pub(super) async fn release(&self, lane: LaneId, epoch: Epoch) -> Result<(), StoreError> {
        self.store().release(lane, Arc::clone(&self.lease.worker), epoch).await
    }

    /// Gives back a lane that was taken and that nobody here drives. What cannot be given back now
    /// is given back on the next round.
    pub(crate) async fn give_back(&self, lane: LaneId, taken: &Taken) {
        let epoch = taken.claim.epoch;
        if self.release(lane.clone(), epoch).await.is_err() {
            self.kept().insert(lane, epoch);
        }
    }

    /// Drives the lanes that the store says are this process's and that nobody here knows of: the
    /// answer to a claim was lost.
    pub(crate) async fn take_up_unknown(self: &Arc<Self>) -> Result<(), StoreError> {
        let owned = self.store().owned(Arc::clone(&self.lease.worker)).await?;
        let shunned = self.shunned();
        for lane in owned {
            let is_kept = self.kept().contains_key(&lane);
            if !is_kept && !self.is_driving(&lane) && !shunned.contains(&lane) {
                self.attend(&lane);
            }
        }
        Ok(())
    }

    /// A store that refuses even a beat, and not because it cannot be reached, is past mending.
    pub(crate) async fn see_whether_the_store_stands(&self) {
        let beat = self.lease.beat(self.store()).await;
        if let Err(ruin @ (StoreError::Broken { .. } | StoreError::Corrupt { .. })) = beat {
            _ = self.ruin.set(ruin);
        }
    }

    /// Why this process must not go on, if it must not.
    pub(crate) fn ruin(&self) -> Option<&StoreError> {
        self.ruin.get()
    }

    /// What the reconciler did since it last told.
    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no driver of this process has a lane, but not for ever.
    pub(crate) async fn settled(&self, most_ms: u64) {
        let clock = &self.agent().ports.clock;
        let until = clock.monotonic_ms().saturating_add(most_ms);
        while self.drives_any() && clock.monotonic_ms() < until {
            tokio::select! {
                () = self.rested.notified() => {}
                () = clock.sleep(LOOK_MS) => {}
            }
        }
    }

    pub(super) fn drives_any(&self) -> bool {
        self.slots().values().any(|slot| slot.driving != Driving::No)
    }
}
