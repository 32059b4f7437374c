//! Reading lanes. A fork's log is its ancestors' entries up to where it left them, then its own.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::ids::{LaneId, Millis, RunId, Seq};
use windlass_runtime::ports::{EncodedEntry, LaneInfo, StoreError, Whose, WorkerId};

use super::error::Stop;
use super::step::sql;

pub(super) fn lane_no(connection: &Connection, lane: &LaneId) -> Result<Option<i64>, Stop> {
    let found = sql(connection, "SELECT no FROM lane WHERE id = ?1")?
        .query_row(params![lane.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found)
}

pub(super) fn lane(connection: &Connection, lane: &LaneId) -> Result<Option<LaneInfo>, Stop> {
    let found = sql(
        connection,
        "SELECT epoch, head, owner, active_run, wake_at, tenant, agent, affinity, folder
         FROM lane WHERE id = ?1",
    )?
    .query_row(params![lane.as_str()], |row| info(lane, row))
    .optional()?;
    Ok(found)
}

fn info(lane: &LaneId, row: &Row<'_>) -> rusqlite::Result<LaneInfo> {
    Ok(LaneInfo {
        lane: lane.clone(),
        epoch: row.get::<_, i64>(0)?.cast_unsigned(),
        head: row.get::<_, i64>(1)?.cast_unsigned(),
        owner: row.get::<_, Option<WorkerId>>(2)?,
        active_run: row.get::<_, Option<String>>(3)?.map(RunId::from),
        wake_at: row.get::<_, Option<i64>>(4)?.map(|at| Millis(at.cast_unsigned())),
        whose: Whose {
            tenant: row.get(5)?,
            agent: row.get(6)?,
            affinity: row.get(7)?,
            folder: row.get(8)?,
        },
    })
}

/// Part of a log that lies with one lane.
struct Stretch {
    lane_no: i64,
    upto: i64,
}

pub(super) fn log(
    connection: &Connection,
    lane: &LaneId,
    after: Seq,
    most: usize,
) -> Result<Vec<EncodedEntry>, Stop> {
    // Several statements that must see the same log.
    let moment = connection.unchecked_transaction()?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    for stretch in ancestry(&moment, lane, after)?.iter().rev() {
        let room = most.saturating_sub(found.len());
        read(&moment, stretch, after, room, &mut found)?;
    }
    Ok(found)
}

/// The lane and its ancestors, youngest first; it ends where everything older lies before `after`.
fn ancestry(connection: &Connection, lane: &LaneId, after: i64) -> Result<Vec<Stretch>, Stop> {
    let no = lane_no(connection, lane)?;
    let mut no = no.ok_or_else(|| Stop::Refused(StoreError::NoLane { lane: lane.clone() }))?;
    let mut upto = i64::MAX;
    let mut stretches = vec![Stretch { lane_no: no, upto }];
    while let Some((parent, at)) = parent(connection, no)?
        && at > after
    {
        no = parent;
        upto = upto.min(at);
        stretches.push(Stretch { lane_no: no, upto });
    }
    Ok(stretches)
}

fn parent(connection: &Connection, no: i64) -> Result<Option<(i64, i64)>, Stop> {
    let (parent, at): (Option<i64>, Option<i64>) =
        sql(connection, "SELECT parent, parent_at FROM lane WHERE no = ?1")?
            .query_row(params![no], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(parent.zip(at))
}

fn read(
    connection: &Connection,
    stretch: &Stretch,
    after: i64,
    most: usize,
    found: &mut Vec<EncodedEntry>,
) -> Result<(), Stop> {
    let mut statement = sql(
        connection,
        "SELECT seq, at, coalesce(body, (SELECT bytes FROM blob WHERE hash = entry.blob))
         FROM entry WHERE lane_no = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![stretch.lane_no, after, stretch.upto, most])?;
    while let Some(row) = rows.next()? {
        found.push(entry(row)?);
    }
    Ok(())
}

fn entry(row: &Row<'_>) -> rusqlite::Result<EncodedEntry> {
    let bytes = row.get_ref(2)?.as_bytes()?;
    let line = std::str::from_utf8(bytes).map_err(|error| rusqlite::Error::Utf8Error(2, error))?;
    Ok(EncodedEntry {
        seq: row.get::<_, i64>(0)?.cast_unsigned(),
        at: Millis(row.get::<_, i64>(1)?.cast_unsigned()),
        line: Arc::from(line),
    })
}
