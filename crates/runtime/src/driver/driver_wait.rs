//! The one point where the driver waits: for finished effects, inbox messages, timers, the owner of
//! the stream, a lease lapse, and the request to hand over.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::log::inbox::{InboxCommand, InboxMessage};

use super::call_summaries::FinishedSummary;
use crate::agent::Ports;
use crate::effect_runner::EffectResult;
use crate::feed::OwnerFeed;
use crate::ports::{Clock, INBOX_PAGE_MESSAGES, OutboxMessage, StoreError};

/// The largest number of finished effects decided in one step.
const MAX_EFFECTS_PER_STEP: usize = 64;

pub(super) struct DriverWaiter {
    lane: LaneId,
    ports: Ports,
    finished_effects: mpsc::Receiver<EffectResult>,
}

/// What ended the wait.
pub(super) enum WakeReason {
    /// Effects finished.
    EffectsFinished(Vec<EffectResult>),
    /// A line about tool calls is ready, or will not come.
    CallsSummarised(FinishedSummary),
    /// There may be a new inbox message, or a hook left a question to a human.
    MessageArrived,
    /// A timer is due.
    TimerFired,
    /// The owner dropped its stream.
    OwnerLeft,
    /// The lease lapsed.
    LeaseLapsed,
    /// This process was told to hand over.
    HandOver,
}

impl DriverWaiter {
    pub(super) fn new(
        lane: LaneId,
        ports: Ports,
        finished_effects: mpsc::Receiver<EffectResult>,
    ) -> Self {
        Self { lane, ports, finished_effects }
    }

    pub(super) async fn wait(
        &mut self,
        until_due: Option<u64>,
        owner: Option<&OwnerFeed>,
        hand_over: &CancellationToken,
        (lapsed, decided, summarised): (
            impl Future<Output = ()>,
            impl Future<Output = ()>,
            impl Future<Output = FinishedSummary>,
        ),
    ) -> WakeReason {
        tokio::select! {
            biased;
            Some(first) = self.finished_effects.recv() => WakeReason::EffectsFinished(self.drain_finished(first)),
            () = hand_over.cancelled() => WakeReason::HandOver,
            () = lapsed => WakeReason::LeaseLapsed,
            () = wait_until_abandoned(owner) => WakeReason::OwnerLeft,
            summary = summarised => WakeReason::CallsSummarised(summary),
            () = decided => WakeReason::MessageArrived,
            () = self.ports.store.wait_for_message(self.lane.clone()) => WakeReason::MessageArrived,
            () = wait_until_due(self.ports.clock.as_ref(), until_due) => WakeReason::TimerFired,
        }
    }

    /// Waits for finished effects only.
    pub(super) async fn wait_for_effects(&mut self) -> Vec<EffectResult> {
        match self.finished_effects.recv().await {
            Some(first) => self.drain_finished(first),
            // The effect runner holds the sender for as long as there is a driver.
            None => std::future::pending().await,
        }
    }

    /// Adds the effects that finished meanwhile, so that all of them are decided in the same step
    /// with one append.
    fn drain_finished(&mut self, first: EffectResult) -> Vec<EffectResult> {
        let mut all = vec![first];
        while all.len() < MAX_EFFECTS_PER_STEP {
            match self.finished_effects.try_recv() {
                Ok(landed) => all.push(landed),
                Err(_) => break,
            }
        }
        all
    }

    pub(super) async fn read_inbox(&self) -> Result<Vec<InboxMessage>, StoreError> {
        self.ports.store.read_inbox(self.lane.clone(), INBOX_PAGE_MESSAGES).await
    }

    /// Enqueues a cancel of the run, in the name of the owner that dropped its stream.
    pub(super) async fn enqueue_cancel(&self, run: &RunId) -> Result<(), StoreError> {
        let message = OutboxMessage {
            idempotency_key: Arc::from(format!("owner-left:{run}")),
            body: InboxCommand::Cancel { run: Some(run.clone()) },
        };
        self.ports.store.enqueue_message(self.lane.clone(), message).await.map(|_| ())
    }
}

async fn wait_until_abandoned(owner: Option<&OwnerFeed>) {
    match owner {
        Some(owner) => owner.wait_until_abandoned().await,
        None => std::future::pending().await,
    }
}

async fn wait_until_due(clock: &dyn Clock, until_due: Option<u64>) {
    match until_due {
        Some(ms) => clock.sleep(ms).await,
        None => std::future::pending().await,
    }
}
