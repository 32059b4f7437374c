//! The worker loop: drives every runnable lane of the store. It looks for lanes without a living
//! owner (unread messages, due, abandoned by a dead process) on hints and by polling; what it finds
//! is claimed through the store's fence like any other lane.

mod liveness;
mod store_outage;

pub use liveness::LivenessMonitor;
pub use store_outage::{StoreStatus, StoreStatusObserver};

use std::sync::Arc;

use crate::lane_host::LaneHost;
use crate::ports::{ReconcileRequest, ResumeOverride, StoreError};
use crate::telemetry::{self, RECONCILED};
use store_outage::{OutageReporter, SLOW_STORE_MS};

/// Intervals and limits of the worker loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The time between two passes while there is work, in milliseconds.
    pub busy_poll_ms: u64,
    /// The longest time between two passes, in milliseconds.
    pub idle_poll_ms: u64,
    /// The time between two reports of the reconciler, in milliseconds.
    pub reconcile_interval_ms: u64,
    /// How long conversations may take to stop after a hand-over request, in milliseconds.
    pub hand_over_timeout_ms: u64,
    /// What happens to runs that a dead process abandoned.
    pub resume: ResumeOverride,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        let resume = ResumeOverride::AsRecorded;
        Self {
            busy_poll_ms: 250,
            idle_poll_ms: 1_000,
            reconcile_interval_ms: 300_000,
            hand_over_timeout_ms: 10_000,
            resume,
        }
    }
}

/// The largest number of lanes claimed in one pass.
const CLAIM_BATCH: usize = 256;

/// The result of one pass.
#[derive(Debug, Default)]
struct PassResult {
    /// The number of lanes that were claimed.
    claimed: usize,
    /// The number of lanes that dead processes had abandoned, to be claimed next.
    abandoned: usize,
}

impl PassResult {
    fn from_claimed(claimed: usize) -> Self {
        Self { claimed, abandoned: 0 }
    }

    fn has_more(&self) -> bool {
        self.abandoned > 0 || self.claimed >= CLAIM_BATCH
    }
}

impl LaneHost {
    /// Drives every runnable lane until this host is told to hand over; returns when every
    /// conversation has been released.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails at the start, or later in a way that retrying
    /// cannot repair.
    pub async fn run_worker(self: &Arc<Self>, times: WorkerSettings) -> Result<(), StoreError> {
        self.run_worker_with_observer(times, &|_| {}).await
    }

    /// Drives every runnable lane like [`LaneHost::run_worker`]. `tell` is called when the store
    /// stops responding, and when it responds again.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails at the start, or later in a way that retrying
    /// cannot repair.
    pub async fn run_worker_with_observer(
        self: &Arc<Self>,
        times: WorkerSettings,
        tell: StoreStatusObserver<'_>,
    ) -> Result<(), StoreError> {
        let mut outage = OutageReporter::new(tell);
        let clock = Arc::clone(&self.agent().ports.clock);
        let mut watch = LivenessMonitor::new(self.expiry_ms());
        let mut pause = times.busy_poll_ms;
        let (mut owners_at, mut reconcile_at) = (0, 0);
        // Whether lanes may have been claimed without this process knowing: a response was lost.
        let mut may_hold_unknown_lanes = false;
        // A store that fails later may recover; one that fails at the start is an error.
        self.store().owner_heartbeats().await?;
        let (worker, served) = (Arc::clone(self.worker_id()), self.agents().served_workspaces());
        self.store().announce_workspaces(worker, served).await?;
        self.mark_as_worker();
        while !self.is_handing_over() {
            if let Some(fatal) = self.fatal_store_error() {
                return Err(fatal.clone());
            }
            let now = clock.monotonic_ms();
            let pass = async {
                // Runnable lanes first; dead workers are reconciled afterwards.
                let found = self.claim_and_drive(&mut may_hold_unknown_lanes).await;
                if now < owners_at {
                    return found.map(PassResult::from_claimed);
                }
                owners_at = now.saturating_add(times.busy_poll_ms);
                let abandoned = self.reconcile_dead_workers(&mut watch, now, times.resume).await?;
                found.map(|claimed| PassResult { claimed, abandoned })
            };
            let passed = self.report_if_late(pass, || outage.report_slow()).await;
            outage.report_result(&passed);
            // Lanes that cannot be seen now are found in the next pass.
            let found = passed.unwrap_or_default();
            if now >= reconcile_at {
                self.report_reconciled().await;
                reconcile_at = now.saturating_add(times.reconcile_interval_ms);
            }
            pause = match found.claimed {
                0 => pause.saturating_mul(2).clamp(times.busy_poll_ms, times.idle_poll_ms),
                _ => times.busy_poll_ms,
            };
            if !found.has_more() {
                self.wait_for_next_pass(pause.min(self.expiry_ms())).await;
            }
        }
        self.wait_until_idle(times.hand_over_timeout_ms.saturating_add(self.grace_ms())).await;
        self.report_reconciled().await;
        Ok(())
    }

    /// Reports what the reconciler did since the last report; what changed something is also
    /// stored.
    async fn report_reconciled(&self) {
        let counts = self.lock_counts().take();
        telemetry::emit_reconciled(self.worker_id(), &counts);
        if !counts.is_empty() {
            self.record_worker_event((RECONCILED, None, &counts)).await;
        }
    }

    /// Waits for `work`, and calls `late` if it takes long.
    async fn report_if_late<T>(&self, work: impl Future<Output = T>, late: impl FnOnce()) -> T {
        tokio::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.agent().ports.clock.sleep(SLOW_STORE_MS) => late(),
        }
        work.await
    }

    /// Reconciles the lanes of dead processes; returns their number.
    async fn reconcile_dead_workers(
        &self,
        watch: &mut LivenessMonitor,
        now: u64,
        resume: ResumeOverride,
    ) -> Result<usize, StoreError> {
        let dead = watch.find_dead(self.store().owner_heartbeats().await?, now, self.worker_id());
        if dead.is_empty() {
            return Ok(0);
        }
        let abandoned = self
            .store()
            .reconcile_dead_owners(ReconcileRequest { dead, resume, limit: CLAIM_BATCH })
            .await?;
        self.lock_counts().count_abandoned(&abandoned);
        Ok(abandoned.len())
    }

    /// Claims runnable lanes once and drives them, in a task of its own: claimed lanes are driven
    /// or released even if the caller is dropped.
    async fn claim_and_drive(
        self: &Arc<Self>,
        may_hold_unknown_lanes: &mut bool,
    ) -> Result<usize, StoreError> {
        if *may_hold_unknown_lanes {
            self.drive_unknown_owned_lanes().await?;
        }
        *may_hold_unknown_lanes = true;
        let host = Arc::clone(self);
        let looked = tokio::spawn(async move { host.claim_and_drive_once().await }).await;
        // An aborted task may have claimed lanes: the next pass finds them.
        let Ok(found) = looked else { return Ok(0) };
        let found = found?;
        *may_hold_unknown_lanes = false;
        Ok(found)
    }

    async fn claim_and_drive_once(self: &Arc<Self>) -> Result<usize, StoreError> {
        let taken = self.claim_runnable_lanes(CLAIM_BATCH).await?;
        let found = taken.len();
        for (lane, claim) in taken {
            if let Err(claim) = self.drive_claimed(&lane, claim) {
                self.release_claim(lane, &claim).await;
            }
        }
        Ok(found)
    }

    /// Waits for a hint, for the next pass, or for the request to hand over.
    async fn wait_for_next_pass(&self, ms: u64) {
        let ports = &self.agent().ports;
        tokio::select! {
            () = self.wait_for_hand_over() => {}
            () = ports.store.wait_for_any_message() => {}
            () = ports.clock.sleep(ms) => {}
        }
    }
}
