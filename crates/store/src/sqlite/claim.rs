//! Claiming and releasing lanes; heartbeats.

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::log::ids::{Epoch, LaneId};
use windlass_core::log::inbox::InboxMessage;
use windlass_runtime::ports::{
    INBOX_PAGE_MESSAGES, LaneClaim, ObservedHeartbeat, StoreError, WorkerId, WorkerInfo,
};

use super::error::{WorkError, is_unexpected_shape};
use super::write_work::prepare_cached;
use super::{inbox, wall_clock};
use crate::crash_points;

/// Workers that were silent for longer are not listed.
const LISTED_WORKER_MS: i64 = 300_000;

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

/// Claims those of the lanes that are still free. They were found without the write lock, so they
/// are checked again here.
pub(super) fn claim_free_lanes(
    connection: &Connection,
    lanes: &[LaneId],
    worker: &WorkerId,
) -> Result<Vec<(LaneId, LaneClaim)>, WorkError> {
    let mut claims = Vec::with_capacity(lanes.len());
    for lane in lanes {
        match claim_lane(connection, lane, worker, None) {
            Ok(claim) => claims.push((lane.clone(), claim)),
            Err(WorkError::Rejected(_)) => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(claims)
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

pub(super) fn record_heartbeat(
    connection: &Connection,
    worker: &WorkerId,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO worker (worker_id, heartbeats, heartbeat_at, pid) VALUES (?1, 1, ?2, ?3)
         ON CONFLICT (worker_id) DO UPDATE SET
             heartbeats = heartbeats + 1, heartbeat_at = excluded.heartbeat_at",
    )?
    .execute(params![&**worker, wall_clock::wall_ms(), std::process::id()])?;
    Ok(())
}

pub(super) fn announce_workspaces(
    connection: &Connection,
    worker: &WorkerId,
    workspaces: &str,
) -> Result<(), WorkError> {
    prepare_cached(connection, "UPDATE worker SET workspaces = ?2 WHERE worker_id = ?1")?
        .execute(params![&**worker, workspaces])?;
    Ok(())
}

/// Returns workers with a heartbeat within the last minutes: rows of processes that ended stay in
/// the table.
pub(super) fn recent_workers(connection: &Connection) -> Result<Vec<WorkerInfo>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT worker_id, max(0, ?1 - heartbeat_at), workspaces FROM worker
         WHERE workspaces IS NOT NULL AND heartbeat_at > ?1 - ?2 ORDER BY worker_id",
    )?;
    let found = statement.query_map(params![wall_clock::wall_ms(), LISTED_WORKER_MS], |row| {
        let workspaces: String = row.get(2)?;
        Ok(WorkerInfo {
            worker: row.get(0)?,
            silent_ms: row.get::<_, i64>(1)?.cast_unsigned(),
            workspaces: serde_json::from_str(&workspaces).unwrap_or_default(),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
