//! The right to drive a lane in this process, and driving it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_core::conversation::Conversation;
use windlass_core::ids::LaneId;
use windlass_core::wanted::waits_for_children;

use super::{Driving, Host, Taken, WatchedDriver};
use crate::driver::{self, Claimed, DriveError, Driver, Post, Rest};
use crate::feed::{Feed, OwnerFeed};
use crate::ports::{SessionEndReason, StoreError};

#[cfg(test)]
#[path = "reservation_tests.rs"]
mod reservation_tests;

/// The right to drive a lane in this process. Ends with the driver.
pub(crate) struct Reservation {
    pub(super) host: Arc<Host>,
    pub(super) lane: LaneId,
    pub(super) feed: Feed,
    /// The claim that was not given back yet; 0 is none.
    claimed: AtomicU64,
    /// The claim to begin with, if there is one.
    taken: Option<Taken>,
    watched: WatchedDriver,
    /// A driver before this one was given up: the run's time limits come first.
    after_stuck: bool,
}

impl Reservation {
    pub(super) fn new(host: Arc<Host>, lane: LaneId, feed: Feed, watched: WatchedDriver) -> Self {
        let claimed = AtomicU64::new(0);
        Self { host, lane, feed, claimed, taken: None, watched, after_stuck: false }
    }

    /// The same of a lane whose driver was given up.
    pub(super) fn after_stuck_driver(mut self) -> Self {
        self.after_stuck = true;
        self
    }

    /// The same, of a lane that is claimed already.
    pub(super) fn holding(mut self, taken: Taken) -> Self {
        self.claimed = AtomicU64::new(taken.claim.epoch);
        self.taken = Some(taken);
        self
    }

    /// Drives the lane until it rests and nobody poked it meanwhile.
    pub(crate) async fn drive(mut self, owner: Option<OwnerFeed>) -> Result<Rest, DriveError> {
        let mut taken = self.taken.take();
        loop {
            let rest = self.drive_once(owner.clone(), taken.take()).await?;
            self.note(&rest);
            if self.ends_session(&rest) {
                // Seldom, and every driver would keep the room for it.
                Box::pin(self.host.end_session(self.lane.clone(), SessionEndReason::Other)).await;
            }
            if self.give_up() {
                return Ok(rest);
            }
        }
    }

    async fn drive_once(
        &self,
        owner: Option<OwnerFeed>,
        taken: Option<Taken>,
    ) -> Result<Rest, DriveError> {
        let host = &self.host;
        let taken = match taken {
            Some(taken) => taken,
            None => tokio::select! {
                biased;
                taken = host.claim(&self.lane) => taken?,
                () = host.hand_over.cancelled() => {
                    return Ok(Rest::HandedOver(Conversation::default()));
                }
            },
        };
        let epoch = taken.claim.epoch;
        self.claimed.store(epoch, Ordering::SeqCst);
        // Opening takes more room than driving, and is over soon.
        let opened = Box::pin(self.driver(taken, owner)).await;
        let rest = match opened {
            Ok(driver) => tokio::select! {
                biased;
                rest = driver.drive(host.hand_over.clone()) => rest,
                // Whoever replaces it has claimed the lane, or is about to.
                () = self.watched.cut_off() => {
                    Err(StoreError::Fenced { lane: self.lane.clone() }.into())
                }
            },
            Err(error) => {
                // What cannot be read here may be readable elsewhere, or later.
                let released = host.release(self.lane.clone(), epoch).await;
                released.map_err(DriveError::from).and(Err(error))
            }
        };
        if !is_kept(&rest) {
            self.claimed.store(0, Ordering::SeqCst);
        }
        rest
    }

    /// What a new lane needs came with its claim: nothing is read that the claim says is empty.
    async fn driver(
        &self,
        taken: Taken,
        owner: Option<OwnerFeed>,
    ) -> Result<Box<Driver>, DriveError> {
        let (host, lane) = (&self.host, self.lane.clone());
        let Taken { mut claim, lapses } = taken;
        let affinity = Arc::clone(&claim.affinity);
        let turns = host.turns.of(&claim.tenant);
        let keep_raw = host.agents.kept().raw_of(&claim.tenant);
        let conversation = match claim.head {
            0 => Conversation::default(),
            _ => driver::load(&host.agent().ports, &lane).await?,
        };
        let mail = driver::first_mail(&host.agent().ports, &lane, claim.mail.take()).await?;
        let agent = host.agent_of(&lane, &conversation, &mail).await?;
        let agent = host.agents.fitted(agent, &affinity);
        let claimed = Claimed { lane, claim, lapses, conversation, mail };
        let driver = Driver::of(agent, claimed, host.lease.clone(), self.feed.clone(), owner);
        let driver = driver.posting(self.post()).taking(turns).keeping(keep_raw);
        let driver = driver.watched_by(self.watched.clone()).with_grace(Arc::clone(&host.grace_ms));
        let driver = driver.notifying(host.notifications.clone());
        Ok(Box::new(if self.after_stuck { driver.after_stuck_driver() } else { driver }))
    }

    /// Lanes that were sent mail are looked after by this process, as long as it is there.
    fn post(&self) -> Post {
        let host = Arc::downgrade(&self.host);
        Arc::new(move |lane| {
            if let Some(host) = host.upgrade() {
                host.look_after(lane.clone());
            }
        })
    }

    /// Keeps in mind who waits for children, and tells whoever waits for this lane that it rests.
    fn note(&self, rest: &Rest) {
        if let Rest::Parked(conversation) = rest {
            self.host.rests(&self.lane, waits_for_children(conversation));
        }
    }

    /// Whether a worker is done with a conversation that no other one waits for.
    fn ends_session(&self, rest: &Rest) -> bool {
        let is_worker = self.host.is_worker.load(Ordering::SeqCst);
        is_worker
            && matches!(rest, Rest::Idle(now) if now.parent.is_none() && now.last_end.is_some())
    }

    /// Gives the reservation up, unless the driver was poked: then it is to look again.
    fn give_up(&self) -> bool {
        let mut slots = self.host.slots();
        let Some(slot) = slots.get_mut(&self.lane) else { return true };
        if self.watched.is_cut_off() {
            return true;
        }
        let poked = slot.driving == Driving::Poked && !self.host.hand_over.is_cancelled();
        slot.driving = if poked { Driving::Yes } else { Driving::No };
        !poked
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut slots = self.host.slots();
        if let Some(slot) = slots.get_mut(&self.lane).filter(|_| !self.watched.is_cut_off()) {
            slot.driving = Driving::No;
            if slot.feed.is_unheard() {
                slots.remove(&self.lane);
            }
        }
        drop(slots);
        let claimed = self.claimed.load(Ordering::SeqCst);
        if claimed > 0 {
            self.host.kept().insert(self.lane.clone(), claimed);
        }
        self.host.rested.notify_waiters();
    }
}

/// Whether the lane may still be ours after driving it: only what the store refused for good was
/// given back for certain.
fn is_kept(rest: &Result<Rest, DriveError>) -> bool {
    match rest {
        Ok(_) => false,
        Err(DriveError::Store(StoreError::Fenced { .. })) => false,
        Err(DriveError::Store(_) | DriveError::Log(_) | DriveError::NoAgent { .. }) => true,
    }
}
