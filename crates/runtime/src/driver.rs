//! Carries out what the core decides, one step at a time. The driver waits at one point; between two
//! waits it decides, appends, applies, tells the readers, and makes the air what is wanted. It holds
//! no judgement of its own.

mod fault;
mod held;
mod inbox;
mod landing;
pub(crate) mod letters;
mod notifications;
mod running;
mod spending;
mod step;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_util::sync::CancellationToken;
use windlass_core::budget::Spent;
use windlass_core::conversation::Conversation;
use windlass_core::ids::{CallId, Epoch, LaneId, Millis, Seq};
use windlass_core::input::Input;
use windlass_core::log::{self, Entry};
use windlass_core::mail::Mail;
use windlass_core::run::Phase;
use windlass_core::settings::Settings;
use windlass_core::wanted::{is_parked, next_time_limit, waits_for_children, wanted};

pub(crate) use notifications::Notifications;

use crate::agent::{Agent, Ports};
use crate::feed::{Feed, OwnerFeed};
use crate::flights::Flights;
use crate::host::WatchedDriver;
use crate::keeping::KeepRaw;
use crate::lease::Lease;
use crate::ports::{Claim, MAIL_PAGE, StoreError};
use crate::turns::Turns;
use held::Held;
use inbox::{Inbox, Woken};

/// Entries read at once when a lane is loaded.
const PAGE: usize = 512;

/// Drives one lane for as long as there is something to do.
pub struct Driver {
    lane: LaneId,
    epoch: Epoch,
    fork_of: Option<(LaneId, Seq)>,
    ports: Ports,
    settings: Arc<Settings>,
    lease: Lease,
    conversation: Conversation,
    flights: Flights,
    inbox: Inbox,
    held: Held,
    feed: Feed,
    owner: Option<OwnerFeed>,
    owner_left: OwnerLeft,
    clock_behind_ms: u64,
    /// The lapse of the lease after which the store last said that the lane is ours.
    ours_since: u64,
    /// Mail that came with the claim.
    first_mail: Vec<Mail>,
    post: Option<Post>,
    keep_raw: KeepRaw,
    watched: WatchedDriver,
    /// Hooks that hear of questions.
    notifications: Notifications,
    /// How long tool calls may go on after the request to hand over.
    grace_ms: Arc<AtomicU64>,
    /// A driver before this one missed a time limit.
    after_stuck: bool,
    /// What of this conversation counts as spent under the cap of its profile.
    counted: Spent,
    /// Calls that run for long and have their row, with when they began.
    shown_calls: Vec<(CallId, Millis)>,
}

/// Hears of lanes that may want to be driven: they were sent mail, or a lane waits for them.
pub(crate) type Post = Arc<dyn Fn(&LaneId) + Send + Sync>;

/// A lane that was claimed, and what its log says.
pub(crate) struct Claimed {
    pub(crate) lane: LaneId,
    pub(crate) claim: Claim,
    /// The lapses of the lease before it was claimed: until the next one the lane is ours.
    pub(crate) lapses: u64,
    pub(crate) conversation: Conversation,
    /// The mail that lay in it when it was claimed, a page at most.
    pub(crate) mail: Vec<Mail>,
}

/// What became of the owner of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnerLeft {
    /// It is there, or there never was one.
    No,
    /// It dropped its stream; the run was asked to end.
    Yes,
}

/// Why a driver stopped driving.
#[derive(Debug)]
pub enum Rest {
    /// Every run has ended and there is no mail.
    Idle(Conversation),
    /// The run waits for a human or for its children; nothing is in the air.
    Parked(Conversation),
    /// The driver was told to hand the lane over.
    HandedOver(Conversation),
}

/// Why a driver could not go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// The store failed, or another owner has the lane.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] log::Error),
    /// The lane belongs to an agent that this process does not have.
    #[error("no agent named {name} is registered with this process; register it and resume {lane}")]
    NoAgent {
        /// The agent.
        name: Arc<str>,
        /// The lane.
        lane: LaneId,
    },
}

impl Driver {
    /// Loads a claimed lane.
    pub async fn load(
        agent: Agent,
        lane: LaneId,
        claim: Claim,
        lease: Lease,
        feed: Feed,
        owner: Option<OwnerFeed>,
    ) -> Result<Self, DriveError> {
        let conversation = load(&agent.ports, &lane).await?;
        let mail = first_mail(&agent.ports, &lane, claim.mail.clone()).await?;
        let claimed = Claimed { lane, claim, lapses: u64::MAX, conversation, mail };
        Ok(Self::of(agent, claimed, lease, feed, owner))
    }

    /// Of a lane that was claimed and read.
    pub(crate) fn of(
        agent: Agent,
        claimed: Claimed,
        lease: Lease,
        feed: Feed,
        owner: Option<OwnerFeed>,
    ) -> Self {
        let Claimed { lane, claim, lapses, conversation, mail } = claimed;
        let Agent { ports, settings } = agent.clone();
        let (flights, landed) = Flights::new(lane.clone(), agent, feed.clone(), owner.clone());
        // A fork that has not begun shows what its parent spent.
        let is_new_fork = claim.fork_of.as_ref().is_some_and(|(_, at)| *at == conversation.head);
        let counted = if is_new_fork { Spent::default() } else { conversation.committed() };
        Self {
            inbox: Inbox::new(lane.clone(), ports.clone(), landed),
            lane,
            epoch: claim.epoch,
            fork_of: claim.fork_of,
            ports,
            settings,
            lease,
            conversation,
            flights,
            held: Held::default(),
            feed,
            owner,
            owner_left: OwnerLeft::No,
            clock_behind_ms: 0,
            ours_since: lapses,
            first_mail: mail,
            post: None,
            keep_raw: KeepRaw::Yes,
            watched: WatchedDriver::default(),
            notifications: Notifications::default(),
            grace_ms: Arc::default(),
            after_stuck: false,
            counted,
            shown_calls: Vec::new(),
        }
    }

    /// The same driver, which tells somebody about lanes that may want to be driven.
    pub(crate) fn posting(mut self, post: Post) -> Self {
        self.post = Some(post);
        self
    }

    /// The same driver, whose tools wait for their turn among all of the process.
    pub(crate) fn taking(mut self, turns: Turns) -> Self {
        self.flights.take_turns(turns);
        self
    }

    /// The same driver, which keeps what providers say besides their replies, or does not.
    pub(crate) fn keeping(mut self, raw: KeepRaw) -> Self {
        self.keep_raw = raw;
        self
    }

    /// The same driver, watched from outside.
    pub(crate) fn watched_by(mut self, watched: WatchedDriver) -> Self {
        self.watched = watched;
        self
    }

    /// The same driver, which lets tool calls finish within a grace period before it hands over.
    pub(crate) fn with_grace(mut self, grace_ms: Arc<AtomicU64>) -> Self {
        self.grace_ms = grace_ms;
        self
    }

    /// The same driver, whose notifications others wait for.
    pub(crate) fn notifying(mut self, notifications: Notifications) -> Self {
        self.notifications = notifications;
        self
    }

    /// The same driver, in the place of one that missed a time limit.
    pub(crate) fn after_stuck_driver(mut self) -> Self {
        self.after_stuck = true;
        self
    }

    fn post(&self, lane: &LaneId) {
        if let Some(post) = &self.post {
            post(lane);
        }
    }

    /// Drives until nothing is left to do here, then gives the lane back. Boxed, because a future
    /// keeps room for every place that its arguments pass through.
    pub async fn drive(
        mut self: Box<Self>,
        hand_over: CancellationToken,
    ) -> Result<Rest, DriveError> {
        let rest = self.drive_claimed(&hand_over).await;
        self.flights.ground();
        if !matches!(rest, Ok(Rest::Parked(_))) {
            self.ports.tools.leave(&self.lane);
        }
        match rest {
            Err(DriveError::Store(error @ StoreError::Fenced { .. })) => Err(error.into()),
            rest => {
                let (lane, worker) = (self.lane.clone(), Arc::clone(&self.lease.worker));
                self.ports.store.release(lane, worker, self.epoch).await?;
                rest
            }
        }
    }

    async fn drive_claimed(&mut self, hand_over: &CancellationToken) -> Result<Rest, DriveError> {
        self.expect_limit();
        self.open().await?;
        loop {
            self.expect_limit();
            self.ensure_lease().await?;
            let wanted = wanted(&self.conversation);
            self.flights.reconcile(&self.conversation, &wanted.effects);
            if let Some(rest) = self.rest() {
                self.look_after_children();
                return Ok(rest);
            }
            let now = self.now();
            let due = wanted.wake_at.into_iter().chain(self.long_call_due()).min();
            let until_due = due.map(|due| due.since(now));
            let owner = self.owner.as_ref().filter(|_| self.owner_left == OwnerLeft::No);
            let lapsed = self.lease.lapsed();
            match self.inbox.wait(until_due, owner, hand_over, lapsed).await {
                Woken::Landed(landed) => self.land(landed).await?,
                Woken::Mail => self.read_mail().await?,
                Woken::Time => {
                    self.show_long_calls().await?;
                    self.step(vec![Input::Ticked {}]).await?;
                }
                Woken::OwnerLeft => self.owner_left().await?,
                Woken::Lapsed if fault::heeds_lapses() => self.renew().await?,
                Woken::Lapsed => self.lease.beat(self.ports.store.as_ref()).await?,
                Woken::HandOver => {
                    self.finish_calls().await?;
                    return Ok(Rest::HandedOver(self.conversation.clone()));
                }
            }
        }
    }

    /// Tells the watchdog when the next limit of the run's time comes.
    fn expect_limit(&mut self) {
        let now = self.now();
        let in_ms = next_time_limit(&self.conversation).map(|due| due.since(now));
        let monotonic_ms = self.ports.clock.monotonic_ms();
        self.watched.expect_by(in_ms.map(|ms| monotonic_ms.saturating_add(ms).max(1)));
    }

    /// Lets tool calls come to their end before the lane is handed over: what was interrupted in the
    /// middle would have to be asked about. Nothing new is started, and calls that ran ahead of their
    /// reply, which only read, are not waited for.
    async fn finish_calls(&mut self) -> Result<(), DriveError> {
        let grace_ms = self.grace_ms.load(Ordering::SeqCst);
        if grace_ms == 0 || is_asking(&self.conversation) {
            return Ok(());
        }
        self.flights.keep_calls();
        let clock = Arc::clone(&self.ports.clock);
        let mut time_is_up = clock.sleep(grace_ms);
        while self.flights.has_any() {
            let landed = tokio::select! {
                biased;
                landed = self.inbox.landed() => landed,
                () = self.lease.lapsed() => return Ok(()),
                () = &mut time_is_up => return Ok(()),
            };
            self.land(landed).await?;
            self.flights.drop_unwanted(&wanted(&self.conversation).effects);
        }
        Ok(())
    }

    /// Brings settings and ownership up to date before anything else happens, and takes in the mail:
    /// one append for both.
    async fn open(&mut self) -> Result<(), DriveError> {
        if let Some((parent, at)) = self.fork_of.take_if(|(_, at)| *at == self.conversation.head) {
            // A copy begins by saying so: nothing of the parent's run goes on in it.
            self.step(vec![Input::Forked { parent, at }]).await?;
        }
        if self.after_stuck && self.conversation.run.is_some() {
            // Before it is adopted: the time that the stuck driver had counts, and so does what it
            // let go, which the log does not say.
            self.conversation = load_deciding(&self.ports, &self.lane).await?;
            self.step(vec![Input::Ticked {}]).await?;
            self.conversation = self.conversation.without_volatile();
        }
        let input = if self.conversation.run.is_some() {
            let prompt_hash = self.settings.prompt_hash();
            let same = self.conversation.prompt_hash.as_ref() == Some(&prompt_hash);
            let offer = (!same).then(|| self.settings.offer());
            let known = self.conversation.owner_settings.as_ref() == Some(&self.settings);
            let settings = (!known).then(|| Arc::clone(&self.settings));
            Input::Adopted { epoch: self.epoch, prompt_hash, offer, settings }
        } else {
            Input::Configured { settings: Arc::clone(&self.settings) }
        };
        let mail = std::mem::take(&mut self.first_mail);
        let received = (!mail.is_empty()).then_some(Input::Received { mail });
        self.step([input].into_iter().chain(received).collect()).await
    }

    /// Whether there is nothing left to wait for here.
    fn rest(&self) -> Option<Rest> {
        let c = &self.conversation;
        if c.run.is_none() {
            return Some(Rest::Idle(c.clone()));
        }
        let waits_for_clock = wanted(c).wake_at.is_some();
        let waits = is_parked(c) || waits_for_children(c);
        (waits && !waits_for_clock).then(|| Rest::Parked(c.clone()))
    }

    /// Whoever is waited for is to be looked after, also if another process began it.
    fn look_after_children(&self) {
        letters::still_out(&self.lane, &self.conversation)
            .iter()
            .for_each(|child| self.post(child));
    }

    /// The owner of the stream dropped it: the run it owned ends at the next safe boundary.
    async fn owner_left(&mut self) -> Result<(), DriveError> {
        self.owner_left = OwnerLeft::Yes;
        if let Some(run) = self.owner.as_ref().and_then(OwnerFeed::run) {
            self.inbox.cancel(run).await?;
        }
        self.read_mail().await
    }

    async fn read_mail(&mut self) -> Result<(), DriveError> {
        let mail = self.inbox.read_mail().await?;
        if mail.is_empty() {
            return Ok(());
        }
        self.step(vec![Input::Received { mail }]).await
    }

    /// Before effects start, makes sure that the lane is still ours: a process that was frozen may
    /// have lost it without noticing.
    async fn ensure_lease(&mut self) -> Result<(), DriveError> {
        let starting = !self.flights.has_all(&wanted(&self.conversation).effects);
        if !starting {
            return Ok(());
        }
        // Looking may take longer than the lease lasts: then it is looked at again.
        while !(self.lease.is_fresh() && self.lease.lapses() == self.ours_since) {
            self.lease.beat(self.ports.store.as_ref()).await?;
            let lapses = self.lease.lapses();
            let lane = self.ports.store.lane(self.lane.clone()).await?;
            if !lane.is_some_and(|lane| lane.is_held_by(&self.lease.worker, self.epoch)) {
                return Err(StoreError::Fenced { lane: self.lane.clone() }.into());
            }
            self.ours_since = lapses;
        }
        Ok(())
    }

    /// The lease ran out. If it cannot be renewed, others may have the lane by now: nothing stays in
    /// the air. One that was only frozen finds the lane still its own and goes on.
    async fn renew(&mut self) -> Result<(), DriveError> {
        let (lease, store) = (self.lease.clone(), Arc::clone(&self.ports.store));
        let lane = self.lane.clone();
        let asked = async {
            lease.beat(store.as_ref()).await?;
            store.lane(lane).await
        };
        let answer = tokio::select! {
            biased;
            answer = asked => answer.ok().flatten(),
            () = self.ports.clock.sleep(self.lease.times.beat_ms) => None,
        };
        if answer.is_some_and(|lane| lane.is_held_by(&self.lease.worker, self.epoch)) {
            return Ok(());
        }
        self.flights.ground();
        Err(StoreError::Fenced { lane: self.lane.clone() }.into())
    }

    /// Now, in the lane's time: a clock that was set back is taken to go on from the last entry,
    /// so that nobody waits an hour for what is due in a second.
    fn now(&mut self) -> Millis {
        let wall = self.ports.clock.now().plus(self.clock_behind_ms);
        self.clock_behind_ms =
            self.clock_behind_ms.saturating_add(self.conversation.at.since(wall));
        wall.max(self.conversation.at)
    }

    /// The conversation as it stands.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }
}

/// The mail that came with a claim; what did not come is asked for, if only to hear why.
pub(crate) async fn first_mail(
    ports: &Ports,
    lane: &LaneId,
    came: Option<Vec<Mail>>,
) -> Result<Vec<Mail>, StoreError> {
    match came {
        Some(mail) => Ok(mail),
        None => ports.store.read_mail(lane.clone(), MAIL_PAGE).await,
    }
}

/// Folds a lane's whole log.
pub async fn load(ports: &Ports, lane: &LaneId) -> Result<Conversation, DriveError> {
    load_to(ports, lane, Seq::MAX).await
}

/// Folds a lane's log up to and with entry `last`.
pub async fn load_to(ports: &Ports, lane: &LaneId, last: Seq) -> Result<Conversation, DriveError> {
    load_with(ports, lane, last, Conversation::fold).await
}

/// The same as its last driver had it, with the calls that it let go: every entry is decided again.
async fn load_deciding(ports: &Ports, lane: &LaneId) -> Result<Conversation, DriveError> {
    load_with(ports, lane, Seq::MAX, Conversation::verify).await
}

async fn load_with(
    ports: &Ports,
    lane: &LaneId,
    last: Seq,
    take: fn(&mut Conversation, &Entry) -> Result<(), log::Error>,
) -> Result<Conversation, DriveError> {
    let mut conversation = Conversation::default();
    while conversation.head < last {
        let page = ports.store.read_log(lane.clone(), conversation.head, PAGE).await?;
        for stored in page.iter().filter(|stored| stored.seq <= last) {
            take(&mut conversation, &Entry::parse(stored.seq, &stored.line)?)?;
        }
        if page.len() < PAGE {
            break;
        }
    }
    Ok(conversation)
}

/// Whether the model call `conversation` waits for is the one these early calls belong to.
fn is_asking(conversation: &Conversation) -> bool {
    conversation.run.as_ref().is_some_and(|run| matches!(run.phase, Phase::Asking(_)))
}
