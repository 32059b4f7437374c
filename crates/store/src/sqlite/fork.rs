//! Forking a lane.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::log::ids::{LaneId, Seq};
use windlass_runtime::ports::StoreError;

use super::error::WorkError;
use super::write_work::prepare_cached;
use crate::validation::rejection;

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
