//! The driver: performs what the core decides, one step at a time. It waits at one point; between
//! two waits it decides, appends, applies, publishes to the readers, and starts and aborts effects.
//! It makes no decisions of its own.

mod driver_wait;
mod early_results;
mod fault_injection;
mod finished_effects;
mod lease_check;
mod long_calls;
mod notifications;
pub(crate) mod outbox;
mod shared_spending;
mod step;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_util::sync::CancellationToken;
use windlass_core::budget::spending::Spending;
use windlass_core::log::entry::{Entry, LogError};
use windlass_core::log::ids::{CallId, Epoch, LaneId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::log::input::Input;
use windlass_core::run::active_run::RunPhase;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::{is_parked, is_waiting_for_children, next_time_limit_at, wanted};
use windlass_core::settings::conversation_settings::Settings;

pub(crate) use notifications::HookNotifications;

use crate::agent::{Agent, Ports};
use crate::effect_runner::EffectRunner;
use crate::fair_semaphore::FairSemaphore;
use crate::feed::{LaneFeed, OwnerFeed};
use crate::lane_host::WatchdogSlot;
use crate::lease::WorkerLease;
use crate::ports::{INBOX_PAGE_MESSAGES, LaneClaim, StoreError};
use crate::retention::RawRetention;
use driver_wait::{DriverWaiter, WakeReason};
use early_results::EarlyResults;

/// The number of entries read at once when a lane is loaded.
const LOG_PAGE_ENTRIES: usize = 512;

/// Drives one lane for as long as there is something to do.
pub struct Driver {
    lane: LaneId,
    epoch: Epoch,
    fork_of: Option<(LaneId, Seq)>,
    ports: Ports,
    settings: Arc<Settings>,
    lease: WorkerLease,
    conversation: Conversation,
    effects: EffectRunner,
    waiter: DriverWaiter,
    early_results: EarlyResults,
    feed: LaneFeed,
    owner: Option<OwnerFeed>,
    owner_presence: StreamOwnerPresence,
    clock_behind_ms: u64,
    /// The lease lapse after which the store last confirmed that this process owns the lane.
    owned_since_lapse: u64,
    /// The inbox messages that came with the claim.
    initial_messages: Vec<InboxMessage>,
    lane_notifier: Option<LaneNotifier>,
    raw_retention: RawRetention,
    watchdog_slot: WatchdogSlot,
    /// Notification hooks for questions.
    notifications: HookNotifications,
    /// How long tool calls may continue after the request to hand over.
    grace_ms: Arc<AtomicU64>,
    /// Whether a driver before this one missed a time limit.
    replaces_stuck: bool,
    /// The spending of this conversation that is counted under the cap of its profile.
    counted_spending: Spending,
    /// Long calls that have a row, with the time they started.
    recorded_long_calls: Vec<(CallId, UnixMillis)>,
}

/// Callback for lanes that may be runnable: they were sent a message, or a lane waits for them.
pub(crate) type LaneNotifier = Arc<dyn Fn(&LaneId) + Send + Sync>;

/// A lane that was claimed, with the conversation folded from its log.
pub(crate) struct LoadedLane {
    pub(crate) lane: LaneId,
    pub(crate) claim: LaneClaim,
    /// The number of lease lapses before the claim: until the next lapse this process owns the
    /// lane.
    pub(crate) lease_lapses: u64,
    pub(crate) conversation: Conversation,
    /// The unread messages at the time of the claim, one page at most.
    pub(crate) messages: Vec<InboxMessage>,
}

/// Whether the owner of the stream is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamOwnerPresence {
    /// The owner is there, or there never was one.
    Present,
    /// The owner dropped its stream; a cancel of the run was requested.
    Left,
}

/// Why a driver stopped driving.
#[derive(Debug)]
pub enum DriveOutcome {
    /// Every run has ended and the inbox is empty.
    Idle(Conversation),
    /// The run waits for a human or for its child runs; no effect is in flight.
    Parked(Conversation),
    /// The driver was told to hand the lane over.
    HandedOver(Conversation),
}

/// Why a driver failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// The store failed, or another owner has the lane.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The lane belongs to an agent that is not registered in this process.
    #[error("no agent named {name} is registered with this process; register it and resume {lane}")]
    UnknownAgent {
        /// The name of the agent.
        name: Arc<str>,
        /// The lane that belongs to the agent.
        lane: LaneId,
    },
}

impl Driver {
    /// Loads a claimed lane and creates its driver.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn load(
        agent: Agent,
        lane: LaneId,
        claim: LaneClaim,
        lease: WorkerLease,
        feed: LaneFeed,
        owner: Option<OwnerFeed>,
    ) -> Result<Self, DriveError> {
        let conversation = load_conversation(&agent.ports, &lane).await?;
        let messages = read_initial_messages(&agent.ports, &lane, claim.messages.clone()).await?;
        let claimed = LoadedLane { lane, claim, lease_lapses: u64::MAX, conversation, messages };
        Ok(Self::from_loaded_lane(agent, claimed, lease, feed, owner))
    }

    /// Creates the driver of a lane that was claimed and loaded.
    pub(crate) fn from_loaded_lane(
        agent: Agent,
        claimed: LoadedLane,
        lease: WorkerLease,
        feed: LaneFeed,
        owner: Option<OwnerFeed>,
    ) -> Self {
        let LoadedLane { lane, claim, lease_lapses, conversation, messages } = claimed;
        let Agent { ports, settings } = agent.clone();
        let (effects, landed) = EffectRunner::new(lane.clone(), agent, feed.clone(), owner.clone());
        // A fork without entries of its own shows the spending of its parent.
        let is_new_fork = claim.fork_of.as_ref().is_some_and(|(_, at)| *at == conversation.head);
        let counted_spending =
            if is_new_fork { Spending::default() } else { conversation.committed_spending() };
        Self {
            waiter: DriverWaiter::new(lane.clone(), ports.clone(), landed),
            lane,
            epoch: claim.epoch,
            fork_of: claim.fork_of,
            ports,
            settings,
            lease,
            conversation,
            effects,
            early_results: EarlyResults::default(),
            feed,
            owner,
            owner_presence: StreamOwnerPresence::Present,
            clock_behind_ms: 0,
            owned_since_lapse: lease_lapses,
            initial_messages: messages,
            lane_notifier: None,
            raw_retention: RawRetention::Keep,
            watchdog_slot: WatchdogSlot::default(),
            notifications: HookNotifications::default(),
            grace_ms: Arc::default(),
            replaces_stuck: false,
            counted_spending,
            recorded_long_calls: Vec::new(),
        }
    }

    /// Sets the callback for lanes that may be runnable.
    pub(crate) fn with_lane_notifier(mut self, post: LaneNotifier) -> Self {
        self.lane_notifier = Some(post);
        self
    }

    /// Sets the semaphore that limits the tools of the whole process.
    pub(crate) fn with_tool_semaphore(mut self, turns: FairSemaphore) -> Self {
        self.effects.set_tool_semaphore(turns);
        self
    }

    /// Sets whether raw responses of providers are kept.
    pub(crate) fn with_raw_retention(mut self, raw: RawRetention) -> Self {
        self.raw_retention = raw;
        self
    }

    /// Sets the slot in which the watchdog sees this driver.
    pub(crate) fn with_watchdog_slot(mut self, watched: WatchdogSlot) -> Self {
        self.watchdog_slot = watched;
        self
    }

    /// Sets the grace period in which tool calls may finish before the lane is handed over.
    pub(crate) fn with_grace(mut self, grace_ms: Arc<AtomicU64>) -> Self {
        self.grace_ms = grace_ms;
        self
    }

    /// Sets the notifications, which the process waits for before it ends.
    pub(crate) fn with_notifications(mut self, notifications: HookNotifications) -> Self {
        self.notifications = notifications;
        self
    }

    /// Marks the driver as the replacement of one that missed a time limit.
    pub(crate) fn replacing_stuck_driver(mut self) -> Self {
        self.replaces_stuck = true;
        self
    }

    fn notify_lane(&self, lane: &LaneId) {
        if let Some(post) = &self.lane_notifier {
            post(lane);
        }
    }

    /// Drives until there is nothing left to do here, then releases the lane. Boxed, because a
    /// future takes space for every place that its arguments pass through.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails, another owner has the lane, or the log cannot
    /// be read.
    pub async fn drive(
        mut self: Box<Self>,
        hand_over: CancellationToken,
    ) -> Result<DriveOutcome, DriveError> {
        let rest = self.drive_claimed(&hand_over).await;
        self.effects.abort_all();
        if !matches!(rest, Ok(DriveOutcome::Parked(_))) {
            self.ports.tools.on_lane_released(&self.lane);
        }
        match rest {
            Err(DriveError::Store(error @ StoreError::Fenced { .. })) => Err(error.into()),
            rest => {
                let (lane, worker) = (self.lane.clone(), Arc::clone(&self.lease.worker));
                self.ports.store.release_lane(lane, worker, self.epoch).await?;
                rest
            }
        }
    }

    async fn drive_claimed(
        &mut self,
        hand_over: &CancellationToken,
    ) -> Result<DriveOutcome, DriveError> {
        self.set_watchdog_deadline();
        self.open_lane().await?;
        loop {
            self.set_watchdog_deadline();
            self.ensure_lease().await?;
            let wanted = wanted(&self.conversation);
            self.effects.reconcile(&self.conversation, &wanted.effects);
            if let Some(rest) = self.outcome_if_idle() {
                self.notify_child_lanes();
                return Ok(rest);
            }
            let now = self.now();
            let due = wanted.wake_at.into_iter().chain(self.next_long_call_at()).min();
            let until_due = due.map(|due| due.ms_since(now));
            let owner =
                self.owner.as_ref().filter(|_| self.owner_presence == StreamOwnerPresence::Present);
            let lapsed = self.lease.wait_until_lapsed();
            match self.waiter.wait(until_due, owner, hand_over, lapsed).await {
                WakeReason::EffectsFinished(landed) => self.on_effects_finished(landed).await?,
                WakeReason::MessageArrived => self.read_inbox().await?,
                WakeReason::TimerFired => {
                    self.record_long_calls().await?;
                    self.run_step(vec![Input::TimerFired {}]).await?;
                }
                WakeReason::OwnerLeft => self.on_owner_left().await?,
                WakeReason::LeaseLapsed if fault_injection::stops_on_lapse() => {
                    self.renew_lease().await?;
                }
                WakeReason::LeaseLapsed => {
                    self.lease.send_heartbeat(self.ports.store.as_ref()).await?;
                }
                WakeReason::HandOver => {
                    self.finish_running_calls().await?;
                    return Ok(DriveOutcome::HandedOver(self.conversation.clone()));
                }
            }
        }
    }

    /// Tells the watchdog when the next time limit of the run is due.
    fn set_watchdog_deadline(&mut self) {
        let now = self.now();
        let in_ms = next_time_limit_at(&self.conversation).map(|due| due.ms_since(now));
        let monotonic_ms = self.ports.clock.monotonic_ms();
        self.watchdog_slot.set_deadline(in_ms.map(|ms| monotonic_ms.saturating_add(ms).max(1)));
    }

    /// Lets running tool calls finish before the lane is handed over: the outcome of an interrupted
    /// call would have to be found out. No new effect is started. Early calls, which only read, are
    /// not waited for.
    async fn finish_running_calls(&mut self) -> Result<(), DriveError> {
        let grace_ms = self.grace_ms.load(Ordering::SeqCst);
        if grace_ms == 0 || is_calling_model(&self.conversation) {
            return Ok(());
        }
        self.effects.abort_all_but_tool_calls();
        let clock = Arc::clone(&self.ports.clock);
        let mut time_is_up = clock.sleep(grace_ms);
        while self.effects.has_in_flight() {
            let landed = tokio::select! {
                biased;
                landed = self.waiter.wait_for_effects() => landed,
                () = self.lease.wait_until_lapsed() => return Ok(()),
                () = &mut time_is_up => return Ok(()),
            };
            self.on_effects_finished(landed).await?;
            self.effects.abort_unwanted(&wanted(&self.conversation).effects);
        }
        Ok(())
    }

    /// Brings settings and ownership up to date before anything else happens, and reads the inbox,
    /// with one append for both.
    async fn open_lane(&mut self) -> Result<(), DriveError> {
        if let Some((parent, at)) = self.fork_of.take_if(|(_, at)| *at == self.conversation.head) {
            // The first entry of a fork records the fork: nothing of the parent's run continues in
            // it.
            self.run_step(vec![Input::Forked { parent, at }]).await?;
        }
        if self.replaces_stuck && self.conversation.run.is_some() {
            // Before the owner change is recorded: the time that the stuck driver used counts, and
            // so do the calls it started, which the log does not show.
            self.conversation = load_deciding(&self.ports, &self.lane).await?;
            self.run_step(vec![Input::TimerFired {}]).await?;
            self.conversation = self.conversation.without_volatile();
        }
        let input = if self.conversation.run.is_some() {
            let prompt_hash = self.settings.prompt_hash();
            let same = self.conversation.prompt_hash.as_ref() == Some(&prompt_hash);
            let prompt_fingerprint = (!same).then(|| self.settings.prompt_fingerprint());
            let known = self.conversation.owner_settings.as_ref() == Some(&self.settings);
            let settings = (!known).then(|| Arc::clone(&self.settings));
            Input::OwnerChanged { epoch: self.epoch, prompt_hash, prompt_fingerprint, settings }
        } else {
            Input::Configured { settings: Arc::clone(&self.settings) }
        };
        let messages = std::mem::take(&mut self.initial_messages);
        let received = (!messages.is_empty()).then_some(Input::CommandsReceived { messages });
        self.run_step([input].into_iter().chain(received).collect()).await
    }

    /// Returns the outcome if there is nothing left to wait for here.
    fn outcome_if_idle(&self) -> Option<DriveOutcome> {
        let c = &self.conversation;
        if c.run.is_none() {
            return Some(DriveOutcome::Idle(c.clone()));
        }
        let waits_for_clock = wanted(c).wake_at.is_some();
        let waits = is_parked(c) || is_waiting_for_children(c);
        (waits && !waits_for_clock).then(|| DriveOutcome::Parked(c.clone()))
    }

    /// Notifies the lanes that this conversation waits for, whichever process started them.
    fn notify_child_lanes(&self) {
        outbox::pending_child_lanes(&self.lane, &self.conversation)
            .iter()
            .for_each(|child| self.notify_lane(child));
    }

    /// The owner of the stream dropped it: the run it owned is cancelled at the next safe boundary.
    async fn on_owner_left(&mut self) -> Result<(), DriveError> {
        self.owner_presence = StreamOwnerPresence::Left;
        if let Some(run) = self.owner.as_ref().and_then(OwnerFeed::run) {
            self.waiter.enqueue_cancel(run).await?;
        }
        self.read_inbox().await
    }

    async fn read_inbox(&mut self) -> Result<(), DriveError> {
        let messages = self.waiter.read_inbox().await?;
        if messages.is_empty() {
            return Ok(());
        }
        self.run_step(vec![Input::CommandsReceived { messages }]).await
    }

    /// Returns the current time of the lane: a clock that was set back continues from the last
    /// entry, so that a timer does not wait for the clock to catch up.
    fn now(&mut self) -> UnixMillis {
        let wall = self.ports.clock.now().plus_ms(self.clock_behind_ms);
        self.clock_behind_ms =
            self.clock_behind_ms.saturating_add(self.conversation.at.ms_since(wall));
        wall.max(self.conversation.at)
    }

    /// Returns the current state of the conversation.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }
}

/// Returns the messages that came with a claim. If they could not be read, the inbox is read again,
/// which returns the error.
pub(crate) async fn read_initial_messages(
    ports: &Ports,
    lane: &LaneId,
    came: Option<Vec<InboxMessage>>,
) -> Result<Vec<InboxMessage>, StoreError> {
    match came {
        Some(mail) => Ok(mail),
        None => ports.store.read_inbox(lane.clone(), INBOX_PAGE_MESSAGES).await,
    }
}

/// Folds a lane's whole log.
///
/// # Errors
///
/// Returns a [`DriveError`] if the store fails or the log cannot be read.
pub async fn load_conversation(ports: &Ports, lane: &LaneId) -> Result<Conversation, DriveError> {
    load_conversation_at(ports, lane, Seq::MAX).await
}

/// Folds a lane's log up to and including entry `last`.
///
/// # Errors
///
/// Returns a [`DriveError`] if the store fails or the log cannot be read.
pub async fn load_conversation_at(
    ports: &Ports,
    lane: &LaneId,
    last: Seq,
) -> Result<Conversation, DriveError> {
    load_with(ports, lane, last, Conversation::fold).await
}

/// Folds a lane's log as its last driver had it, with the calls that it started: every entry is
/// decided again.
async fn load_deciding(ports: &Ports, lane: &LaneId) -> Result<Conversation, DriveError> {
    load_with(ports, lane, Seq::MAX, Conversation::verify).await
}

async fn load_with(
    ports: &Ports,
    lane: &LaneId,
    last: Seq,
    take: fn(&mut Conversation, &Entry) -> Result<(), LogError>,
) -> Result<Conversation, DriveError> {
    let mut conversation = Conversation::default();
    while conversation.head < last {
        let page = ports.store.read_log(lane.clone(), conversation.head, LOG_PAGE_ENTRIES).await?;
        for stored in page.iter().filter(|stored| stored.seq <= last) {
            take(&mut conversation, &Entry::parse(stored.seq, &stored.line)?)?;
        }
        if page.len() < LOG_PAGE_ENTRIES {
            break;
        }
    }
    Ok(conversation)
}

/// Returns whether the run of `conversation` waits for a model call.
fn is_calling_model(conversation: &Conversation) -> bool {
    conversation.run.as_ref().is_some_and(|run| matches!(run.phase, RunPhase::CallingModel(_)))
}
