//! A lane that begins as another one.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_core::ids::{LaneId, Seq};
use windlass_runtime::ports::StoreError;

use super::error::Stop;
use super::step::sql;
use crate::valid::refusal;

pub(super) fn fork(
    connection: &Connection,
    parent: &LaneId,
    at: Seq,
    child: &LaneId,
) -> Result<(), Stop> {
    let (parent_no, head) = find(connection, parent)?;
    if at > head {
        return Err(Stop::Refused(refusal::fork_beyond_head(parent, at, head)));
    }
    let origin = (Some(parent_no), Some(at.cast_signed()));
    match origin_of(connection, child)? {
        Some(known) if known == origin => Ok(()),
        Some(_) => Err(Stop::Refused(refusal::fork_exists(child))),
        None => insert(connection, child, parent_no, at),
    }
}

fn find(connection: &Connection, lane: &LaneId) -> Result<(i64, Seq), Stop> {
    let found: Option<(i64, i64)> = sql(connection, "SELECT no, head FROM lane WHERE id = ?1")?
        .query_row(params![lane.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (no, head) =
        found.ok_or_else(|| Stop::Refused(StoreError::NoLane { lane: lane.clone() }))?;
    Ok((no, head.cast_unsigned()))
}

type Origin = (Option<i64>, Option<i64>);

fn origin_of(connection: &Connection, lane: &LaneId) -> Result<Option<Origin>, Stop> {
    let found = sql(connection, "SELECT parent, parent_at FROM lane WHERE id = ?1")?
        .query_row(params![lane.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found)
}

fn insert(connection: &Connection, child: &LaneId, parent: i64, at: Seq) -> Result<(), Stop> {
    sql(
        connection,
        "INSERT INTO lane (id, tenant, agent, affinity, folder, parent, parent_at, head)
         SELECT ?1, tenant, agent, affinity, folder, no, ?3, ?3 FROM lane WHERE no = ?2",
    )?
    .execute(params![child.as_str(), parent, at.cast_signed()])?;
    Ok(())
}
