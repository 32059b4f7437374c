//! Taking lanes, giving them back, and being alive.

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::ids::{Epoch, LaneId};
use windlass_core::mail::Mail;
use windlass_runtime::ports::{Claim, MAIL_PAGE, SeenBeat, StoreError, WorkerId, WorkerInfo};

use super::error::{Stop, is_shape};
use super::step::sql;
use super::{clock, mail};
use crate::fault;

/// Workers that were silent for longer are not listed.
const RECENT_MS: i64 = 300_000;

struct Found {
    owner: Option<SeenBeat>,
    claim: Claim,
}

pub(super) fn claim(
    connection: &Connection,
    lane: &LaneId,
    worker: &WorkerId,
    dead: Option<&SeenBeat>,
) -> Result<Claim, Stop> {
    let Found { owner, claim } = find(connection, lane)?;
    if let Some(owner) = owner
        && dead != Some(&owner)
        && !fault::lease_is_broken()
    {
        return Err(Stop::Refused(StoreError::Busy { lane: lane.clone(), owner }));
    }
    let epoch = claim.epoch.saturating_add(1);
    sql(connection, "UPDATE lane SET epoch = ?2, owner = ?3 WHERE id = ?1")?.execute(params![
        lane.as_str(),
        epoch.cast_signed(),
        &**worker
    ])?;
    Ok(Claim { epoch, mail: readable_mail(connection, lane)?, ..claim })
}

/// Mail that cannot be read concerns its own lane, not all that are claimed together.
fn readable_mail(connection: &Connection, lane: &LaneId) -> Result<Option<Vec<Mail>>, Stop> {
    match mail::waiting(connection, lane, MAIL_PAGE) {
        Err(Stop::Engine(error)) if is_shape(&error) => Ok(None),
        waiting => waiting.map(Some),
    }
}

/// Takes those of the lanes that nobody has taken meanwhile.
pub(super) fn claim_all(
    connection: &Connection,
    lanes: &[LaneId],
    worker: &WorkerId,
) -> Result<Vec<(LaneId, Claim)>, Stop> {
    let mut claims = Vec::with_capacity(lanes.len());
    for lane in lanes {
        match claim(connection, lane, worker, None) {
            Ok(claim) => claims.push((lane.clone(), claim)),
            Err(Stop::Refused(_)) => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(claims)
}

fn find(connection: &Connection, lane: &LaneId) -> Result<Found, Stop> {
    let found = sql(
        connection,
        "SELECT lane.epoch, lane.head, lane.owner, coalesce(worker.beats, 0), parent.id, lane.parent_at,
             lane.tenant, lane.affinity
         FROM lane
         LEFT JOIN worker ON worker.worker_id = lane.owner
         LEFT JOIN lane AS parent ON parent.no = lane.parent
         WHERE lane.id = ?1",
    )?
    .query_row(params![lane.as_str()], found)
    .optional()?;
    found.ok_or_else(|| Stop::Refused(StoreError::NoLane { lane: lane.clone() }))
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let beats = row.get::<_, i64>(3)?.cast_unsigned();
    let owner = row.get::<_, Option<WorkerId>>(2)?.map(|worker| SeenBeat { worker, beats });
    let parent = row.get::<_, Option<String>>(4)?.map(LaneId::from);
    let parent_at = row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned);
    let claim = Claim {
        epoch: row.get::<_, i64>(0)?.cast_unsigned(),
        head: row.get::<_, i64>(1)?.cast_unsigned(),
        fork_of: parent.zip(parent_at),
        tenant: row.get(6)?,
        affinity: row.get(7)?,
        mail: None,
    };
    Ok(Found { owner, claim })
}

pub(super) fn release(
    connection: &Connection,
    lane: &LaneId,
    worker: &WorkerId,
    epoch: Epoch,
) -> Result<(), Stop> {
    sql(connection, "UPDATE lane SET owner = NULL WHERE id = ?1 AND epoch = ?2 AND owner = ?3")?
        .execute(params![lane.as_str(), epoch.cast_signed(), &**worker])?;
    Ok(())
}

pub(super) fn beat(connection: &Connection, worker: &WorkerId) -> Result<(), Stop> {
    sql(
        connection,
        "INSERT INTO worker (worker_id, beats, beat_at, pid) VALUES (?1, 1, ?2, ?3)
         ON CONFLICT (worker_id) DO UPDATE SET beats = beats + 1, beat_at = excluded.beat_at",
    )?
    .execute(params![&**worker, clock::wall_ms(), std::process::id()])?;
    Ok(())
}

pub(super) fn announce(
    connection: &Connection,
    worker: &WorkerId,
    workspaces: &str,
) -> Result<(), Stop> {
    sql(connection, "UPDATE worker SET workspaces = ?2 WHERE worker_id = ?1")?
        .execute(params![&**worker, workspaces])?;
    Ok(())
}

/// Those that beat within the last minutes: rows of processes that ended stay in the table.
pub(super) fn workers(connection: &Connection) -> Result<Vec<WorkerInfo>, Stop> {
    let mut statement = sql(
        connection,
        "SELECT worker_id, max(0, ?1 - beat_at), workspaces FROM worker
         WHERE workspaces IS NOT NULL AND beat_at > ?1 - ?2 ORDER BY worker_id",
    )?;
    let found = statement.query_map(params![clock::wall_ms(), RECENT_MS], |row| {
        let workspaces: String = row.get(2)?;
        Ok(WorkerInfo {
            worker: row.get(0)?,
            silent_ms: row.get::<_, i64>(1)?.cast_unsigned(),
            workspaces: serde_json::from_str(&workspaces).unwrap_or_default(),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
