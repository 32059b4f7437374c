//! The store as a model: lanes in memory, with a disk that can lose power and appends that can
//! fail on purpose. No threads and no clock, so a simulation of it repeats exactly.

mod append;
mod claim;
mod disk;
mod forget;
mod fork;
mod mail;
mod read;
mod reconcile;
mod records;
mod remove;
mod rows;
mod wanting;
mod world;

pub use disk::{AppendFault, Hook, Keep, Operation};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_core::budget::Spent;
use windlass_core::ids::{Epoch, LaneId, Millis, Seq};
use windlass_core::mail::Mail;
use windlass_core::project::{RawRow, Row};
use windlass_core::record::Durability;
use windlass_runtime::ports::{
    Append, Claim, Delivered, EncodedEntry, EventCount, Forget, Forgotten, LaneInfo, Left, Letter,
    Look, NumberedWorkerEvent, Reconcile, Removed, RunInfo, SeenBeat, ServedWorkspace,
    SpendingAccount, Store, StoreError, Task, ToolStats, TraceEnd, Whose, WorkerEvent,
    WorkerEventPage, WorkerId, WorkerInfo,
};

use crate::hints::Hints;
use crate::valid;
use disk::Disk;
use world::World;

/// A store that forgets everything with its process.
#[derive(Default)]
pub struct MemoryStore {
    disk: Mutex<Disk>,
    hook: Option<Hook>,
    hints: Hints,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store that remembers every commit since the last sync, so that a crash may keep
    /// any number of them.
    #[must_use]
    pub fn simulated() -> Self {
        Self { disk: Mutex::new(Disk::remembering()), ..Self::default() }
    }

    /// Waits for `hook` before every operation: a slow disk, or a place to be killed at.
    #[must_use]
    pub fn with_hook(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Loses what a dying process or a power cut would lose.
    pub fn crash(&self, keep: Keep) {
        self.disk().crash(keep);
    }

    /// How many commits a power cut could lose.
    #[must_use]
    pub fn unsynced(&self) -> usize {
        self.disk().unsynced()
    }

    /// Makes the next append fail; several faults are used up in order.
    pub fn fail_next_append(&self, fault: AppendFault) {
        self.disk().plan(fault);
    }

    /// The next look that takes lanes takes them, although it says that it failed.
    pub fn lose_next_look(&self) {
        self.disk().lose_next_look();
    }

    /// The next lane that is claimed by its name is not, although its owner is told so: the store's
    /// machine crashed before the claim was on its disk.
    pub fn forget_next_claim(&self) {
        self.disk().forget_next_claim();
    }

    /// Whether a claim stands.
    #[must_use]
    pub fn holds(&self, lane: &LaneId, worker: &WorkerId, epoch: Epoch) -> bool {
        self.disk().now.info(lane).is_some_and(|lane| lane.is_held_by(worker, epoch))
    }

    /// The rows written with a lane's entries, oldest first.
    #[must_use]
    pub fn rows(&self, lane: &LaneId) -> Vec<Row> {
        self.disk().now.rows(lane)
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn reach(&self, operation: Operation) {
        if let Some(hook) = &self.hook {
            hook(operation).await;
        }
    }

    async fn read<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        self.reach(Operation::Read).await;
        look(&self.disk().now)
    }
}

impl Store for MemoryStore {
    fn deliver(&self, lane: LaneId, letter: Letter) -> Task<'_, Result<Delivered, StoreError>> {
        Box::pin(async move {
            valid::lane(&lane)?;
            valid::letter(&letter)?;
            self.reach(Operation::Deliver).await;
            let change = |world: &mut World| Ok(world.deliver(&lane, &letter, &Whose::default()));
            let mail = self.disk().commit(Durability::Barrier, change)?;
            self.hints.tell(&lane);
            Ok(Delivered { mail })
        })
    }

    fn claim(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<SeenBeat>,
    ) -> Task<'_, Result<Claim, StoreError>> {
        Box::pin(async move {
            valid::lane(&lane)?;
            valid::worker(&worker)?;
            self.reach(Operation::Claim).await;
            self.disk().claim(|world: &mut World| world.claim(&lane, &worker, dead.as_ref()))
        })
    }

    fn release(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.reach(Operation::Release).await;
            let change = |world: &mut World| {
                world.release(&lane, &worker, epoch);
                Ok(())
            };
            self.disk().commit(Durability::Commit, change)
        })
    }

    fn beat(&self, worker: WorkerId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            self.reach(Operation::Beat).await;
            let change = |world: &mut World| {
                world.beat(&worker);
                Ok(())
            };
            self.disk().commit(Durability::Commit, change)
        })
    }

    fn append(&self, append: Append) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::append(&append)?;
            self.reach(Operation::Append).await;
            self.disk().append(&append)?;
            append.mail_out.iter().for_each(|(to, _)| self.hints.tell(to));
            Ok(())
        })
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<EncodedEntry>, StoreError>> {
        Box::pin(async move { self.read(|world| world.log(&lane, after, most)).await })
    }

    fn read_mail(&self, lane: LaneId, most: usize) -> Task<'_, Result<Vec<Mail>, StoreError>> {
        Box::pin(async move { self.read(|world| world.waiting_mail(&lane, most)).await })
    }

    fn fork(&self, parent: LaneId, at: Seq, child: LaneId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::lane(&child)?;
            self.reach(Operation::Fork).await;
            let change = |world: &mut World| world.fork(&parent, at, &child);
            self.disk().commit(Durability::Barrier, change)
        })
    }

    fn mail_hint(&self, lane: LaneId) -> Task<'_, ()> {
        Box::pin(self.hints.wait(lane))
    }

    fn any_mail_hint(&self) -> Task<'_, ()> {
        Box::pin(self.hints.wait_any())
    }

    fn hint_at_mail(&self, owner: WorkerId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let lanes = self.read(|world| world.mailed(&owner)).await;
            lanes.iter().for_each(|lane| self.hints.remind(lane));
            Ok(())
        })
    }

    fn introduce(&self, lane: LaneId, whose: Whose) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::lane(&lane)?;
            valid::whose(&whose)?;
            self.reach(Operation::Introduce).await;
            let change = |world: &mut World| {
                world.introduce(&lane, &whose);
                Ok(())
            };
            self.disk().commit(Durability::Commit, change)
        })
    }

    fn reconcile(&self, pass: Reconcile) -> Task<'_, Result<Vec<Left>, StoreError>> {
        Box::pin(async move {
            self.reach(Operation::Reconcile).await;
            self.disk().commit(Durability::Commit, |world: &mut World| Ok(world.reconcile(&pass)))
        })
    }

    fn forget(&self, forget: Forget) -> Task<'_, Result<Forgotten, StoreError>> {
        Box::pin(async move {
            self.reach(Operation::Reconcile).await;
            self.disk().commit(Durability::Commit, |world: &mut World| Ok(world.forget(&forget)))
        })
    }

    fn owners(&self) -> Task<'_, Result<Vec<SeenBeat>, StoreError>> {
        Box::pin(async move { Ok(self.read(World::owners).await) })
    }

    fn claim_wanting(
        &self,
        worker: WorkerId,
        look: Look,
    ) -> Task<'_, Result<Vec<(LaneId, Claim)>, StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            self.reach(Operation::Claim).await;
            self.disk().look(|world: &mut World| world.claim_wanting(&worker, &look))
        })
    }

    fn owned(&self, owner: WorkerId) -> Task<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.owned(&owner)).await) })
    }

    fn announce(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.reach(Operation::Introduce).await;
            let change = |world: &mut World| {
                world.announce(&worker, workspaces);
                Ok(())
            };
            self.disk().commit(Durability::Commit, change)
        })
    }

    fn workers(&self) -> Task<'_, Result<Vec<WorkerInfo>, StoreError>> {
        Box::pin(async move { Ok(self.read(World::workers).await) })
    }

    fn wake(&self, lane: LaneId) -> Task<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            self.reach(Operation::Introduce).await;
            let woken = self
                .disk()
                .commit(Durability::Barrier, |world: &mut World| Ok(world.wake(&lane)))?;
            self.hints.tell(&lane);
            Ok(woken)
        })
    }

    fn remove(&self, lane: LaneId) -> Task<'_, Result<Removed, StoreError>> {
        Box::pin(async move {
            self.reach(Operation::Introduce).await;
            self.disk().commit(Durability::Barrier, |world: &mut World| world.remove(&lane))
        })
    }

    fn lane(&self, lane: LaneId) -> Task<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.info(&lane)).await) })
    }

    fn runs(
        &self,
        lane: Option<LaneId>,
        most: usize,
    ) -> Task<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.runs(lane.as_ref(), most)).await) })
    }

    fn trace_ends(
        &self,
        since: Millis,
        most: usize,
    ) -> Task<'_, Result<Vec<TraceEnd>, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.trace_ends(since, most)).await) })
    }

    fn raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<RawRow>, StoreError>> {
        Box::pin(
            async move { Ok(self.read(|world| world.raw_responses(&lane, after, most)).await) },
        )
    }

    fn spending(&self, account: SpendingAccount) -> Task<'_, Result<Spent, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.spent(&account)).await) })
    }

    fn tool_stats(&self, since: Millis) -> Task<'_, Result<Vec<ToolStats>, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.tool_stats(since)).await) })
    }

    fn event_counts(&self, since: Millis) -> Task<'_, Result<Vec<EventCount>, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.event_counts(since)).await) })
    }

    fn record_worker_event(&self, event: WorkerEvent) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&event.worker)?;
            self.reach(Operation::Reconcile).await;
            let change = |world: &mut World| {
                world.record_worker_event(event);
                Ok(())
            };
            self.disk().commit(Durability::Commit, change)
        })
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        most: usize,
    ) -> Task<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        Box::pin(async move { Ok(self.read(|world| world.worker_events(page, most)).await) })
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// Where errors say it happened.
pub(crate) fn place() -> String {
    "memory".to_owned()
}

/// A store to share between a driver and the test that crashes it.
impl From<MemoryStore> for Arc<dyn Store> {
    fn from(store: MemoryStore) -> Self {
        Arc::new(store)
    }
}
