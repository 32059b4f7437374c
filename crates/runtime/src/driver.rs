//! The driver: performs what the core decides, one step at a time. It waits at one point; between
//! two waits it decides, appends, applies, publishes to the readers, and starts and aborts effects.
//! It makes no decisions of its own.

mod call_summaries;
mod changed_inputs;
mod driver_wait;
mod fault_injection;
mod finished_effects;
mod hand_over;
mod lease_check;
mod load;
mod long_calls;
mod observers;
mod open_lane;
mod options;
pub(crate) mod outbox;
mod run_moments;
mod shared_spending;
mod step;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use windlass_core::budget::spending::Spending;
use windlass_core::log::entry::LogError;
use windlass_core::log::ids::{CallId, Epoch, LaneId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxMessage;
use windlass_core::log::input::Input;
use windlass_core::run::active_run::RunPhase;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::{is_parked, is_waiting_for_children, wanted};
use windlass_core::settings::conversation_settings::Settings;

pub(crate) use load::{LoadedLane, read_initial_messages};
pub use load::{load_conversation, load_conversation_at};
pub(crate) use options::{DriverOptions, LaneNotifier};

use crate::agent::{Agent, Ports};
use crate::effect_runner::EffectRunner;
use crate::feed::{LaneFeed, OwnerFeed};
use crate::lease::WorkerLease;
use crate::ports::{LaneClaim, StoreError};
use call_summaries::CallSummaries;
use driver_wait::{DriverWaiter, WakeReason};
use finished_effects::EarlyResults;
use observers::DecidingHooks;

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
    /// Whether the owner dropped its stream; then a cancel of its run was requested.
    has_owner_left: bool,
    clock_behind_ms: u64,
    /// The lease lapse after which the store last confirmed that this process owns the lane.
    owned_since_lapse: u64,
    /// The inbox messages that came with the claim.
    initial_messages: Vec<InboxMessage>,
    options: DriverOptions,
    /// The spending of this conversation that is counted under the cap of its profile.
    counted_spending: Spending,
    /// Hooks that may answer an open question.
    deciding_hooks: DecidingHooks,
    /// Lines about tool calls that are being written.
    call_summaries: CallSummaries,
    /// Long calls that have a row, with the time they started.
    recorded_long_calls: Vec<(CallId, UnixMillis)>,
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
        let options = DriverOptions::default();
        Ok(Self::from_loaded_lane(agent, claimed, lease, feed, owner, options))
    }

    /// Creates the driver of a lane that was claimed and loaded.
    pub(crate) fn from_loaded_lane(
        agent: Agent,
        claimed: LoadedLane,
        lease: WorkerLease,
        feed: LaneFeed,
        owner: Option<OwnerFeed>,
        options: DriverOptions,
    ) -> Self {
        let LoadedLane { lane, claim, lease_lapses, conversation, messages } = claimed;
        let Agent { ports, settings } = agent.clone();
        let (feed_copy, owner_copy) = (feed.clone(), owner.clone());
        let semaphore = options.tool_semaphore.clone();
        let (effects, landed) =
            EffectRunner::new(lane.clone(), agent, feed_copy, owner_copy, semaphore);
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
            has_owner_left: false,
            clock_behind_ms: 0,
            owned_since_lapse: lease_lapses,
            initial_messages: messages,
            options,
            counted_spending,
            deciding_hooks: DecidingHooks::default(),
            call_summaries: CallSummaries::default(),
            recorded_long_calls: Vec::new(),
        }
    }

    fn notify_lane(&self, lane: &LaneId) {
        if let Some(notify) = &self.options.lane_notifier {
            notify(lane);
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
        self.decide_open_questions();
        loop {
            self.set_watchdog_deadline();
            self.ensure_lease().await?;
            let wanted = wanted(&self.conversation);
            self.effects.reconcile(&self.conversation, &wanted.effects);
            // Before the count is read: a hook that returns in between is not missed.
            let decided = self.deciding_hooks.next_return();
            if let Some(rest) = self.outcome_if_idle() {
                self.notify_child_lanes();
                return Ok(rest);
            }
            let now = self.now();
            let due = wanted.wake_at.into_iter().chain(self.next_long_call_at()).min();
            let until_due = due.map(|due| due.ms_since(now));
            let owner = self.owner.as_ref().filter(|_| !self.has_owner_left);
            let lapsed = self.lease.wait_until_lapsed();
            let outside = (lapsed, decided, self.call_summaries.next());
            match self.waiter.wait(until_due, owner, hand_over, outside).await {
                WakeReason::CallsSummarised(summary) => self.on_calls_summarised(summary).await?,
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
                    self.lease.renew(self.ports.store.as_ref()).await?;
                }
                WakeReason::HandOver => {
                    self.finish_running_calls().await?;
                    return Ok(DriveOutcome::HandedOver(self.conversation.clone()));
                }
            }
        }
    }

    /// Returns the outcome if there is nothing left to wait for here.
    fn outcome_if_idle(&self) -> Option<DriveOutcome> {
        let c = &self.conversation;
        if c.run.is_none() {
            return Some(DriveOutcome::Idle(c.clone()));
        }
        let waits_for_clock = wanted(c).wake_at.is_some();
        let waits = is_parked(c) || is_waiting_for_children(c);
        let has_to_wait = waits_for_clock || self.deciding_hooks.are_running();
        (waits && !has_to_wait).then(|| DriveOutcome::Parked(c.clone()))
    }

    /// Notifies the lanes that this conversation waits for, whichever process started them.
    fn notify_child_lanes(&self) {
        outbox::pending_child_lanes(&self.lane, &self.conversation)
            .iter()
            .chain(&outbox::background_child_lanes(&self.lane, &self.conversation))
            .for_each(|child| self.notify_lane(child));
    }

    /// The owner of the stream dropped it: the run it owned is cancelled at the next safe boundary.
    async fn on_owner_left(&mut self) -> Result<(), DriveError> {
        self.has_owner_left = true;
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

/// Returns whether the run of `conversation` waits for a model call.
fn is_calling_model(conversation: &Conversation) -> bool {
    conversation.run.as_ref().is_some_and(|run| matches!(run.phase, RunPhase::CallingModel(_)))
}
