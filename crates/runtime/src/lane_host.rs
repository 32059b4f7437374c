//! The lane host: the process that drives lanes, with one worker id, one heartbeat task, and at
//! most one driver per lane.

mod housekeeping;
mod lane_backoff;
mod lane_dispatch;
mod reconcile_counts;
mod reservation;
mod watchdog;
mod worker_state;

pub(crate) use reservation::LaneReservation;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_core::log::ids::{Epoch, LaneId};
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::run_settings::RunSettings;

use crate::adapter_guard::{catch_panic, with_timeout};
use crate::agent::Agent;
use crate::agent_registry::AgentRegistry;
use crate::fair_semaphore::FairSemaphore;
use crate::feed::LaneFeed;
use crate::hook_notifications::HookNotifications;
use crate::lease::{LeaseTimes, WorkerLease};
use crate::ports::{
    ClaimQuery, LaneClaim, ObservedHeartbeat, SessionEndReason, SessionEvent, Store, StoreError,
};
use crate::telemetry::ReconcileCounts;
use crate::watchdog_slot::WatchdogSlot;
use crate::worker_identity;

/// How long a lane that its owner released, or whose owner exited, may stay unnoticed by a process
/// that wants to claim it, in milliseconds.
const CLAIM_POLL_MS: u64 = 500;

/// A process that drives conversations.
pub struct LaneHost {
    agents: AgentRegistry,
    /// What the default agent's settings contribute to a run; shared by all prompts.
    default_run_settings: OnceLock<Arc<RunSettings>>,
    lease: WorkerLease,
    slots: Mutex<HashMap<LaneId, LaneSlot>>,
    /// Lanes that rest here because they wait for their child runs.
    waiting_for_children: Mutex<HashSet<LaneId>>,
    lane_rested: Notify,
    /// Lanes still owned by this process without a driver, because releasing them failed.
    unreleased: Mutex<HashMap<LaneId, Epoch>>,
    /// Lanes in backoff because they could not be driven, with the time until which they are left
    /// to other workers.
    backing_off: Mutex<HashMap<LaneId, u64>>,
    tool_semaphore: FairSemaphore,
    reconcile_counts: Mutex<ReconcileCounts>,
    fatal_store_error: OnceLock<StoreError>,
    hand_over: CancellationToken,
    /// How long tool calls may continue after this process was told to hand over.
    grace_ms: Arc<AtomicU64>,
    /// Notification hooks for questions.
    notifications: HookNotifications,
    /// Whether this process runs the worker loop. For such a process a session ends when a run
    /// ends.
    is_worker: AtomicBool,
    heartbeat_task: JoinHandle<()>,
}

/// A lane that this process claimed.
pub(crate) struct HeldClaim {
    claim: LaneClaim,
    /// The number of lease lapses before the claim.
    lease_lapses: u64,
}

/// The state of a lane in this process.
#[derive(Default)]
struct LaneSlot {
    feed: LaneFeed,
    driver_state: DriverState,
    /// The driver of the lane, as the watchdog sees it.
    watchdog_slot: WatchdogSlot,
}

/// Whether a driver of this process has the lane.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum DriverState {
    #[default]
    Absent,
    Running,
    /// A driver has the lane, and a message arrived that it may have come to rest without reading.
    RunningNotified,
}

impl LaneSlot {
    fn notify_driver(&mut self) {
        if self.driver_state == DriverState::Running {
            self.driver_state = DriverState::RunningNotified;
        }
    }
}

impl LaneHost {
    /// Registers a new random worker id and starts to send heartbeats.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the first heartbeat fails.
    pub async fn start(
        agents: impl Into<AgentRegistry>,
        times: LeaseTimes,
    ) -> Result<Arc<Self>, StoreError> {
        let agents = agents.into();
        let ports = &agents.default_agent().ports;
        let lease =
            WorkerLease::new(worker_identity::new_worker_id(), times, Arc::clone(&ports.clock));
        lease.renew(ports.store.as_ref()).await?;
        let heartbeat_task =
            tokio::spawn(lease.clone().run_heartbeat_loop(Arc::clone(&ports.store)));
        let tool_semaphore = FairSemaphore::new(agents.tools_at_once());
        let host = Arc::new(Self {
            agents,
            default_run_settings: OnceLock::new(),
            lease,
            slots: Mutex::default(),
            waiting_for_children: Mutex::default(),
            lane_rested: Notify::new(),
            unreleased: Mutex::default(),
            backing_off: Mutex::default(),
            tool_semaphore,
            reconcile_counts: Mutex::default(),
            fatal_store_error: OnceLock::new(),
            hand_over: CancellationToken::new(),
            grace_ms: Arc::default(),
            notifications: HookNotifications::default(),
            is_worker: AtomicBool::new(false),
            heartbeat_task,
        });
        tokio::spawn(housekeeping::run_housekeeping(Arc::downgrade(&host)));
        tokio::spawn(watchdog::run_watchdog(Arc::downgrade(&host)));
        Ok(host)
    }

    /// Tells every driver to stop at its current step and to release its lane.
    pub fn hand_over(&self) {
        self.hand_over.cancel();
    }

    /// Tells every driver to release its lane like [`LaneHost::hand_over`], but lets running tool
    /// calls finish first if they do so within `grace_ms` milliseconds. No new effect is started
    /// meanwhile.
    pub fn hand_over_within(&self, grace_ms: u64) {
        self.grace_ms.store(grace_ms, Ordering::SeqCst);
        self.hand_over.cancel();
    }

    /// Waits for notification hooks that are still running. They have a time limit of their own.
    pub(crate) async fn finish_notifications(&self) {
        self.notifications.wait_until_done().await;
    }

    /// Calls the session-end hooks: this process is done with a conversation. A hook that panics or
    /// takes too long is not waited for.
    pub(crate) async fn end_session(&self, lane: LaneId, reason: SessionEndReason) {
        let (ports, limit) = (&self.agent().ports, self.agent().settings.limits.hook_ms);
        let told = catch_panic(ports.hooks.on_session_end(lane, reason));
        _ = with_timeout(ports.clock.as_ref(), limit, told).await;
    }

    /// Calls the hooks about something that this process does beside runs. A hook that panics or takes
    /// too long blocks nothing.
    pub(crate) async fn announce(&self, lane: LaneId, event: SessionEvent) -> ReviewResult {
        let (ports, limit) = (&self.agent().ports, self.agent().settings.limits.hook_ms);
        let told = catch_panic(ports.hooks.on_session_event(lane, event));
        let told = with_timeout(ports.clock.as_ref(), limit, told).await;
        told.unwrap_or(ReviewResult::Pass { context: None })
    }

    /// Marks this process as a worker: from now on it is done with every conversation that comes to
    /// rest here.
    pub(crate) fn mark_as_worker(&self) {
        self.is_worker.store(true, Ordering::SeqCst);
    }

    pub(crate) fn agent(&self) -> &Agent {
        self.agents.default_agent()
    }

    /// The agents of this process.
    pub(crate) fn agents(&self) -> &AgentRegistry {
        &self.agents
    }

    /// The run settings that this program gives its own prompts.
    pub(crate) fn default_run_settings(&self) -> Arc<RunSettings> {
        let settings = || Arc::new(RunSettings::from_settings(&self.agent().settings));
        Arc::clone(self.default_run_settings.get_or_init(settings))
    }

    /// Returns the store of this process.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.agent().ports.store.as_ref()
    }

    /// Returns the feed of a lane, whichever process drives it.
    pub(crate) fn lane_feed(&self, lane: &LaneId) -> LaneFeed {
        self.lock_slots().entry(lane.clone()).or_default().feed.clone()
    }

    /// Waits for as long as an owner without heartbeats counts as alive.
    pub(crate) async fn wait_lease_expiry(&self) {
        self.agent().ports.clock.sleep(self.lease.times.expiry_ms).await;
    }

    /// Makes a driver that is about to rest read its inbox once more, and drives a lane that rests
    /// here because it waits for its child runs.
    pub(crate) fn notify_lane(self: &Arc<Self>, lane: &LaneId) {
        if let Some(slot) = self.lock_slots().get_mut(lane) {
            slot.notify_driver();
        }
        if self.lock_waiting().contains(lane) {
            self.drive(lane);
        }
    }

    /// Reserves the lane for one driver of this process; notifies the driver if there is one
    /// already.
    pub(crate) fn reserve_lane(self: &Arc<Self>, lane: &LaneId) -> Option<LaneReservation> {
        let mut slots = self.lock_slots();
        let slot = slots.entry(lane.clone()).or_default();
        if slot.driver_state != DriverState::Absent {
            slot.notify_driver();
            return None;
        }
        slot.driver_state = DriverState::Running;
        slot.watchdog_slot = WatchdogSlot::default();
        let (feed, watched) = (slot.feed.clone(), slot.watchdog_slot.clone());
        drop(slots);
        self.lock_waiting().remove(lane);
        self.lock_unreleased().remove(lane);
        Some(LaneReservation::new(Arc::clone(self), lane.clone(), feed, watched))
    }

    fn lock_waiting(&self) -> MutexGuard<'_, HashSet<LaneId>> {
        self.waiting_for_children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_unreleased(&self) -> MutexGuard<'_, HashMap<LaneId, Epoch>> {
        self.unreleased.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_slots(&self) -> MutexGuard<'_, HashMap<LaneId, LaneSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims the lane. An owner that sends heartbeats keeps it; a silent owner is observed for a
    /// whole lease, unless its process is known to have ended.
    async fn claim_lane(&self, lane: &LaneId) -> Result<HeldClaim, StoreError> {
        let mut ours = None;
        let first = loop {
            match self.try_claim_lane(lane, ours.clone()).await {
                // A driver of this process ended without releasing the lane; the reservation
                // ensures that there is no other. A heartbeat in between changes the observed
                // count.
                Err(StoreError::Busy { owner, .. })
                    if owner.worker == self.lease.worker && ours.as_ref() != Some(&owner) =>
                {
                    ours = Some(owner);
                }
                Err(StoreError::Busy { owner, .. }) => break owner,
                result => return result,
            }
        };
        let mut watched_ms = 0;
        let times = self.lease.times;
        // An owner can exit while it is observed.
        while watched_ms < times.expiry_ms && !worker_identity::has_process_ended(&first.worker) {
            let pause =
                CLAIM_POLL_MS.min(times.heartbeat_ms).min(times.expiry_ms - watched_ms).max(1);
            self.agent().ports.clock.sleep(pause).await;
            watched_ms += pause;
            match self.try_claim_lane(lane, None).await {
                Err(StoreError::Busy { owner, .. }) if owner == first => {}
                // The owner released the lane, or sent a heartbeat while it was observed.
                result => return result,
            }
        }
        self.try_claim_lane(lane, Some(first)).await
    }

    /// Claims runnable lanes, except those in backoff here.
    pub(crate) async fn claim_runnable_lanes(
        &self,
        limit: usize,
    ) -> Result<Vec<(LaneId, HeldClaim)>, StoreError> {
        let now = self.agent().ports.clock.now();
        let query = ClaimQuery {
            now,
            limit,
            scope: self.agents.worker_scope(),
            exclude: self.backing_off_lanes(),
        };
        let lease_lapses = self.lease.lapse_count();
        let claims =
            self.store().claim_runnable_lanes(Arc::clone(&self.lease.worker), query).await?;
        Ok(claims
            .into_iter()
            .map(|(lane, claim)| (lane, HeldClaim { claim, lease_lapses }))
            .collect())
    }

    async fn try_claim_lane(
        &self,
        lane: &LaneId,
        dead: Option<ObservedHeartbeat>,
    ) -> Result<HeldClaim, StoreError> {
        let lease_lapses = self.lease.lapse_count();
        let claim = self.store().claim_lane(lane.clone(), self.lease.worker.clone(), dead).await?;
        Ok(HeldClaim { claim, lease_lapses })
    }
}

impl Drop for LaneHost {
    fn drop(&mut self) {
        self.heartbeat_task.abort();
    }
}
