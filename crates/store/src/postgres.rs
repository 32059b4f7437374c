//! The store for more than one machine: PostgreSQL 15 or newer, shared by any number of processes.
//!
//! One task per process appends, everything that waits in one statement; one connection is kept for
//! beats; a few more serve the rest. Every commit waits for the server's disk. Only SQL is used that
//! PostgreSQL, CockroachDB and YugabyteDB share. Not here: locks that outlive a transaction, clocks
//! that are compared, and anything that is true only while a notice is not lost.

mod address;
mod alone;
mod batch;
mod believe;
mod claim;
mod columns;
mod company;
mod desk;
mod forget;
mod fork;
mod home;
mod link;
mod mail;
mod migrate;
mod notices;
mod open;
mod pause;
mod pool;
mod prepare;
mod pulse;
mod read;
mod reconcile;
mod records;
mod remove;
mod rows;
mod server;
mod settle;
mod statement;
mod text;
mod tls;
mod trouble;
mod wanting;
mod writer;

#[cfg(test)]
mod address_tests;
#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod text_tests;

pub use home::Settings;

use std::sync::Arc;

use windlass_core::budget::Spent;
use windlass_core::ids::{Epoch, LaneId, Millis, Seq};
use windlass_core::mail::Mail;
use windlass_core::project::RawRow;
use windlass_runtime::ports::{
    Append, Claim, Delivered, EncodedEntry, EventCount, Forget, Forgotten, LaneInfo, Left, Letter,
    Look, NumberedWorkerEvent, Reconcile, Removed, RunInfo, SeenBeat, ServedWorkspace,
    SpendingAccount, Store, StoreError, Task, ToolStats, TraceEnd, Whose, WorkerEvent,
    WorkerEventPage, WorkerId, WorkerInfo,
};

use crate::hints::Hints;
use crate::{fault, names, valid};
use address::Address;
use home::Home;
use notices::Notices;
use open::Opened;
use pool::Pool;
use prepare::{Prepared, PreparedLetter};
use pulse::Pulse;
use tls::Tls;
use writer::Writer;

/// Lanes in a PostgreSQL database.
pub struct PostgresStore {
    home: Arc<Home>,
    hints: Arc<Hints>,
    notices: Arc<Notices>,
    pool: Pool,
    pulse: Pulse,
    writer: Writer,
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("place", &self.home.place()).finish_non_exhaustive()
    }
}

/// Does work on a connection of the pool, again if the connection is lost.
macro_rules! with_link {
    ($pool:expr, |$link:ident, $doubt:pat_param| $work:expr) => {
        $pool.run(|mut $link, $doubt| {
            Box::pin(async move {
                let outcome = {
                    let $link = &mut $link;
                    $work.await
                };
                ($link, outcome)
            })
        })
    };
}

impl PostgresStore {
    /// Whether text is the address of such a store, and not the name of a file.
    #[must_use]
    pub fn is_address(text: &str) -> bool {
        address::is_url(text)
    }

    /// Opens the database, making its tables if they are not there. Connections belong to the
    /// runtime this is called in.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, &Settings::default()).await
    }

    /// Opens the database with other settings.
    pub async fn open_with(url: &str, settings: &Settings) -> Result<Self, StoreError> {
        let address = Address::read(url)?;
        let tls = Tls::new(&address.trust)?;
        let home = Arc::new(Home::new(address, tls, settings.clone()));
        let Opened { appends, beats } = open::open(&home).await?;
        let hints = Arc::new(Hints::default());
        let notices = Arc::new(Notices::start(Arc::clone(&home), Arc::clone(&hints)));
        Ok(Self {
            pool: Pool::new(Arc::clone(&home)),
            pulse: Pulse::new(Arc::clone(&home), beats),
            writer: Writer::start(Arc::clone(&home), appends, Arc::clone(&notices)),
            home,
            hints,
            notices,
        })
    }

    /// How many appending transactions were committed.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.home.commits()
    }
}

impl Store for PostgresStore {
    fn deliver(&self, lane: LaneId, letter: Letter) -> Task<'_, Result<Delivered, StoreError>> {
        Box::pin(async move {
            valid::lane(&lane)?;
            valid::letter(&letter)?;
            let (lane, letter) = (&lane, &PreparedLetter::new(&letter)?);
            fault::point(fault::DELIVER_BEFORE);
            let sent =
                with_link!(self.pool, |link, _| mail::deliver(link, lane, letter, None)).await?;
            fault::point(fault::DELIVER_AFTER);
            self.notices.tell(lane);
            Ok(Delivered { mail: sent })
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
            let (lane, worker, dead) = (&lane, &worker, dead.as_ref());
            fault::point(fault::CLAIM_BEFORE);
            let claimed = with_link!(self.pool, |link, doubt| {
                claim::claim(link, lane, worker, dead, doubt)
            });
            let claimed = claimed.await?;
            fault::point(fault::CLAIM_AFTER);
            Ok(claimed)
        })
    }

    fn release(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let (lane, worker) = (&lane, &worker);
            fault::point(fault::RELEASE_BEFORE);
            let released =
                with_link!(self.pool, |link, _| claim::release(link, lane, worker, epoch));
            let wants_more = released.await?;
            fault::point(fault::RELEASE_AFTER);
            if wants_more {
                self.notices.tell(lane);
            }
            Ok(())
        })
    }

    fn beat(&self, worker: WorkerId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            fault::point(fault::BEAT_BEFORE);
            self.pulse.beat(&worker).await?;
            fault::point(fault::BEAT_AFTER);
            Ok(())
        })
    }

    fn append(&self, append: Append) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::append(&append)?;
            self.writer.submit(&self.home, Prepared::new(append)?).await
        })
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<EncodedEntry>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_link!(self.pool, |link, _| read::log(link, lane, after, most)).await
        })
    }

    fn read_mail(&self, lane: LaneId, most: usize) -> Task<'_, Result<Vec<Mail>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_link!(self.pool, |link, _| mail::waiting(link, lane, most)).await
        })
    }

    fn fork(&self, parent: LaneId, at: Seq, child: LaneId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::lane(&child)?;
            let (parent, child) = (&parent, &child);
            with_link!(self.pool, |link, _| fork::fork(link, parent, at, child)).await
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
            let owner = &owner;
            let lanes = with_link!(self.pool, |link, _| wanting::mailed(link, owner)).await?;
            lanes.iter().for_each(|lane| self.hints.remind(lane));
            Ok(())
        })
    }

    fn introduce(&self, lane: LaneId, whose: Whose) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::lane(&lane)?;
            valid::whose(&whose)?;
            let (lane, whose) = (&lane, &whose);
            with_link!(self.pool, |link, _| reconcile::introduce(link, lane, whose)).await
        })
    }

    fn reconcile(&self, pass: Reconcile) -> Task<'_, Result<Vec<Left>, StoreError>> {
        Box::pin(async move {
            let pass = &pass;
            with_link!(self.pool, |link, _| reconcile::reconcile(link, pass)).await
        })
    }

    fn forget(&self, forget: Forget) -> Task<'_, Result<Forgotten, StoreError>> {
        Box::pin(async move {
            let forget = &forget;
            with_link!(self.pool, |link, _| forget::forget(link, forget)).await
        })
    }

    fn owners(&self) -> Task<'_, Result<Vec<SeenBeat>, StoreError>> {
        Box::pin(async move { with_link!(self.pool, |link, _| wanting::owners(link)).await })
    }

    fn claim_wanting(
        &self,
        worker: WorkerId,
        look: Look,
    ) -> Task<'_, Result<Vec<(LaneId, Claim)>, StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            let (worker, look) = (&worker, &look);
            fault::point(fault::CLAIM_BEFORE);
            let claimed = with_link!(self.pool, |link, doubt| {
                claim::claim_wanting(link, worker, look, doubt)
            });
            let claimed = claimed.await?;
            if !claimed.is_empty() {
                fault::point(fault::CLAIM_AFTER);
            }
            Ok(claimed)
        })
    }

    fn owned(&self, owner: WorkerId) -> Task<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(async move {
            let owner = &owner;
            with_link!(self.pool, |link, _| wanting::owned(link, owner)).await
        })
    }

    fn announce(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&worker)?;
            let (worker, workspaces) = (&worker, &names::workspaces(&workspaces));
            with_link!(self.pool, |link, _| claim::announce(link, worker, workspaces)).await
        })
    }

    fn workers(&self) -> Task<'_, Result<Vec<WorkerInfo>, StoreError>> {
        Box::pin(async move { with_link!(self.pool, |link, _| claim::workers(link)).await })
    }

    fn wake(&self, lane: LaneId) -> Task<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            let woken = with_link!(self.pool, |link, _| reconcile::wake(link, lane)).await?;
            if woken {
                self.notices.tell(lane);
            }
            Ok(woken)
        })
    }

    fn remove(&self, lane: LaneId) -> Task<'_, Result<Removed, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_link!(self.pool, |link, _| remove::remove(link, lane)).await
        })
    }

    fn lane(&self, lane: LaneId) -> Task<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_link!(self.pool, |link, _| read::lane(link, lane)).await
        })
    }

    fn trace_ends(
        &self,
        since: Millis,
        most: usize,
    ) -> Task<'_, Result<Vec<TraceEnd>, StoreError>> {
        Box::pin(async move {
            with_link!(self.pool, |link, _| read::trace_ends(link, since, most)).await
        })
    }

    fn raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<RawRow>, StoreError>> {
        Box::pin(async move {
            let lane = &lane;
            with_link!(self.pool, |link, _| read::raw_responses(link, lane, after, most)).await
        })
    }

    fn spending(&self, account: SpendingAccount) -> Task<'_, Result<Spent, StoreError>> {
        Box::pin(async move {
            let account = &account;
            with_link!(self.pool, |link, _| records::spent(link, account)).await
        })
    }

    fn tool_stats(&self, since: Millis) -> Task<'_, Result<Vec<ToolStats>, StoreError>> {
        Box::pin(
            async move { with_link!(self.pool, |link, _| records::tool_stats(link, since)).await },
        )
    }

    fn event_counts(&self, since: Millis) -> Task<'_, Result<Vec<EventCount>, StoreError>> {
        Box::pin(async move {
            with_link!(self.pool, |link, _| records::event_counts(link, since)).await
        })
    }

    fn record_worker_event(&self, event: WorkerEvent) -> Task<'_, Result<(), StoreError>> {
        Box::pin(async move {
            valid::worker(&event.worker)?;
            let event = &event;
            with_link!(self.pool, |link, _| records::record_event(link, event)).await
        })
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        most: usize,
    ) -> Task<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        Box::pin(async move {
            with_link!(self.pool, |link, _| records::worker_events(link, page, most)).await
        })
    }

    fn runs(
        &self,
        lane: Option<LaneId>,
        most: usize,
    ) -> Task<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(async move {
            let lane = lane.as_ref();
            with_link!(self.pool, |link, _| read::runs(link, lane, most)).await
        })
    }
}
