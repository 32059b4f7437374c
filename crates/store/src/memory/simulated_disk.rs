//! Simulated disk: the state as running processes see it, and as it would be after a power cut.

use std::collections::VecDeque;
use std::sync::Arc;

use windlass_core::log::ids::LaneId;
use windlass_core::log::record::Durability;
use windlass_runtime::ports::{AppendRequest, BoxFuture, LaneClaim, StoreError};

use super::location;
use super::store_state::StoreState;

/// What survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashSurvival {
    /// All commits survive: the process crashed, the machine did not.
    Committed,
    /// Only synced commits survive: the machine lost power.
    Synced,
    /// Synced commits survive, and this many of the commits after them. Only a store with commit
    /// history has these; any other loses them all.
    SyncedAnd(usize),
}

/// How an append fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendFault {
    /// Nothing is committed, and this error is returned.
    BeforeCommit(StoreError),
    /// The append is committed, although this error is returned.
    AfterCommit(StoreError),
}

impl AppendFault {
    /// Fails without committing; the caller cannot tell.
    #[must_use]
    pub fn not_committed() -> Self {
        Self::BeforeCommit(connection_lost_error())
    }

    /// Commits and then fails; the caller cannot tell.
    #[must_use]
    pub fn committed_without_reply() -> Self {
        Self::AfterCommit(connection_lost_error())
    }
}

fn connection_lost_error() -> StoreError {
    StoreError::Broken { location: location(), reason: "connection lost".to_owned() }
}

/// A hook that is called before an operation takes effect.
pub type OperationHook = Arc<dyn Fn(StoreOperation) -> BoxFuture<'static, ()> + Send + Sync>;

/// The operation that is about to take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoreOperation {
    /// A message is enqueued.
    EnqueueMessage,
    /// A lane is claimed.
    Claim,
    /// A lane is released.
    Release,
    /// A worker records a heartbeat.
    Heartbeat,
    /// Entries are appended.
    Append,
    /// A lane is forked.
    Fork,
    /// A lane is registered.
    RegisterLane,
    /// Lanes of dead owners are reconciled.
    Reconcile,
    /// Something is read.
    Read,
}

#[derive(Debug, Default)]
pub(super) struct SimulatedDisk {
    pub(super) now: StoreState,
    synced: StoreState,
    /// The state after each commit since the last sync; recorded only for simulations.
    commits: Option<Vec<StoreState>>,
    unsynced: usize,
    faults: VecDeque<AppendFault>,
    /// How many claims of runnable lanes lose their replies.
    lost_claim_responses: usize,
    /// How many claims are acknowledged and then lost.
    forgotten_claims: usize,
}

impl SimulatedDisk {
    pub(super) fn with_commit_history() -> Self {
        Self { commits: Some(Vec::new()), ..Self::default() }
    }

    pub(super) fn queue_fault(&mut self, fault: AppendFault) {
        self.faults.push_back(fault);
    }

    pub(super) fn lose_next_claim_response(&mut self) {
        self.lost_claim_responses += 1;
    }

    pub(super) fn forget_next_claim(&mut self) {
        self.forgotten_claims += 1;
    }

    /// Claims a lane; a crash may lose the claim as soon as it is acknowledged.
    pub(super) fn claim(
        &mut self,
        change: impl FnOnce(&mut StoreState) -> Result<LaneClaim, StoreError>,
    ) -> Result<LaneClaim, StoreError> {
        if self.forgotten_claims == 0 {
            return self.commit(Durability::Commit, change);
        }
        let claim = change(&mut self.now.clone())?;
        self.forgotten_claims -= 1;
        Ok(claim)
    }

    /// Claims runnable lanes; the reply may be lost.
    pub(super) fn claim_runnable(
        &mut self,
        change: impl FnOnce(&mut StoreState) -> Result<Vec<(LaneId, LaneClaim)>, StoreError>,
    ) -> Result<Vec<(LaneId, LaneClaim)>, StoreError> {
        let claims = self.commit(Durability::Commit, change)?;
        if claims.is_empty() || self.lost_claim_responses == 0 {
            return Ok(claims);
        }
        self.lost_claim_responses -= 1;
        Err(connection_lost_error())
    }

    pub(super) fn unsynced_commits(&self) -> usize {
        self.unsynced
    }

    /// Applies a change as a whole or not at all.
    pub(super) fn commit<T>(
        &mut self,
        durability: Durability,
        change: impl FnOnce(&mut StoreState) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut next = self.now.clone();
        let value = change(&mut next)?;
        self.now = next;
        match durability {
            Durability::Barrier => self.sync(),
            Durability::Volatile | Durability::Commit => self.record_commit(),
        }
        Ok(value)
    }

    pub(super) fn append(&mut self, append: &AppendRequest) -> Result<(), StoreError> {
        let change = |world: &mut StoreState| world.append(append);
        match self.faults.pop_front() {
            None => self.commit(append.durability, change),
            Some(AppendFault::BeforeCommit(error)) => Err(error),
            Some(AppendFault::AfterCommit(error)) => {
                self.commit(append.durability, change).and(Err(error))
            }
        }
    }

    pub(super) fn crash(&mut self, keep: CrashSurvival) {
        match keep {
            CrashSurvival::Committed => (),
            CrashSurvival::Synced => self.now = self.synced.clone(),
            CrashSurvival::SyncedAnd(commits) => self.now = self.state_after(commits),
        }
        self.sync();
    }

    fn state_after(&self, commits: usize) -> StoreState {
        let kept = commits.min(self.unsynced).checked_sub(1);
        let remembered = kept.and_then(|last| self.commits.as_ref()?.get(last));
        remembered.unwrap_or(&self.synced).clone()
    }

    fn sync(&mut self) {
        self.synced = self.now.clone();
        self.unsynced = 0;
        self.commits.iter_mut().for_each(Vec::clear);
    }

    fn record_commit(&mut self) {
        self.unsynced = self.unsynced.saturating_add(1);
        if let Some(commits) = &mut self.commits {
            commits.push(self.now.clone());
        }
    }
}
