//! Claiming, releasing, forking, registering and waking lanes.

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::log::ids::{Epoch, LaneId, Seq};
use windlass_core::log::inbox::InboxMessage;
use windlass_runtime::ports::{
    Affinity, INBOX_PAGE_MESSAGES, LaneClaim, ObservedHeartbeat, StoreError, WorkerId,
};

use super::error::{WorkError, is_unexpected_shape};
use super::group_commit::prepare_cached;
use super::inbox;
use crate::crash_points;
use crate::validation::rejection;

struct ClaimableLane {
    owner: Option<ObservedHeartbeat>,
    claim: LaneClaim,
}

pub(super) fn claim_lane(
    connection: &Connection,
    lane: &LaneId,
    worker: &WorkerId,
    dead: Option<&ObservedHeartbeat>,
) -> Result<LaneClaim, WorkError> {
    let ClaimableLane { owner, claim } = find_claimable_lane(connection, lane)?;
    if let Some(owner) = owner
        && dead != Some(&owner)
        && !crash_points::is_lease_disabled()
    {
        return Err(WorkError::Rejected(StoreError::Busy { lane: lane.clone(), owner }));
    }
    let epoch = claim.epoch.saturating_add(1);
    prepare_cached(connection, "UPDATE lane SET epoch = ?2, owner = ?3 WHERE id = ?1")?
        .execute(params![lane.as_str(), epoch.cast_signed(), &**worker])?;
    Ok(LaneClaim { epoch, messages: messages_if_readable(connection, lane)?, ..claim })
}

/// A message that cannot be decoded affects its own lane, not all that are claimed together.
fn messages_if_readable(
    connection: &Connection,
    lane: &LaneId,
) -> Result<Option<Vec<InboxMessage>>, WorkError> {
    match inbox::pending_messages(connection, lane, INBOX_PAGE_MESSAGES) {
        Err(WorkError::Sqlite(error)) if is_unexpected_shape(&error) => Ok(None),
        waiting => waiting.map(Some),
    }
}

fn find_claimable_lane(connection: &Connection, lane: &LaneId) -> Result<ClaimableLane, WorkError> {
    let found = prepare_cached(
        connection,
        "SELECT lane.epoch, lane.head, lane.owner, coalesce(worker.heartbeats, 0), parent.id,
             lane.fork_seq,
             lane.tenant, lane.affinity
         FROM lane
         LEFT JOIN worker ON worker.worker_id = lane.owner
         LEFT JOIN lane AS parent ON parent.no = lane.fork_parent
         WHERE lane.id = ?1",
    )?
    .query_row(params![lane.as_str()], parse_claimable_lane)
    .optional()?;
    found.ok_or_else(|| WorkError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }))
}

fn parse_claimable_lane(row: &Row<'_>) -> rusqlite::Result<ClaimableLane> {
    let heartbeats = row.get::<_, i64>(3)?.cast_unsigned();
    let owner =
        row.get::<_, Option<WorkerId>>(2)?.map(|worker| ObservedHeartbeat { worker, heartbeats });
    let parent = row.get::<_, Option<String>>(4)?.map(LaneId::from);
    let fork_seq = row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned);
    let claim = LaneClaim {
        epoch: row.get::<_, i64>(0)?.cast_unsigned(),
        head: row.get::<_, i64>(1)?.cast_unsigned(),
        fork_of: parent.zip(fork_seq),
        tenant: row.get(6)?,
        workspace: row.get(7)?,
        messages: None,
    };
    Ok(ClaimableLane { owner, claim })
}

pub(super) fn release_lane(
    connection: &Connection,
    lane: &LaneId,
    worker: &WorkerId,
    epoch: Epoch,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "UPDATE lane SET owner = NULL WHERE id = ?1 AND epoch = ?2 AND owner = ?3",
    )?
    .execute(params![lane.as_str(), epoch.cast_signed(), &**worker])?;
    Ok(())
}

pub(super) fn fork_lane(
    connection: &Connection,
    parent: &LaneId,
    at: Seq,
    child: &LaneId,
) -> Result<(), WorkError> {
    let (parent_no, head) = find_lane_head(connection, parent)?;
    if at > head {
        return Err(WorkError::Rejected(rejection::fork_beyond_head(parent, at, head)));
    }
    let origin = (Some(parent_no), Some(at.cast_signed()));
    match find_fork_origin(connection, child)? {
        Some(known) if known == origin => Ok(()),
        Some(_) => Err(WorkError::Rejected(rejection::fork_exists(child))),
        None => insert_fork(connection, child, parent_no, at),
    }
}

fn find_lane_head(connection: &Connection, lane: &LaneId) -> Result<(i64, Seq), WorkError> {
    let found: Option<(i64, i64)> =
        prepare_cached(connection, "SELECT no, head FROM lane WHERE id = ?1")?
            .query_row(params![lane.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
    let (no, head) = found
        .ok_or_else(|| WorkError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }))?;
    Ok((no, head.cast_unsigned()))
}

type ForkOrigin = (Option<i64>, Option<i64>);

fn find_fork_origin(
    connection: &Connection,
    lane: &LaneId,
) -> Result<Option<ForkOrigin>, WorkError> {
    let found = prepare_cached(connection, "SELECT fork_parent, fork_seq FROM lane WHERE id = ?1")?
        .query_row(params![lane.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found)
}

fn insert_fork(
    connection: &Connection,
    child: &LaneId,
    parent: i64,
    at: Seq,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO lane (id, tenant, agent, affinity, folder, fork_parent, fork_seq, head)
         SELECT ?1, tenant, agent, affinity, folder, no, ?3, ?3 FROM lane WHERE no = ?2",
    )?
    .execute(params![child.as_str(), parent, at.cast_signed()])?;
    Ok(())
}

/// Registers a lane. A known lane keeps its affinity; one without a workspace takes the given one.
pub(super) fn register_lane(
    connection: &Connection,
    lane: &LaneId,
    affinity: &Affinity,
) -> Result<(), WorkError> {
    let tenant = if affinity.tenant.is_empty() { "default" } else { &affinity.tenant };
    let made = prepare_cached(
        connection,
        "INSERT INTO lane (id, tenant, agent, affinity, folder) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO NOTHING",
    )?
    .execute(params![
        lane.as_str(),
        tenant,
        &*affinity.agent,
        &*affinity.workspace,
        &*affinity.folder
    ])?;
    if made == 0 && !affinity.workspace.is_empty() {
        prepare_cached(
            connection,
            "UPDATE lane SET affinity = ?2, folder = ?3 WHERE id = ?1 AND affinity = ''",
        )?
        .execute(params![lane.as_str(), &*affinity.workspace, &*affinity.folder])?;
    }
    Ok(())
}

/// Makes an unfinished run due at once.
pub(super) fn wake_lane(connection: &Connection, lane: &LaneId) -> Result<bool, WorkError> {
    let woken = prepare_cached(
        connection,
        "UPDATE lane SET wake_at = 0 WHERE id = ?1 AND active_run IS NOT NULL",
    )?
    .execute(params![lane.as_str()])?;
    Ok(woken == 1)
}
