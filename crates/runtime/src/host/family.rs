//! Children and parents: which agent a lane belongs to, and who drives it when mail comes.
//!
//! A parent that only waits for children holds nothing but its name here. When a child's mail
//! arrives, whoever delivered it looks after the parent: drives it, unless somebody else does.

use std::sync::Arc;

use windlass_core::child::{Parent, Task};
use windlass_core::conversation::Conversation;
use windlass_core::ids::LaneId;
use windlass_core::mail::{Mail, MailBody};
use windlass_core::question::Question;
use windlass_core::run::Run;
use windlass_core::wanted::{is_parked, waits_for_children};

use super::{Host, Reservation, Taken};
use crate::agent::Agent;
use crate::driver::{self, DriveError, letters};
use crate::ports::StoreError;
use crate::telemetry::{self, DispatchFailure, NOT_DISPATCHED};

impl Host {
    /// The agent that drives a lane.
    pub(super) async fn agent_of(
        &self,
        lane: &LaneId,
        conversation: &Conversation,
        mail: &[Mail],
    ) -> Result<Agent, DriveError> {
        let Some((task, parent)) = employment(conversation, mail) else {
            return Ok(self.agent().clone());
        };
        let above = driver::load(&self.agent().ports, &parent.lane).await?.settings;
        let child = above.and_then(|above| self.agents.child(&task, &parent, &above));
        child.ok_or_else(|| DriveError::NoAgent { name: task.agent, lane: lane.clone() })
    }

    /// Drives the lane if it wants to be driven and nobody does. Returns at once.
    pub(crate) fn look_after(self: Arc<Self>, lane: LaneId) {
        tokio::spawn(async move {
            // What cannot be seen now is seen by whoever looks next.
            if let Ok(true) = self.wants_driving(&lane).await {
                self.attend(&lane);
            }
        });
    }

    /// Drives the lane for nobody in particular, unless somebody in this process does already.
    pub(crate) fn attend(self: &Arc<Self>, lane: &LaneId) {
        if self.hand_over.is_cancelled() {
            return;
        }
        if let Some(reservation) = self.reserve(lane) {
            self.see_to(lane.clone(), reservation);
        }
    }

    /// Drives a lane that was claimed already. Comes back if it is not to be driven, or is already.
    pub(crate) fn take_up(self: &Arc<Self>, lane: &LaneId, taken: Taken) -> Result<(), Taken> {
        if self.hand_over.is_cancelled() {
            return Err(taken);
        }
        let Some(reservation) = self.reserve(lane) else { return Err(taken) };
        self.see_to(lane.clone(), reservation.holding(taken));
        Ok(())
    }

    fn see_to(self: &Arc<Self>, lane: LaneId, reservation: Reservation) {
        let host = Arc::clone(self);
        tokio::spawn(async move {
            match reservation.drive(None).await {
                // Somebody else has it: that is what was wanted.
                Err(DriveError::Store(StoreError::Busy { .. })) => {}
                Ok(rest) => host.tally().rested(&rest),
                Err(error) => {
                    host.tally().failed += 1;
                    telemetry::not_driven(&lane, &error);
                    let failure = DispatchFailure::new(&error);
                    host.record_event((NOT_DISPATCHED, Some(lane.clone()), &failure)).await;
                    host.shun(lane, &error);
                    host.see_whether_the_store_stands().await;
                }
            }
        });
    }

    /// Whether the lane has mail, is due, or was left by its owner. An owner that lives keeps it:
    /// that shows when it is claimed.
    async fn wants_driving(&self, lane: &LaneId) -> Result<bool, StoreError> {
        let Some(info) = self.store().lane(lane.clone()).await? else { return Ok(false) };
        let due = info.wake_at.is_some_and(|at| at <= self.agent().ports.clock.now());
        if due || info.owner.is_some() {
            return Ok(true);
        }
        self.has_mail(lane).await
    }

    async fn has_mail(&self, lane: &LaneId) -> Result<bool, StoreError> {
        Ok(!self.store().read_mail(lane.clone(), 1).await?.is_empty())
    }

    /// A lane of this process rests, perhaps because it waits for its children.
    pub(super) fn rests(&self, lane: &LaneId, waits: bool) {
        if waits {
            self.waiting().insert(lane.clone());
        } else {
            self.waiting().remove(lane);
        }
        self.rested.notify_waiters();
    }

    /// Whether the lane rests here because it waits for its children.
    pub(crate) fn waits_for_children(&self, lane: &LaneId) -> bool {
        self.waiting().contains(lane)
    }

    /// Resolves when a lane of this process has come to rest.
    pub(crate) async fn rested(&self) {
        self.rested.notified().await;
    }

    /// Looks after whoever a conversation waits for, and after itself.
    pub(crate) fn look_after_family(self: &Arc<Self>, lane: &LaneId, waits: &Conversation) {
        let children = letters::still_out(lane, waits);
        for lane in children.into_iter().chain([lane.clone()]) {
            Arc::clone(self).look_after(lane);
        }
    }

    /// What humans are asked by the children a conversation waits for. `None` if some of them are
    /// still at work.
    pub(crate) async fn asked_by_children(
        &self,
        lane: &LaneId,
        conversation: &Conversation,
    ) -> Result<Option<Vec<(LaneId, Question)>>, DriveError> {
        let mut asked = Vec::new();
        let mut family = letters::still_out(lane, conversation);
        while let Some(child) = family.pop() {
            // Whoever was answered is about to go on. Its mail comes first: an answer that is read
            // while we look shows in the log that is loaded after it.
            let is_answered = self.has_mail(&child).await?;
            let known = driver::load(&self.agent().ports, &child).await?;
            if waits_for_children(&known) {
                family.extend(letters::still_out(&child, &known));
            } else if is_answered || !is_parked(&known) {
                return Ok(None);
            }
            let questions = known.run.iter().flat_map(Run::questions).cloned();
            asked.extend(questions.map(|question| (child.clone(), question)));
        }
        Ok(Some(asked))
    }
}

/// Whom a child works for, and what as: its log says so, or the task that lies in its mail.
fn employment(conversation: &Conversation, mail: &[Mail]) -> Option<(Task, Parent)> {
    if let Some(parent) = &conversation.parent {
        let settings = conversation.settings.as_ref();
        let agent = settings.map(|settings| settings.agent.clone()).unwrap_or_default();
        let effort = settings.and_then(|settings| settings.thinking.effort);
        return Some((Task { effort, ..Task::new(&agent, "") }, parent.clone()));
    }
    if conversation.run.is_some() || conversation.last_end.is_some() {
        return None;
    }
    mail.iter().find_map(task)
}

fn task(mail: &Mail) -> Option<(Task, Parent)> {
    if let MailBody::Task { task, parent, .. } = &mail.body {
        return Some((task.clone(), parent.clone()));
    }
    None
}
