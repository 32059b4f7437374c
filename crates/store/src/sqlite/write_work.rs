//! Work for the writer thread, and its output.

use rusqlite::{CachedStatement, Connection};
use windlass_core::log::ids::{Epoch, InboxMessageId, LaneId, Seq};
use windlass_runtime::ports::{
    AbandonedLane, Affinity, DeletedRows, EnqueuedMessage, LaneClaim, ObservedHeartbeat,
    ReconcileRequest, RemovedLanes, RetentionCutoffs, StoreError, WorkerEvent, WorkerId,
};

use super::error::WorkError;
use super::prepared_append::{PreparedAppend, PreparedMessage};
use super::{claim, fenced_append, fork, inbox, reconcile, remove, retention, statistics};
use crate::crash_points;
use crate::inbox_hints::InboxHints;

#[derive(Debug)]
pub(super) enum WriteWork {
    Deliver { lane: LaneId, letter: PreparedMessage },
    Claim { lane: LaneId, worker: WorkerId, dead: Option<ObservedHeartbeat> },
    ClaimAll { lanes: Vec<LaneId>, worker: WorkerId },
    Release { lane: LaneId, worker: WorkerId, epoch: Epoch },
    Beat { worker: WorkerId },
    Append(Box<PreparedAppend>),
    Fork { parent: LaneId, at: Seq, child: LaneId },
    Introduce { lane: LaneId, whose: Affinity },
    Reconcile(ReconcileRequest),
    Forget(RetentionCutoffs),
    Announce { worker: WorkerId, workspaces: String },
    Wake { lane: LaneId },
    Remove { lane: LaneId },
    RecordEvent(WorkerEvent),
}

#[derive(Debug)]
pub(super) enum WriteOutput {
    Delivered(InboxMessageId),
    Claimed(LaneClaim),
    AllClaimed(Vec<(LaneId, LaneClaim)>),
    Abandoned(Vec<AbandonedLane>),
    Forgotten(DeletedRows),
    Woken(bool),
    Removed(RemovedLanes),
    Done,
}

impl WriteOutput {
    pub(super) fn into_delivered(self) -> Result<EnqueuedMessage, StoreError> {
        match self {
            Self::Delivered(message) => Ok(EnqueuedMessage { message }),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_claim(self) -> Result<LaneClaim, StoreError> {
        match self {
            Self::Claimed(claim) => Ok(claim),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_claims(self) -> Result<Vec<(LaneId, LaneClaim)>, StoreError> {
        match self {
            Self::AllClaimed(claims) => Ok(claims),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_abandoned(self) -> Result<Vec<AbandonedLane>, StoreError> {
        match self {
            Self::Abandoned(left) => Ok(left),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_forgotten(self) -> Result<DeletedRows, StoreError> {
        match self {
            Self::Forgotten(forgotten) => Ok(forgotten),
            _ => Err(unexpected_output()),
        }
    }
}

impl WriteOutput {
    pub(super) fn into_woken(self) -> Result<bool, StoreError> {
        match self {
            Self::Woken(woken) => Ok(woken),
            _ => Err(unexpected_output()),
        }
    }

    pub(super) fn into_removed(self) -> Result<RemovedLanes, StoreError> {
        match self {
            Self::Removed(removed) => Ok(removed),
            _ => Err(unexpected_output()),
        }
    }
}

fn unexpected_output() -> StoreError {
    StoreError::Invalid { message: "the store answered another question; report this".to_owned() }
}

impl WriteWork {
    /// Performs the work inside the writer's transaction.
    pub(super) fn perform(&self, connection: &Connection) -> Result<WriteOutput, WorkError> {
        match self {
            Self::Deliver { lane, letter } => {
                inbox::enqueue_message(connection, lane, letter, None).map(WriteOutput::Delivered)
            }
            Self::Claim { lane, worker, dead } => {
                claim::claim_lane(connection, lane, worker, dead.as_ref()).map(WriteOutput::Claimed)
            }
            Self::ClaimAll { lanes, worker } => {
                claim::claim_free_lanes(connection, lanes, worker).map(WriteOutput::AllClaimed)
            }
            Self::Release { lane, worker, epoch } => {
                claim::release_lane(connection, lane, worker, *epoch).map(|()| WriteOutput::Done)
            }
            Self::Beat { worker } => {
                claim::record_heartbeat(connection, worker).map(|()| WriteOutput::Done)
            }
            Self::Append(append) => {
                fenced_append::append_fenced(connection, append).map(|()| WriteOutput::Done)
            }
            Self::Fork { parent, at, child } => {
                fork::fork_lane(connection, parent, *at, child).map(|()| WriteOutput::Done)
            }
            Self::Introduce { lane, whose } => {
                reconcile::register_lane(connection, lane, whose).map(|()| WriteOutput::Done)
            }
            Self::Reconcile(pass) => {
                reconcile::reconcile_dead_owners(connection, pass).map(WriteOutput::Abandoned)
            }
            Self::Forget(old) => {
                retention::forget_old_rows(connection, old).map(WriteOutput::Forgotten)
            }
            Self::Announce { worker, workspaces } => {
                claim::announce_workspaces(connection, worker, workspaces)
                    .map(|()| WriteOutput::Done)
            }
            Self::Wake { lane } => reconcile::wake_lane(connection, lane).map(WriteOutput::Woken),
            Self::Remove { lane } => {
                remove::remove_lanes(connection, lane).map(WriteOutput::Removed)
            }
            Self::RecordEvent(event) => {
                statistics::insert_worker_event(connection, event).map(|()| WriteOutput::Done)
            }
        }
    }

    /// Notifies tasks of this process that wait for messages.
    pub(super) fn notify_hints(&self, hints: &InboxHints) {
        match self {
            Self::Deliver { lane, .. } | Self::Wake { lane } => hints.notify_lane(lane),
            Self::Append(append) => {
                append.mail_out.iter().for_each(|(to, _)| hints.notify_lane(to));
            }
            Self::Claim { .. } | Self::ClaimAll { .. } | Self::Release { .. } => (),
            Self::Beat { .. } => (),
            Self::Fork { .. } | Self::Introduce { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Remove { .. } => (),
        }
    }

    pub(super) fn before_commit(&self) {
        match self {
            Self::Deliver { .. } => crash_points::crash_point(crash_points::DELIVER_BEFORE),
            Self::Claim { .. } | Self::ClaimAll { .. } => {
                crash_points::crash_point(crash_points::CLAIM_BEFORE);
            }
            Self::Release { .. } => crash_points::crash_point(crash_points::RELEASE_BEFORE),
            Self::Beat { .. } => crash_points::crash_point(crash_points::BEAT_BEFORE),
            Self::Append(_) => crash_points::crash_point(crash_points::APPEND_BEFORE_COMMIT),
            Self::Fork { .. } | Self::Introduce { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Wake { .. } | Self::Remove { .. } => (),
        }
    }

    pub(super) fn after_commit(&self) {
        match self {
            Self::Deliver { .. } => crash_points::crash_point(crash_points::DELIVER_AFTER),
            Self::Claim { .. } | Self::ClaimAll { .. } => {
                crash_points::crash_point(crash_points::CLAIM_AFTER);
            }
            Self::Release { .. } => crash_points::crash_point(crash_points::RELEASE_AFTER),
            Self::Beat { .. } => crash_points::crash_point(crash_points::BEAT_AFTER),
            Self::Append(_) => crash_points::crash_point(crash_points::APPEND_AFTER_COMMIT),
            Self::Fork { .. } | Self::Introduce { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Wake { .. } | Self::Remove { .. } => (),
        }
    }

    pub(super) fn after_reply(&self) {
        if matches!(self, Self::Append(_)) {
            crash_points::crash_point(crash_points::APPEND_AFTER_REPLY);
        }
    }
}

/// Returns a statement that is compiled once per connection.
pub(super) fn prepare_cached<'c>(
    connection: &'c Connection,
    text: &'static str,
) -> rusqlite::Result<CachedStatement<'c>> {
    connection.prepare_cached(text)
}
