//! The process that drives conversations: one name, one beat, one driver per lane at most.

mod family;
mod reservation;
mod rounds;
mod standing;
mod watchdog;

pub(crate) use reservation::Reservation;
pub(crate) use watchdog::WatchedDriver;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_core::ids::{Epoch, LaneId};

use crate::agent::Agent;
use crate::agents::Agents;
use crate::driver::Notifications;
use crate::feed::Feed;
use crate::flights::catch::caught;
use crate::flights::within;
use crate::identity;
use crate::lease::{Lease, LeaseTimes};
use crate::ports::{Claim, Look, Reach, SeenBeat, SessionEndReason, Store, StoreError, Whose};
use crate::session::Session;
use crate::turns::Turns;
use crate::workers::Tally;

/// A process that drives conversations.
pub struct Host {
    agents: Agents,
    lease: Lease,
    lanes: Mutex<HashMap<LaneId, Slot>>,
    /// Lanes that came to rest here because they wait for their children.
    waiting: Mutex<HashSet<LaneId>>,
    rested: Notify,
    /// Lanes of this process that nobody drives, because they could not be given back.
    kept: Mutex<HashMap<LaneId, Epoch>>,
    /// Lanes that could not be driven, and until when they are left to others.
    shunned: Mutex<HashMap<LaneId, u64>>,
    turns: Turns,
    tally: Mutex<Tally>,
    ruin: OnceLock<StoreError>,
    hand_over: CancellationToken,
    /// How long tool calls may go on after this process was told to hand over.
    grace_ms: Arc<AtomicU64>,
    /// Hooks that hear of questions.
    notifications: Notifications,
    /// Whether it works on whatever is in the store. Such a process has no other end of a session
    /// than the end of a run.
    is_worker: AtomicBool,
    beating: JoinHandle<()>,
}

/// A lane that this process claimed.
pub(crate) struct Taken {
    claim: Claim,
    /// The lapses of the lease before that.
    lapses: u64,
}

/// What this process knows of a lane.
#[derive(Default)]
struct Slot {
    feed: Feed,
    driving: Driving,
    /// The driver that has it, as the watchdog sees it.
    watched: WatchedDriver,
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
    pub async fn start(
        agents: impl Into<Agents>,
        times: LeaseTimes,
    ) -> Result<Arc<Self>, StoreError> {
        let agents = agents.into();
        let ports = &agents.own().ports;
        let lease = Lease::new(identity::new_worker(), times, Arc::clone(&ports.clock));
        lease.beat(ports.store.as_ref()).await?;
        let beating = tokio::spawn(lease.clone().keep(Arc::clone(&ports.store)));
        let turns = Turns::new(agents.tools_at_once());
        let host = Arc::new(Self {
            agents,
            lease,
            lanes: Mutex::default(),
            waiting: Mutex::default(),
            rested: Notify::new(),
            kept: Mutex::default(),
            shunned: Mutex::default(),
            turns,
            tally: Mutex::default(),
            ruin: OnceLock::new(),
            hand_over: CancellationToken::new(),
            grace_ms: Arc::default(),
            notifications: Notifications::default(),
            is_worker: AtomicBool::new(false),
            beating,
        });
        tokio::spawn(rounds::walk(Arc::downgrade(&host)));
        tokio::spawn(watchdog::watch(Arc::downgrade(&host)));
        Ok(host)
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

    /// The same after the tool calls that run have finished, if they do so within `grace_ms`. Nothing
    /// new is started meanwhile.
    pub fn hand_over_within(&self, grace_ms: u64) {
        self.grace_ms.store(grace_ms, Ordering::SeqCst);
        self.hand_over.cancel();
    }

    /// Waits for hooks that still hear of a question. They have a time limit of their own.
    pub(crate) async fn finish_notifications(&self) {
        self.notifications.finish().await;
    }

    /// Tells the hooks that this process is done with a conversation. One that breaks down or takes
    /// too long is not waited for.
    pub(crate) async fn end_session(&self, lane: LaneId, reason: SessionEndReason) {
        let (ports, limit) = (&self.agent().ports, self.agent().settings.limits.hook_ms);
        let told = caught(ports.hooks.session_ended(lane, reason));
        _ = within(ports.clock.as_ref(), limit, told).await;
    }

    /// From now on every conversation that comes to rest here is one this process is done with.
    pub(crate) fn becomes_worker(&self) {
        self.is_worker.store(true, Ordering::SeqCst);
    }

    pub(crate) fn agent(&self) -> &Agent {
        self.agents.own()
    }

    /// Whose a conversation is that begins here.
    pub(crate) fn whose(&self) -> Whose {
        self.agents.whose()
    }

    /// Which conversations can be driven here.
    pub(crate) fn reach(&self) -> Reach {
        self.agents.reach()
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.agent().ports.store.as_ref()
    }

    /// The feed of a lane, whoever drives it.
    pub(crate) fn feed(&self, lane: &LaneId) -> Feed {
        self.slots().entry(lane.clone()).or_default().feed.clone()
    }

    /// Waits for as long as a silent owner counts as alive.
    pub(crate) async fn silence(&self) {
        self.agent().ports.clock.sleep(self.lease.times.expiry_ms).await;
    }

    /// Makes sure that a driver about to rest looks at its mail once more, and drives a lane that
    /// rests here because it waits for its children.
    pub(crate) fn poke(self: &Arc<Self>, lane: &LaneId) {
        if let Some(slot) = self.slots().get_mut(lane) {
            slot.poke();
        }
        if self.waiting().contains(lane) {
            self.attend(lane);
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
        slot.watched = WatchedDriver::default();
        let (feed, watched) = (slot.feed.clone(), slot.watched.clone());
        drop(slots);
        self.waiting().remove(lane);
        self.kept().remove(lane);
        Some(Reservation::new(Arc::clone(self), lane.clone(), feed, watched))
    }

    fn waiting(&self) -> MutexGuard<'_, HashSet<LaneId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<LaneId, Epoch>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<LaneId, Slot>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lane. An owner that beats keeps it; a silent one is watched for a whole lease,
    /// unless its process is known to be gone.
    async fn claim(&self, lane: &LaneId) -> Result<Taken, StoreError> {
        let mut ours = None;
        let first = loop {
            match self.try_claim(lane, ours.clone()).await {
                // A driver of ours ended without giving it back; the reservation says that there is
                // no other. A beat in between shows it anew.
                Err(StoreError::Busy { owner, .. })
                    if owner.worker == self.lease.worker && ours.as_ref() != Some(&owner) =>
                {
                    ours = Some(owner);
                }
                Err(StoreError::Busy { owner, .. }) => break owner,
                result => return result,
            }
        };
        let mut watched_ms = if identity::is_gone(&first.worker) { u64::MAX } else { 0 };
        let times = self.lease.times;
        while watched_ms < times.expiry_ms {
            let pause = times.beat_ms.min(times.expiry_ms - watched_ms).max(1);
            self.agent().ports.clock.sleep(pause).await;
            watched_ms += pause;
            match self.try_claim(lane, None).await {
                Err(StoreError::Busy { owner, .. }) if owner == first => {}
                // It gave the lane back, or it beat while we watched.
                result => return result,
            }
        }
        self.try_claim(lane, Some(first)).await
    }

    /// Takes lanes that want to be driven, and that were not just refused here.
    pub(crate) async fn claim_wanting(
        &self,
        most: usize,
    ) -> Result<Vec<(LaneId, Taken)>, StoreError> {
        let now = self.agent().ports.clock.now();
        let look = Look { now, most, reach: self.reach(), except: self.shunned() };
        let lapses = self.lease.lapses();
        let claims = self.store().claim_wanting(Arc::clone(&self.lease.worker), look).await?;
        Ok(claims.into_iter().map(|(lane, claim)| (lane, Taken { claim, lapses })).collect())
    }

    async fn try_claim(&self, lane: &LaneId, dead: Option<SeenBeat>) -> Result<Taken, StoreError> {
        let lapses = self.lease.lapses();
        let claim = self.store().claim(lane.clone(), self.lease.worker.clone(), dead).await?;
        Ok(Taken { claim, lapses })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.beating.abort();
    }
}
