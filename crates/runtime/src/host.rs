//! The process that drives conversations: one name, one beat, one driver per lane at most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_core::conversation::Conversation;
use windlass_core::ids::LaneId;

use crate::agent::Agent;
use crate::driver::{DriveError, Driver, Rest};
use crate::feed::{Feed, OwnerFeed};
use crate::identity;
use crate::lease::{Lease, LeaseTimes};
use crate::ports::{Claim, SeenBeat, StoreError};
use crate::session::Session;

/// A process that drives conversations.
pub struct Host {
    agent: Agent,
    lease: Lease,
    lanes: Mutex<HashMap<LaneId, Slot>>,
    hand_over: CancellationToken,
    beating: JoinHandle<()>,
}

/// What this process knows of a lane.
#[derive(Default)]
struct Slot {
    feed: Feed,
    driving: Driving,
}

/// Whether a driver of this process has the lane.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Driving {
    #[default]
    No,
    Yes,
    /// Yes, and something was delivered that it may have come to rest without seeing.
    Poked,
}

impl Slot {
    fn poke(&mut self) {
        if self.driving == Driving::Yes {
            self.driving = Driving::Poked;
        }
    }
}

impl Host {
    /// Starts beating under a new random name.
    pub async fn start(agent: Agent, times: LeaseTimes) -> Result<Arc<Self>, StoreError> {
        let lease = Lease::new(identity::new_worker(), times, Arc::clone(&agent.ports.clock));
        lease.beat(agent.ports.store.as_ref()).await?;
        let beating = tokio::spawn(lease.clone().keep(Arc::clone(&agent.ports.store)));
        let lanes = Mutex::default();
        Ok(Arc::new(Self { agent, lease, lanes, hand_over: CancellationToken::new(), beating }))
    }

    /// A handle to the conversation on `lane`, which need not exist yet.
    #[must_use]
    pub fn session(self: &Arc<Self>, lane: impl Into<LaneId>) -> Session {
        Session::new(Arc::clone(self), lane.into())
    }

    /// Asks every driver to stop where it is and give its lane back.
    pub fn hand_over(&self) {
        self.hand_over.cancel();
    }

    pub(crate) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The feed of a lane, whoever drives it.
    pub(crate) fn feed(&self, lane: &LaneId) -> Feed {
        self.slots().entry(lane.clone()).or_default().feed.clone()
    }

    /// Waits for as long as a silent owner counts as alive.
    pub(crate) async fn silence(&self) {
        self.agent.ports.clock.sleep(self.lease.times.expiry_ms).await;
    }

    /// Makes sure that a driver about to rest looks at its mail once more.
    pub(crate) fn poke(&self, lane: &LaneId) {
        if let Some(slot) = self.slots().get_mut(lane) {
            slot.poke();
        }
    }

    /// Reserves the lane for one driver of this process; pokes the driver if it has one.
    pub(crate) fn reserve(self: &Arc<Self>, lane: &LaneId) -> Option<Reservation> {
        let mut slots = self.slots();
        let slot = slots.entry(lane.clone()).or_default();
        if slot.driving != Driving::No {
            slot.poke();
            return None;
        }
        slot.driving = Driving::Yes;
        let feed = slot.feed.clone();
        Some(Reservation { host: Arc::clone(self), lane: lane.clone(), feed })
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<LaneId, Slot>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lane. An owner that beats keeps it; a silent one is watched for a whole lease,
    /// unless its process is known to be gone.
    async fn claim(&self, lane: &LaneId) -> Result<Claim, StoreError> {
        let first = match self.try_claim(lane, None).await {
            // A driver of ours ended without giving it back; the reservation says that there is
            // no other.
            Err(StoreError::Busy { owner, .. }) if owner.worker == self.lease.worker => {
                return self.try_claim(lane, Some(owner)).await;
            }
            Err(StoreError::Busy { owner, .. }) => owner,
            result => return result,
        };
        let mut watched_ms = if identity::is_gone(&first.worker) { u64::MAX } else { 0 };
        let times = self.lease.times;
        while watched_ms < times.expiry_ms {
            let pause = times.beat_ms.min(times.expiry_ms - watched_ms).max(1);
            self.agent.ports.clock.sleep(pause).await;
            watched_ms += pause;
            match self.try_claim(lane, None).await {
                Err(StoreError::Busy { owner, .. }) if owner == first => {}
                // It gave the lane back, or it beat while we watched.
                result => return result,
            }
        }
        self.try_claim(lane, Some(first)).await
    }

    async fn try_claim(&self, lane: &LaneId, dead: Option<SeenBeat>) -> Result<Claim, StoreError> {
        self.agent.ports.store.claim(lane.clone(), self.lease.worker.clone(), dead).await
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// The right to drive a lane in this process. Ends with the driver.
pub(crate) struct Reservation {
    host: Arc<Host>,
    lane: LaneId,
    feed: Feed,
}

impl Reservation {
    /// Drives the lane until it rests and nobody poked it meanwhile.
    pub(crate) async fn drive(self, owner: Option<OwnerFeed>) -> Result<Rest, DriveError> {
        loop {
            let rest = self.drive_once(owner.clone()).await?;
            if self.give_up() {
                return Ok(rest);
            }
        }
    }

    async fn drive_once(&self, owner: Option<OwnerFeed>) -> Result<Rest, DriveError> {
        let host = &self.host;
        let claim = tokio::select! {
            biased;
            claim = host.claim(&self.lane) => claim?,
            () = host.hand_over.cancelled() => return Ok(Rest::HandedOver(Conversation::default())),
        };
        let epoch = claim.epoch;
        let driver = Driver::load(
            host.agent.clone(),
            self.lane.clone(),
            claim,
            host.lease.clone(),
            self.feed.clone(),
            owner,
        );
        match driver.await {
            Ok(driver) => driver.drive(host.hand_over.clone()).await,
            Err(error) => {
                // What cannot be read here may be readable elsewhere, or later.
                host.agent.ports.store.release(self.lane.clone(), epoch).await?;
                Err(error)
            }
        }
    }

    /// Gives the reservation up, unless the driver was poked: then it is to look again.
    fn give_up(&self) -> bool {
        let mut slots = self.host.slots();
        let Some(slot) = slots.get_mut(&self.lane) else { return true };
        let poked = slot.driving == Driving::Poked && !self.host.hand_over.is_cancelled();
        slot.driving = if poked { Driving::Yes } else { Driving::No };
        !poked
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut slots = self.host.slots();
        if let Some(slot) = slots.get_mut(&self.lane) {
            slot.driving = Driving::No;
            if slot.feed.is_unheard() {
                slots.remove(&self.lane);
            }
        }
    }
}
