//! A process that drives whatever wants to be driven. One loop looks for lanes that nobody alive
//! has: those with mail, those that are due, those a dead process left. It is told by hints and looks
//! by itself in between; what it finds is claimed through the store's fence like any other lane.

mod outage;
mod tally;
mod watch;

pub use outage::{StoreNews, Tell};
pub(crate) use tally::Tally;
pub use watch::Watch;

use std::sync::Arc;

use windlass_core::ids::LaneId;

use crate::host::Host;
use crate::ports::{Reconcile, Resume, StoreError};
use crate::telemetry::{self, RECONCILE, ReconcileCounts};
use outage::{LATE_MS, Outage};

/// How often a worker looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkTimes {
    /// Between two looks while there is something to do.
    pub busy_ms: u64,
    /// Between two looks at most.
    pub idle_ms: u64,
    /// Between two looks through everything that was left behind.
    pub reconcile_ms: u64,
    /// How long conversations may take to stop where they are.
    pub hand_over_ms: u64,
    /// What becomes of runs that a dead process left.
    pub resume: Resume,
}

impl Default for WorkTimes {
    fn default() -> Self {
        let resume = Resume::AsRecorded;
        Self { busy_ms: 250, idle_ms: 1_000, reconcile_ms: 300_000, hand_over_ms: 10_000, resume }
    }
}

/// Lanes found with one look.
const BATCH: usize = 256;

/// What one pass brought.
#[derive(Debug, Default)]
struct Found {
    /// Lanes that were taken.
    lanes: usize,
    /// Lanes that dead processes had left, to be taken next.
    left: usize,
}

impl Found {
    fn lanes(lanes: usize) -> Self {
        Self { lanes, left: 0 }
    }

    fn is_followed_by_more(&self) -> bool {
        self.left > 0 || self.lanes >= BATCH
    }
}

/// Whether lanes may have been taken of which nothing was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unsure {
    No,
    Yes,
}

impl Host {
    /// Drives whatever wants to be driven, until this host is told to hand over; returns when
    /// every conversation has been given back.
    pub async fn work(self: &Arc<Self>, times: WorkTimes) -> Result<(), StoreError> {
        self.work_telling(times, &|_| {}).await
    }

    /// The same. `tell` hears when the store stops to answer, and when it answers again.
    pub async fn work_telling(
        self: &Arc<Self>,
        times: WorkTimes,
        tell: Tell<'_>,
    ) -> Result<(), StoreError> {
        let mut outage = Outage::told_to(tell);
        let clock = Arc::clone(&self.agent().ports.clock);
        let mut watch = Watch::new(self.expiry_ms());
        let mut pause = times.busy_ms;
        let (mut owners_at, mut reconcile_at) = (0, 0);
        let mut unsure = Unsure::No;
        // A store that fails now may answer later; one that fails at the start is told about.
        self.store().owners().await?;
        let (worker, served) = (Arc::clone(self.worker()), self.served());
        self.store().announce(worker, served).await?;
        self.becomes_worker();
        while !self.is_handing_over() {
            if let Some(ruin) = self.ruin() {
                return Err(ruin.clone());
            }
            let now = clock.monotonic_ms();
            let pass = async {
                // Whoever waits is not to wait for the dead.
                let found = self.look(&mut unsure).await;
                if now < owners_at {
                    return found.map(Found::lanes);
                }
                owners_at = now.saturating_add(times.busy_ms);
                let left = self.settle_dead(&mut watch, now, times.resume).await?;
                found.map(|lanes| Found { lanes, left })
            };
            let passed = self.unless_late(pass, || outage.late()).await;
            outage.answered(&passed);
            // What cannot be seen now is seen at the next look.
            let found = passed.unwrap_or_default();
            if now >= reconcile_at {
                self.tell_reconciled().await;
                reconcile_at = now.saturating_add(times.reconcile_ms);
            }
            pause = match found.lanes {
                0 => pause.saturating_mul(2).clamp(times.busy_ms, times.idle_ms),
                _ => times.busy_ms,
            };
            if !found.is_followed_by_more() {
                self.pause(pause.min(self.expiry_ms())).await;
            }
        }
        self.settled(times.hand_over_ms.saturating_add(self.grace_ms())).await;
        self.tell_reconciled().await;
        Ok(())
    }

    /// Says what the reconciler did since the last time; what is news is stored as well.
    async fn tell_reconciled(&self) {
        let tally = self.tally().take();
        telemetry::reconciled(self.worker(), &tally);
        if !tally.is_empty() {
            self.record_event((RECONCILE, None, &ReconcileCounts::from(&tally))).await;
        }
    }

    /// Stores an event of this process. A store that does not answer has more to be told of.
    pub(crate) async fn record_event(&self, event: (&str, Option<LaneId>, &impl serde::Serialize)) {
        let at = self.agent().ports.clock.now();
        let event = telemetry::worker_event(self.worker(), at, event);
        _ = self.store().record_worker_event(event).await;
    }

    /// Waits for the work, and says so if it takes long.
    async fn unless_late<T>(&self, work: impl Future<Output = T>, late: impl FnOnce()) -> T {
        tokio::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.agent().ports.clock.sleep(LATE_MS) => late(),
        }
        work.await
    }

    /// Settles what dead processes left; gives how many lanes that were.
    async fn settle_dead(
        &self,
        watch: &mut Watch,
        now: u64,
        resume: Resume,
    ) -> Result<usize, StoreError> {
        let dead = watch.dead(self.store().owners().await?, now, self.worker());
        if dead.is_empty() {
            return Ok(0);
        }
        let left = self.store().reconcile(Reconcile { dead, resume, most: BATCH }).await?;
        self.tally().left(&left);
        Ok(left.len())
    }

    /// Looks once and drives what it finds. It is a task of its own: what was claimed is driven or
    /// given back, also if nobody waits for it any more.
    async fn look(self: &Arc<Self>, unsure: &mut Unsure) -> Result<usize, StoreError> {
        if *unsure == Unsure::Yes {
            self.take_up_unknown().await?;
        }
        *unsure = Unsure::Yes;
        let host = Arc::clone(self);
        let looked = tokio::spawn(async move { host.look_once().await }).await;
        // A task that was cut off may have taken lanes: the next look finds out.
        let Ok(found) = looked else { return Ok(0) };
        let found = found?;
        *unsure = Unsure::No;
        Ok(found)
    }

    async fn look_once(self: &Arc<Self>) -> Result<usize, StoreError> {
        let taken = self.claim_wanting(BATCH).await?;
        let found = taken.len();
        for (lane, taken) in taken {
            if let Err(taken) = self.take_up(&lane, taken) {
                self.give_back(lane, &taken).await;
            }
        }
        Ok(found)
    }

    /// Waits for a hint, for the next look, or to be told to hand over.
    async fn pause(&self, ms: u64) {
        let ports = &self.agent().ports;
        tokio::select! {
            () = self.handing_over() => {}
            () = ports.store.any_mail_hint() => {}
            () = ports.clock.sleep(ms) => {}
        }
    }
}
