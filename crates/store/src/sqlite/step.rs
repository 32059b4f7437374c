//! A piece of work for the writer thread, and what comes back.

use rusqlite::{CachedStatement, Connection};
use windlass_core::ids::{Epoch, LaneId, MailId, Seq};
use windlass_runtime::ports::{
    Claim, Delivered, Forget, Forgotten, Left, Reconcile, Removed, SeenBeat, StoreError, Whose,
    WorkerEvent, WorkerId,
};

use super::error::Stop;
use super::prepare::{PreparedAppend, PreparedLetter};
use super::{append, claim, forget, fork, mail, reconcile, records, remove};
use crate::fault;
use crate::hints::Hints;

#[derive(Debug)]
pub(super) enum Work {
    Deliver { lane: LaneId, letter: PreparedLetter },
    Claim { lane: LaneId, worker: WorkerId, dead: Option<SeenBeat> },
    ClaimAll { lanes: Vec<LaneId>, worker: WorkerId },
    Release { lane: LaneId, worker: WorkerId, epoch: Epoch },
    Beat { worker: WorkerId },
    Append(Box<PreparedAppend>),
    Fork { parent: LaneId, at: Seq, child: LaneId },
    Introduce { lane: LaneId, whose: Whose },
    Reconcile(Reconcile),
    Forget(Forget),
    Announce { worker: WorkerId, workspaces: String },
    Wake { lane: LaneId },
    Remove { lane: LaneId },
    RecordEvent(WorkerEvent),
}

#[derive(Debug)]
pub(super) enum Answer {
    Delivered(MailId),
    Claimed(Claim),
    AllClaimed(Vec<(LaneId, Claim)>),
    Left(Vec<Left>),
    Forgot(Forgotten),
    Woken(bool),
    Removed(Removed),
    Done,
}

impl Answer {
    pub(super) fn delivered(self) -> Result<Delivered, StoreError> {
        match self {
            Self::Delivered(mail) => Ok(Delivered { mail }),
            _ => Err(crossed()),
        }
    }

    pub(super) fn claimed(self) -> Result<Claim, StoreError> {
        match self {
            Self::Claimed(claim) => Ok(claim),
            _ => Err(crossed()),
        }
    }

    pub(super) fn all_claimed(self) -> Result<Vec<(LaneId, Claim)>, StoreError> {
        match self {
            Self::AllClaimed(claims) => Ok(claims),
            _ => Err(crossed()),
        }
    }

    pub(super) fn left(self) -> Result<Vec<Left>, StoreError> {
        match self {
            Self::Left(left) => Ok(left),
            _ => Err(crossed()),
        }
    }

    pub(super) fn forgot(self) -> Result<Forgotten, StoreError> {
        match self {
            Self::Forgot(forgotten) => Ok(forgotten),
            _ => Err(crossed()),
        }
    }
}

impl Answer {
    pub(super) fn woken(self) -> Result<bool, StoreError> {
        match self {
            Self::Woken(woken) => Ok(woken),
            _ => Err(crossed()),
        }
    }

    pub(super) fn removed(self) -> Result<Removed, StoreError> {
        match self {
            Self::Removed(removed) => Ok(removed),
            _ => Err(crossed()),
        }
    }
}

fn crossed() -> StoreError {
    StoreError::Invalid { what: "the store answered another question; report this".to_owned() }
}

impl Work {
    /// Does it inside the writer's transaction.
    pub(super) fn perform(&self, connection: &Connection) -> Result<Answer, Stop> {
        match self {
            Self::Deliver { lane, letter } => {
                mail::deliver(connection, lane, letter, None).map(Answer::Delivered)
            }
            Self::Claim { lane, worker, dead } => {
                claim::claim(connection, lane, worker, dead.as_ref()).map(Answer::Claimed)
            }
            Self::ClaimAll { lanes, worker } => {
                claim::claim_all(connection, lanes, worker).map(Answer::AllClaimed)
            }
            Self::Release { lane, worker, epoch } => {
                claim::release(connection, lane, worker, *epoch).map(|()| Answer::Done)
            }
            Self::Beat { worker } => claim::beat(connection, worker).map(|()| Answer::Done),
            Self::Append(append) => append::append(connection, append).map(|()| Answer::Done),
            Self::Fork { parent, at, child } => {
                fork::fork(connection, parent, *at, child).map(|()| Answer::Done)
            }
            Self::Introduce { lane, whose } => {
                reconcile::introduce(connection, lane, whose).map(|()| Answer::Done)
            }
            Self::Reconcile(pass) => reconcile::reconcile(connection, pass).map(Answer::Left),
            Self::Forget(old) => forget::forget(connection, old).map(Answer::Forgot),
            Self::Announce { worker, workspaces } => {
                claim::announce(connection, worker, workspaces).map(|()| Answer::Done)
            }
            Self::Wake { lane } => reconcile::wake(connection, lane).map(Answer::Woken),
            Self::Remove { lane } => remove::remove(connection, lane).map(Answer::Removed),
            Self::RecordEvent(event) => {
                records::record_event(connection, event).map(|()| Answer::Done)
            }
        }
    }

    /// Tells those in this process who wait for mail.
    pub(super) fn tell(&self, hints: &Hints) {
        match self {
            Self::Deliver { lane, .. } | Self::Wake { lane } => hints.tell(lane),
            Self::Append(append) => append.mail_out.iter().for_each(|(to, _)| hints.tell(to)),
            Self::Claim { .. } | Self::ClaimAll { .. } | Self::Release { .. } => (),
            Self::Beat { .. } => (),
            Self::Fork { .. } | Self::Introduce { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Remove { .. } => (),
        }
    }

    pub(super) fn before_commit(&self) {
        match self {
            Self::Deliver { .. } => fault::point(fault::DELIVER_BEFORE),
            Self::Claim { .. } | Self::ClaimAll { .. } => fault::point(fault::CLAIM_BEFORE),
            Self::Release { .. } => fault::point(fault::RELEASE_BEFORE),
            Self::Beat { .. } => fault::point(fault::BEAT_BEFORE),
            Self::Append(_) => fault::point(fault::APPEND_BEFORE_COMMIT),
            Self::Fork { .. } | Self::Introduce { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Wake { .. } | Self::Remove { .. } => (),
        }
    }

    pub(super) fn after_commit(&self) {
        match self {
            Self::Deliver { .. } => fault::point(fault::DELIVER_AFTER),
            Self::Claim { .. } | Self::ClaimAll { .. } => fault::point(fault::CLAIM_AFTER),
            Self::Release { .. } => fault::point(fault::RELEASE_AFTER),
            Self::Beat { .. } => fault::point(fault::BEAT_AFTER),
            Self::Append(_) => fault::point(fault::APPEND_AFTER_COMMIT),
            Self::Fork { .. } | Self::Introduce { .. } => (),
            Self::Reconcile(_) | Self::Forget(_) | Self::RecordEvent(_) => (),
            Self::Announce { .. } | Self::Wake { .. } | Self::Remove { .. } => (),
        }
    }

    pub(super) fn after_reply(&self) {
        if matches!(self, Self::Append(_)) {
            fault::point(fault::APPEND_AFTER_REPLY);
        }
    }
}

/// A statement that is compiled once per connection.
pub(super) fn sql<'c>(
    connection: &'c Connection,
    text: &'static str,
) -> rusqlite::Result<CachedStatement<'c>> {
    connection.prepare_cached(text)
}
