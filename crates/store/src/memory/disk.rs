//! What survives: the world as running processes see it, and as it would be after a power cut.

use std::collections::VecDeque;
use std::sync::Arc;

use windlass_core::ids::LaneId;
use windlass_core::record::Durability;
use windlass_runtime::ports::{Append, Claim, StoreError, Task};

use super::place;
use super::world::World;

/// What a crash leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All that was committed: the process died, the machine did not.
    Committed,
    /// Only what was synced: the machine lost power.
    Synced,
    /// What was synced and this many of the commits after it. A simulated store remembers them;
    /// any other loses them all.
    SyncedAnd(usize),
}

/// How an append goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendFault {
    /// Nothing lands and this is said.
    BeforeCommit(StoreError),
    /// It lands, although this is said.
    AfterCommit(StoreError),
}

impl AppendFault {
    /// It did not land, but nobody can know.
    #[must_use]
    pub fn lost() -> Self {
        Self::BeforeCommit(broken())
    }

    /// It landed, but nobody can know.
    #[must_use]
    pub fn unanswered() -> Self {
        Self::AfterCommit(broken())
    }
}

fn broken() -> StoreError {
    StoreError::Broken { place: place(), reason: "the connection was cut".to_owned() }
}

/// Called before an operation takes effect.
pub type Hook = Arc<dyn Fn(Operation) -> Task<'static, ()> + Send + Sync>;

/// What is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Mail is accepted.
    Deliver,
    /// A lane is taken.
    Claim,
    /// A lane is given back.
    Release,
    /// A worker says it is alive.
    Beat,
    /// Entries are appended.
    Append,
    /// A lane is forked.
    Fork,
    /// A lane is said to be somebody's.
    Introduce,
    /// What dead owners left is settled.
    Reconcile,
    /// Something is read.
    Read,
}

#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) now: World,
    synced: World,
    /// The world after each commit since the last sync; kept only for simulations.
    commits: Option<Vec<World>>,
    unsynced: usize,
    faults: VecDeque<AppendFault>,
    /// Looks whose answers are lost.
    lost_looks: usize,
    /// Claims that are answered and then forgotten.
    forgotten_claims: usize,
}

impl Disk {
    pub(super) fn remembering() -> Self {
        Self { commits: Some(Vec::new()), ..Self::default() }
    }

    pub(super) fn plan(&mut self, fault: AppendFault) {
        self.faults.push_back(fault);
    }

    pub(super) fn lose_next_look(&mut self) {
        self.lost_looks += 1;
    }

    pub(super) fn forget_next_claim(&mut self) {
        self.forgotten_claims += 1;
    }

    /// Takes a lane; a crash may forget it as soon as it is answered.
    pub(super) fn claim(
        &mut self,
        change: impl FnOnce(&mut World) -> Result<Claim, StoreError>,
    ) -> Result<Claim, StoreError> {
        if self.forgotten_claims == 0 {
            return self.commit(Durability::Commit, change);
        }
        let claim = change(&mut self.now.clone())?;
        self.forgotten_claims -= 1;
        Ok(claim)
    }

    /// Takes lanes that want to be driven; the answer may be lost.
    pub(super) fn look(
        &mut self,
        change: impl FnOnce(&mut World) -> Result<Vec<(LaneId, Claim)>, StoreError>,
    ) -> Result<Vec<(LaneId, Claim)>, StoreError> {
        let claims = self.commit(Durability::Commit, change)?;
        if claims.is_empty() || self.lost_looks == 0 {
            return Ok(claims);
        }
        self.lost_looks -= 1;
        Err(broken())
    }

    pub(super) fn unsynced(&self) -> usize {
        self.unsynced
    }

    /// Changes everything or nothing.
    pub(super) fn commit<T>(
        &mut self,
        durability: Durability,
        change: impl FnOnce(&mut World) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut next = self.now.clone();
        let value = change(&mut next)?;
        self.now = next;
        match durability {
            Durability::Barrier => self.sync(),
            Durability::Volatile | Durability::Commit => self.remember(),
        }
        Ok(value)
    }

    pub(super) fn append(&mut self, append: &Append) -> Result<(), StoreError> {
        let change = |world: &mut World| world.append(append);
        match self.faults.pop_front() {
            None => self.commit(append.durability, change),
            Some(AppendFault::BeforeCommit(error)) => Err(error),
            Some(AppendFault::AfterCommit(error)) => {
                self.commit(append.durability, change).and(Err(error))
            }
        }
    }

    pub(super) fn crash(&mut self, keep: Keep) {
        match keep {
            Keep::Committed => (),
            Keep::Synced => self.now = self.synced.clone(),
            Keep::SyncedAnd(commits) => self.now = self.after(commits),
        }
        self.sync();
    }

    fn after(&self, commits: usize) -> World {
        let kept = commits.min(self.unsynced).checked_sub(1);
        let remembered = kept.and_then(|last| self.commits.as_ref()?.get(last));
        remembered.unwrap_or(&self.synced).clone()
    }

    fn sync(&mut self) {
        self.synced = self.now.clone();
        self.unsynced = 0;
        self.commits.iter_mut().for_each(Vec::clear);
    }

    fn remember(&mut self) {
        self.unsynced = self.unsynced.saturating_add(1);
        if let Some(commits) = &mut self.commits {
            commits.push(self.now.clone());
        }
    }
}
