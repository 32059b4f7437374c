//! Lane dispatch: which agent drives a lane, and when lanes of parents and child runs are driven.
//!
//! A parent that only waits for child runs holds nothing but its name here. When a message of a
//! child run arrives, the process that enqueued it drives the parent, unless another process does.

use std::sync::Arc;

use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::{InboxCommand, InboxMessage};
use windlass_core::run::active_run::Run;
use windlass_core::run::child_runs::{ChildTask, ParentLink};
use windlass_core::run::conversation::Conversation;
use windlass_core::run::question::Question;
use windlass_core::run::wanted::{is_parked, is_waiting_for_children, is_waiting_in_background};

use super::{HeldClaim, LaneHost, LaneReservation};
use crate::agent::Agent;
use crate::driver::{self, DriveError, outbox};
use crate::ports::StoreError;
use crate::telemetry::{self, DispatchFailure, NOT_DISPATCHED};

impl LaneHost {
    /// The agent that drives a lane.
    pub(super) async fn agent_for_lane(
        &self,
        lane: &LaneId,
        conversation: &Conversation,
        messages: &[InboxMessage],
    ) -> Result<Agent, DriveError> {
        let Some((task, parent)) = child_task_of(conversation, messages) else {
            return Ok(self.agent().clone());
        };
        let above = driver::load_conversation(&self.agent().ports, &parent.lane).await?.settings;
        let child = above.and_then(|above| self.agents.child_agent(&task, &parent, &above));
        child.ok_or_else(|| DriveError::UnknownAgent { name: task.agent, lane: lane.clone() })
    }

    /// Drives the lane in the background if it is runnable and not driven yet. Returns at once.
    pub(crate) fn drive_if_due(self: Arc<Self>, lane: LaneId) {
        tokio::spawn(async move {
            // Errors are ignored: the next pass of a worker finds the lane.
            if let Ok(true) = self.is_runnable(&lane).await {
                self.drive(&lane);
            }
        });
    }

    /// Drives the lane in the background, unless this process does already.
    pub(crate) fn drive(self: &Arc<Self>, lane: &LaneId) {
        if self.hand_over.is_cancelled() {
            return;
        }
        if let Some(reservation) = self.reserve_lane(lane) {
            self.spawn_driver(lane.clone(), reservation);
        }
    }

    /// Drives a lane that is claimed already. Returns the claim if the lane must not be driven
    /// here, or is driven already.
    pub(crate) fn drive_claimed(
        self: &Arc<Self>,
        lane: &LaneId,
        claim: HeldClaim,
    ) -> Result<(), HeldClaim> {
        if self.hand_over.is_cancelled() {
            return Err(claim);
        }
        let Some(reservation) = self.reserve_lane(lane) else { return Err(claim) };
        self.spawn_driver(lane.clone(), reservation.with_claim(claim));
        Ok(())
    }

    fn spawn_driver(self: &Arc<Self>, lane: LaneId, reservation: LaneReservation) {
        let host = Arc::clone(self);
        tokio::spawn(async move {
            match reservation.drive(None).await {
                // Another process drives the lane, which is what was wanted.
                Err(DriveError::Store(StoreError::Busy { .. })) => {}
                Ok(rest) => host.lock_counts().count_rested(&rest),
                Err(error) => {
                    host.lock_counts().failed += 1;
                    telemetry::emit_not_driven(&lane, &error);
                    let failure = DispatchFailure::new(&error);
                    host.record_worker_event((NOT_DISPATCHED, Some(lane.clone()), &failure)).await;
                    host.back_off(lane, &error);
                    host.check_store().await;
                }
            }
        });
    }

    /// Returns whether the lane has messages, is due, or was abandoned by its owner. A living owner
    /// keeps it: that shows when the lane is claimed.
    async fn is_runnable(&self, lane: &LaneId) -> Result<bool, StoreError> {
        let Some(info) = self.store().lane_info(lane.clone()).await? else { return Ok(false) };
        let due = info.wake_at.is_some_and(|at| at <= self.agent().ports.clock.now());
        if due || info.owner.is_some() {
            return Ok(true);
        }
        self.has_messages(lane).await
    }

    async fn has_messages(&self, lane: &LaneId) -> Result<bool, StoreError> {
        Ok(!self.store().read_inbox(lane.clone(), 1).await?.is_empty())
    }

    /// A lane of this process came to rest; `waits` if it waits for its child runs.
    pub(super) fn on_lane_rested(&self, lane: &LaneId, waits: bool) {
        if waits {
            self.lock_waiting().insert(lane.clone());
        } else {
            self.lock_waiting().remove(lane);
        }
        self.lane_rested.notify_waiters();
    }

    /// Returns whether the lane rests here because it waits for its child runs.
    pub(crate) fn is_waiting_for_children(&self, lane: &LaneId) -> bool {
        self.lock_waiting().contains(lane)
    }

    /// Resolves when a lane of this process has come to rest.
    pub(crate) async fn wait_for_rest(&self) {
        self.lane_rested.notified().await;
    }

    /// Resolves when no driver of this process has the lane.
    pub(crate) async fn wait_until_released(&self, lane: &LaneId) {
        let mut rested = std::pin::pin!(self.lane_rested.notified());
        loop {
            // Registered before the check, so that no rest in between is missed.
            rested.as_mut().enable();
            if !self.is_driving(lane) {
                return;
            }
            rested.as_mut().await;
            rested.set(self.lane_rested.notified());
        }
    }

    /// Drives the child runs of a conversation, and the conversation itself, if they are due.
    pub(crate) fn drive_lane_tree_if_due(self: &Arc<Self>, lane: &LaneId, waits: &Conversation) {
        let awaited = outbox::pending_child_lanes(lane, waits);
        let background = outbox::background_child_lanes(lane, waits);
        for lane in awaited.into_iter().chain(background).chain([lane.clone()]) {
            Arc::clone(self).drive_if_due(lane);
        }
    }

    /// Returns the questions to humans of the child runs that a conversation waits for; `None` if
    /// some of them are still working.
    pub(crate) async fn child_questions(
        &self,
        lane: &LaneId,
        conversation: &Conversation,
    ) -> Result<Option<Vec<(LaneId, Question)>>, DriveError> {
        let mut asked = Vec::new();
        let mut family = match is_waiting_in_background(conversation) {
            true => outbox::background_child_lanes(lane, conversation),
            false => outbox::pending_child_lanes(lane, conversation),
        };
        while let Some(child) = family.pop() {
            // A child run that was answered is about to continue. Its inbox is read first: an
            // answer that is read meanwhile shows in the log that is loaded afterwards.
            let is_answered = self.has_messages(&child).await?;
            let known = driver::load_conversation(&self.agent().ports, &child).await?;
            if is_waiting_for_children(&known) {
                family.extend(outbox::pending_child_lanes(&child, &known));
            } else if is_answered || !is_parked(&known) {
                return Ok(None);
            }
            let questions = known.run.iter().flat_map(Run::open_questions).cloned();
            asked.extend(questions.map(|question| (child.clone(), question)));
        }
        Ok(Some(asked))
    }
}

/// The task and the parent of a child run, from its log or from the task in its inbox.
fn child_task_of(
    conversation: &Conversation,
    messages: &[InboxMessage],
) -> Option<(ChildTask, ParentLink)> {
    if let Some(parent) = &conversation.parent {
        let settings = conversation.settings.as_ref();
        let agent = settings.map(|settings| settings.agent.clone()).unwrap_or_default();
        let effort = settings.and_then(|settings| settings.thinking.effort);
        return Some((ChildTask { effort, ..ChildTask::new(&agent, "") }, parent.clone()));
    }
    if conversation.run.is_some() || conversation.last_run_end.is_some() {
        return None;
    }
    messages.iter().find_map(task_in_message)
}

fn task_in_message(message: &InboxMessage) -> Option<(ChildTask, ParentLink)> {
    if let InboxCommand::Task { task, parent, .. } = &message.body {
        return Some((task.clone(), parent.clone()));
    }
    None
}
