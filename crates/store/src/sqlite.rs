//! The store people run: one SQLite file in WAL mode, shared by any number of processes.
//!
//! One connection per process writes, everything that waits in one transaction: on the caller's
//! thread if that is the only one of its runtime, else on a thread of its own. Another one syncs
//! the write-ahead log for those who asked for it; reads go through connections of their own.
//! Not here: any SQL outside the files of this folder.

mod append;
mod batch;
mod blob;
mod check;
mod checkpoint;
mod claim;
mod clock;
mod desk;
mod error;
mod forget;
mod fork;
mod home;
mod mail;
mod migrate;
mod open;
mod prepare;
mod read;
mod readers;
mod reconcile;
mod records;
mod remove;
mod rows;
mod step;
mod sync;
mod wanting;
mod writer;

#[cfg(test)]
mod error_tests;

pub use open::Settings;

use std::path::Path;
use std::sync::Arc;

use windlass_core::budget::Spent;
use windlass_core::ids::{Epoch, LaneId, Millis, Seq};
use windlass_core::mail::Mail;
use windlass_core::project::RawRow;
use windlass_core::record::Durability;
use windlass_runtime::ports::{
    Append, Claim, Delivered, EncodedEntry, EventCount, Forget, Forgotten, LaneInfo, Left, Letter,
    Look, NumberedWorkerEvent, Reconcile, Removed, RunInfo, SeenBeat, ServedWorkspace,
    SpendingAccount, Store, StoreError, Task, ToolStats, TraceEnd, Whose, WorkerEvent,
    WorkerEventPage, WorkerId, WorkerInfo,
};

use crate::hints::Hints;
use crate::{names, valid};
use home::Home;
use prepare::{PreparedAppend, PreparedLetter};
use readers::Readers;
use step::Work;
use writer::Writer;

/// Lanes in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    home: Arc<Home>,
    hints: Arc<Hints>,
    readers: Arc<Readers>,
    writer: Writer,
}

impl SqliteStore {
    /// Opens the file, making it and its folder if they are not there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, &Settings::default())
    }

    /// Opens the file with other settings.
    pub fn open_with(path: impl AsRef<Path>, settings: &Settings) -> Result<Self, StoreError> {
        let (home, connection) = open::open(path.as_ref(), settings)?;
        let home = Arc::new(home);
        let hints = Arc::new(Hints::default());
        let readers = Arc::new(Readers::new(Arc::clone(&home)));
        let writer = Writer::start(Arc::clone(&home), connection, Arc::clone(&hints))?;
        Ok(Self { home, hints, readers, writer })
    }

    /// Reads the whole file and says whether it is sound; slow for a large one.
    pub async fn check(&self) -> Result<(), StoreError> {
        let home = Arc::clone(&self.home);
        self.readers.run(move |connection| check::whole(connection, &home)).await
    }

    /// The version of its tables.
    #[must_use]
    pub fn schema(&self) -> i64 {
        migrate::MIGRATIONS.newest()
    }

    /// How often the log was synced for somebody who waited for it.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.home.syncs()
    }

    /// How many transactions were committed.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.home.commits()
    }
}

impl Drop for SqliteStore {
    /// Waits for what was accepted, then leaves one file without a log beside it.
    fn drop(&mut self) {
        self.readers.close();
        self.writer.close();
    }
}

impl Store for SqliteStore {
    fn deliver(&self, lane: LaneId, letter: Letter) -> Task<'_, Result<Delivered, StoreError>> {
        Box::pin(async move {
            valid::lane(&lane)?;
            valid::letter(&letter)?;
            let work = Work::Deliver { lane, letter: PreparedLetter::new(&letter)? };
            self.writer.submit(work, Durability::Barrier).await?.delivered()
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
            let work = Work::Claim { lane, worker, dead };
            self.writer.submit(work, Durability::Commit).await?.claimed()
        })
    }

    fn release(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let work = Work::Release { lane, worker, epoch };
            self.writer.submit(work, Durability::Commit).await.map(drop)
        })
    }

    fn beat(&self, worker: WorkerId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            self.writer.submit(Work::Beat { worker }, Durability::Commit).await.map(drop)
        })
    }

    fn append(&self, append: Append) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::append(&append)?;
            let durability = append.durability;
            let work = Work::Append(Box::new(PreparedAppend::new(append)?));
            self.writer.submit(work, durability).await.map(drop)
        })
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<EncodedEntry>, StoreError>> {
        let query = move |connection: &_| read::log(connection, &lane, after, most);
        Box::pin(self.readers.ask(query))
    }

    fn read_mail(&self, lane: LaneId, most: usize) -> Task<'_, Result<Vec<Mail>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| mail::waiting(connection, &lane, most)))
    }

    fn fork(&self, parent: LaneId, at: Seq, child: LaneId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::lane(&child)?;
            let work = Work::Fork { parent, at, child };
            self.writer.submit(work, Durability::Barrier).await.map(drop)
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
            let query = move |connection: &_| wanting::mailed(connection, &owner);
            let lanes = self.readers.ask(query).await?;
            lanes.iter().for_each(|lane| self.hints.remind(lane));
            Ok(())
        })
    }

    fn introduce(&self, lane: LaneId, whose: Whose) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::lane(&lane)?;
            valid::whose(&whose)?;
            let work = Work::Introduce { lane, whose };
            self.writer.submit(work, Durability::Commit).await.map(drop)
        })
    }

    fn reconcile(&self, pass: Reconcile) -> Task<'_, Result<Vec<Left>, StoreError>> {
        Box::pin(async move {
            self.writer.submit(Work::Reconcile(pass), Durability::Commit).await?.left()
        })
    }

    fn forget(&self, forget: Forget) -> Task<'_, Result<Forgotten, StoreError>> {
        Box::pin(async move {
            if !self.readers.ask(move |connection| forget::is_due(connection, &forget)).await? {
                return Ok(Forgotten::default());
            }
            self.writer.submit(Work::Forget(forget), Durability::Commit).await?.forgot()
        })
    }

    fn owners(&self) -> Task<'_, Result<Vec<SeenBeat>, StoreError>> {
        Box::pin(self.readers.ask(wanting::owners))
    }

    /// Who looks and finds nothing does not write.
    fn claim_wanting(
        &self,
        worker: WorkerId,
        look: Look,
    ) -> Task<'_, Result<Vec<(LaneId, Claim)>, StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            let wanting = move |connection: &_| wanting::wanting(connection, &look);
            let lanes = self.readers.ask(wanting).await?;
            if lanes.is_empty() {
                return Ok(Vec::new());
            }
            let work = Work::ClaimAll { lanes, worker };
            self.writer.submit(work, Durability::Commit).await?.all_claimed()
        })
    }

    fn owned(&self, owner: WorkerId) -> Task<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| wanting::owned(connection, &owner)))
    }

    fn announce(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            let work = Work::Announce { worker, workspaces: names::workspaces(&workspaces) };
            self.writer.submit(work, Durability::Commit).await.map(drop)
        })
    }

    fn workers(&self) -> Task<'_, Result<Vec<WorkerInfo>, StoreError>> {
        Box::pin(self.readers.ask(claim::workers))
    }

    fn wake(&self, lane: LaneId) -> Task<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            self.writer.submit(Work::Wake { lane }, Durability::Barrier).await?.woken()
        })
    }

    fn remove(&self, lane: LaneId) -> Task<'_, Result<Removed, StoreError>> {
        Box::pin(async move {
            self.writer.submit(Work::Remove { lane }, Durability::Barrier).await?.removed()
        })
    }

    fn lane(&self, lane: LaneId) -> Task<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| read::lane(connection, &lane)))
    }

    fn runs(
        &self,
        lane: Option<LaneId>,
        most: usize,
    ) -> Task<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| rows::runs(connection, lane.as_ref(), most)))
    }

    fn trace_ends(
        &self,
        since: Millis,
        most: usize,
    ) -> Task<'_, Result<Vec<TraceEnd>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| rows::trace_ends(connection, since, most)))
    }

    fn raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<RawRow>, StoreError>> {
        let ask = move |connection: &_| rows::raw_responses(connection, &lane, after, most);
        Box::pin(self.readers.ask(ask))
    }

    fn spending(&self, account: SpendingAccount) -> Task<'_, Result<Spent, StoreError>> {
        Box::pin(self.readers.ask(move |connection| records::spent(connection, &account)))
    }

    fn tool_stats(&self, since: Millis) -> Task<'_, Result<Vec<ToolStats>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| records::tool_stats(connection, since)))
    }

    fn event_counts(&self, since: Millis) -> Task<'_, Result<Vec<EventCount>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| records::event_counts(connection, since)))
    }

    fn record_worker_event(&self, event: WorkerEvent) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&event.worker)?;
            self.writer.submit(Work::RecordEvent(event), Durability::Commit).await.map(drop)
        })
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        most: usize,
    ) -> Task<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        Box::pin(self.readers.ask(move |connection| records::worker_events(connection, page, most)))
    }
}
