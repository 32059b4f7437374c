//! Reservation of a lane: the right to drive it in this process, and driving it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_core::log::ids::LaneId;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::is_waiting_for_children;

use super::{DriverState, HeldClaim, LaneHost};
use crate::driver::{
    self, DriveError, DriveOutcome, Driver, DriverOptions, LaneNotifier, LoadedLane,
};
use crate::feed::{LaneFeed, OwnerFeed};
use crate::ports::{SessionEndReason, StoreError};
use crate::watchdog_slot::WatchdogSlot;

#[cfg(test)]
#[path = "reservation_tests.rs"]
mod reservation_tests;

/// The right to drive a lane in this process. Ends with the driver.
pub(crate) struct LaneReservation {
    pub(super) host: Arc<LaneHost>,
    pub(super) lane: LaneId,
    pub(super) feed: LaneFeed,
    /// The epoch of the claim that is not released yet; 0 for none.
    unreleased_epoch: AtomicU64,
    /// The claim to start with, if there is one.
    held_claim: Option<HeldClaim>,
    watchdog_slot: WatchdogSlot,
    /// Whether a driver before this one was aborted: the run's time limits come first.
    replaces_stuck: bool,
}

impl LaneReservation {
    pub(super) fn new(
        host: Arc<LaneHost>,
        lane: LaneId,
        feed: LaneFeed,
        watchdog_slot: WatchdogSlot,
    ) -> Self {
        let unreleased_epoch = AtomicU64::new(0);
        Self {
            host,
            lane,
            feed,
            unreleased_epoch,
            held_claim: None,
            watchdog_slot,
            replaces_stuck: false,
        }
    }

    /// Marks the reservation as that of a lane whose driver was aborted as stuck.
    pub(super) fn replacing_stuck_driver(mut self) -> Self {
        self.replaces_stuck = true;
        self
    }

    /// Sets the claim of a lane that is claimed already.
    pub(super) fn with_claim(mut self, held: HeldClaim) -> Self {
        self.unreleased_epoch = AtomicU64::new(held.claim.epoch);
        self.held_claim = Some(held);
        self
    }

    /// Drives the lane until it rests and no notification arrived meanwhile.
    pub(crate) async fn drive(
        mut self,
        owner: Option<OwnerFeed>,
    ) -> Result<DriveOutcome, DriveError> {
        let mut taken = self.held_claim.take();
        loop {
            let rest = self.drive_once(owner.clone(), taken.take()).await?;
            self.record_rest(&rest);
            if self.should_end_session(&rest) {
                // Boxed because this is rare, and would make the future of every driver larger.
                Box::pin(self.host.end_session(self.lane.clone(), SessionEndReason::Other)).await;
            }
            if self.release_unless_notified() {
                return Ok(rest);
            }
        }
    }

    async fn drive_once(
        &self,
        owner: Option<OwnerFeed>,
        taken: Option<HeldClaim>,
    ) -> Result<DriveOutcome, DriveError> {
        let host = &self.host;
        let held = match taken {
            Some(claim) => claim,
            None => tokio::select! {
                biased;
                taken = host.claim_lane(&self.lane) => taken?,
                () = host.hand_over.cancelled() => {
                    return Ok(DriveOutcome::HandedOver(Conversation::default()));
                }
            },
        };
        let epoch = held.claim.epoch;
        self.unreleased_epoch.store(epoch, Ordering::SeqCst);
        // Boxed because opening takes more space than driving, and is over soon.
        let opened = Box::pin(self.build_driver(held, owner)).await;
        let rest = match opened {
            Ok(driver) => tokio::select! {
                biased;
                rest = driver.drive(host.hand_over.clone()) => rest,
                // The driver that replaces this one has claimed the lane, or is about to.
                () = self.watchdog_slot.wait_until_aborted() => {
                    Err(StoreError::Fenced { lane: self.lane.clone() }.into())
                }
            },
            Err(error) => {
                // What cannot be read here may be readable in another process, or later.
                let released = host.release_lane(self.lane.clone(), epoch).await;
                released.map_err(DriveError::from).and(Err(error))
            }
        };
        if !may_still_own_lane(&rest) {
            self.unreleased_epoch.store(0, Ordering::SeqCst);
        }
        rest
    }

    /// Builds the driver. What a new lane needs came with its claim: nothing is read that is empty
    /// according to the claim.
    async fn build_driver(
        &self,
        taken: HeldClaim,
        owner: Option<OwnerFeed>,
    ) -> Result<Box<Driver>, DriveError> {
        let (host, lane) = (&self.host, self.lane.clone());
        let HeldClaim { mut claim, lease_lapses } = taken;
        let affinity = Arc::clone(&claim.workspace);
        let options = self.driver_options(&claim.tenant);
        let conversation = match claim.head {
            0 => Conversation::default(),
            _ => driver::load_conversation(&host.agent().ports, &lane).await?,
        };
        let messages =
            driver::read_initial_messages(&host.agent().ports, &lane, claim.messages.take())
                .await?;
        let agent = host.agent_for_lane(&lane, &conversation, &messages).await?;
        let agent = host.agents.adapt_to_workspace(agent, &affinity);
        let agent = agent.with_current_server_tools();
        let claimed = LoadedLane { lane, claim, lease_lapses, conversation, messages };
        let (lease, feed) = (host.lease.clone(), self.feed.clone());
        Ok(Box::new(Driver::from_loaded_lane(agent, claimed, lease, feed, owner, options)))
    }

    fn driver_options(&self, tenant: &Arc<str>) -> DriverOptions {
        let host = &self.host;
        DriverOptions {
            lane_notifier: Some(self.lane_notifier()),
            tool_semaphore: Some(host.tool_semaphore.for_tenant(tenant)),
            keeps_raw_responses: host.agents.retention().should_keep_raw(tenant),
            watchdog_slot: self.watchdog_slot.clone(),
            notifications: host.notifications.clone(),
            grace_ms: Arc::clone(&host.grace_ms),
            replaces_stuck: self.replaces_stuck,
        }
    }

    /// Returns the callback with which this process drives lanes that were sent messages, for as
    /// long as the process exists.
    fn lane_notifier(&self) -> LaneNotifier {
        let host = Arc::downgrade(&self.host);
        Arc::new(move |lane| {
            if let Some(host) = host.upgrade() {
                host.drive_if_due(lane.clone());
            }
        })
    }

    /// Records a lane that waits for child runs, and wakes those that wait for this lane to rest.
    fn record_rest(&self, rest: &DriveOutcome) {
        if let DriveOutcome::Parked(conversation) = rest {
            self.host.on_lane_rested(&self.lane, is_waiting_for_children(conversation));
        }
    }

    /// Returns whether a worker is done with a top-level conversation.
    fn should_end_session(&self, rest: &DriveOutcome) -> bool {
        let is_worker = self.host.is_worker.load(Ordering::SeqCst);
        is_worker
            && matches!(rest, DriveOutcome::Idle(now) if now.parent.is_none() && now.last_run_end.is_some())
    }

    /// Releases the reservation, unless the driver was notified: then it must check the inbox
    /// again.
    fn release_unless_notified(&self) -> bool {
        let mut slots = self.host.lock_slots();
        let Some(slot) = slots.get_mut(&self.lane) else { return true };
        if self.watchdog_slot.is_aborted() {
            return true;
        }
        let poked = slot.driver_state == DriverState::RunningNotified
            && !self.host.hand_over.is_cancelled();
        slot.driver_state = if poked { DriverState::Running } else { DriverState::Absent };
        !poked
    }
}

impl Drop for LaneReservation {
    fn drop(&mut self) {
        let mut slots = self.host.lock_slots();
        if let Some(slot) = slots.get_mut(&self.lane).filter(|_| !self.watchdog_slot.is_aborted()) {
            slot.driver_state = DriverState::Absent;
            if slot.feed.has_no_readers() {
                slots.remove(&self.lane);
            }
        }
        drop(slots);
        let claimed = self.unreleased_epoch.load(Ordering::SeqCst);
        if claimed > 0 {
            self.host.lock_unreleased().insert(self.lane.clone(), claimed);
        }
        self.host.lane_rested.notify_waiters();
    }
}

/// Returns whether this process may still own the lane after driving it: it certainly does not only
/// if the store refused it for good.
fn may_still_own_lane(rest: &Result<DriveOutcome, DriveError>) -> bool {
    match rest {
        Ok(_) => false,
        Err(DriveError::Store(StoreError::Fenced { .. })) => false,
        Err(DriveError::Store(_) | DriveError::Log(_) | DriveError::UnknownAgent { .. }) => true,
    }
}
