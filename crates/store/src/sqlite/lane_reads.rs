//! Reading lanes. A fork's log is its ancestors' entries up to the fork, then its own.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::log::ids::{LaneId, RunId, Seq, UnixMillis};
use windlass_runtime::ports::{Affinity, EncodedEntry, LaneInfo, StoreError, WorkerId};

use super::error::WorkError;
use super::write_work::prepare_cached;

pub(super) fn find_lane_no(
    connection: &Connection,
    lane: &LaneId,
) -> Result<Option<i64>, WorkError> {
    let found = prepare_cached(connection, "SELECT no FROM lane WHERE id = ?1")?
        .query_row(params![lane.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found)
}

pub(super) fn read_lane(
    connection: &Connection,
    lane: &LaneId,
) -> Result<Option<LaneInfo>, WorkError> {
    let found = prepare_cached(
        connection,
        "SELECT epoch, head, owner, active_run, wake_at, tenant, agent, affinity, folder
         FROM lane WHERE id = ?1",
    )?
    .query_row(params![lane.as_str()], |row| parse_lane_info(lane, row))
    .optional()?;
    Ok(found)
}

fn parse_lane_info(lane: &LaneId, row: &Row<'_>) -> rusqlite::Result<LaneInfo> {
    Ok(LaneInfo {
        lane: lane.clone(),
        epoch: row.get::<_, i64>(0)?.cast_unsigned(),
        head: row.get::<_, i64>(1)?.cast_unsigned(),
        owner: row.get::<_, Option<WorkerId>>(2)?,
        active_run: row.get::<_, Option<String>>(3)?.map(RunId::from),
        wake_at: row.get::<_, Option<i64>>(4)?.map(|at| UnixMillis(at.cast_unsigned())),
        affinity: Affinity {
            tenant: row.get(5)?,
            agent: row.get(6)?,
            workspace: row.get(7)?,
            folder: row.get(8)?,
        },
    })
}

/// The part of a log that is stored with one lane.
struct LogSegment {
    lane_no: i64,
    upto: i64,
}

pub(super) fn read_log(
    connection: &Connection,
    lane: &LaneId,
    after: Seq,
    most: usize,
) -> Result<Vec<EncodedEntry>, WorkError> {
    // Several statements must see the same log, so they share a read transaction.
    let moment = connection.unchecked_transaction()?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for stretch in log_segments(&moment, lane, after)?.iter().rev() {
        let room = most.saturating_sub(found.len());
        read_segment(&moment, stretch, after, room, &mut found)?;
    }
    Ok(found)
}

/// Returns the lane and its ancestors, youngest first; stops once all older entries lie before
/// `after`.
fn log_segments(
    connection: &Connection,
    lane: &LaneId,
    after: i64,
) -> Result<Vec<LogSegment>, WorkError> {
    let no = find_lane_no(connection, lane)?;
    let mut no =
        no.ok_or_else(|| WorkError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }))?;
    let mut upto = i64::MAX;
    let mut stretches = vec![LogSegment { lane_no: no, upto }];
    while let Some((parent, at)) = find_parent(connection, no)?
        && at > after
    {
        no = parent;
        upto = upto.min(at);
        stretches.push(LogSegment { lane_no: no, upto });
    }
    Ok(stretches)
}

fn find_parent(connection: &Connection, no: i64) -> Result<Option<(i64, i64)>, WorkError> {
    let (parent, at): (Option<i64>, Option<i64>) =
        prepare_cached(connection, "SELECT fork_parent, fork_seq FROM lane WHERE no = ?1")?
            .query_row(params![no], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(parent.zip(at))
}

fn read_segment(
    connection: &Connection,
    stretch: &LogSegment,
    after: i64,
    most: usize,
    found: &mut Vec<EncodedEntry>,
) -> Result<(), WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT seq, at, coalesce(body, (SELECT bytes FROM blob WHERE hash = entry.blob))
         FROM entry WHERE lane_no = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![stretch.lane_no, after, stretch.upto, most])?;
    while let Some(row) = rows.next()? {
        found.push(parse_entry(row)?);
    }
    Ok(())
}

fn parse_entry(row: &Row<'_>) -> rusqlite::Result<EncodedEntry> {
    let bytes = row.get_ref(2)?.as_bytes()?;
    let line = std::str::from_utf8(bytes).map_err(|error| rusqlite::Error::Utf8Error(2, error))?;
    Ok(EncodedEntry {
        seq: row.get::<_, i64>(0)?.cast_unsigned(),
        at: UnixMillis(row.get::<_, i64>(1)?.cast_unsigned()),
        line: Arc::from(line),
    })
}
