//! Whose lanes are, and in which of them mail lies.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::ids::LaneId;
use windlass_runtime::ports::{SeenBeat, WorkerId};

use super::link::{Link, Sql};
use super::trouble::{Trouble, sort};

#[cfg(test)]
#[path = "wanting_tests.rs"]
mod wanting_tests;

/// Walks from owner to owner, not from lane to lane.
static OWNERS: LazyLock<Sql> = LazyLock::new(|| {
    let text = "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT o.owner, coalesce(worker.beats, 0) FROM o
         LEFT JOIN worker ON worker.worker_id = o.owner WHERE o.owner IS NOT NULL";
    Sql::new(text, &[])
});

static MAILED: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT lane.id FROM lane WHERE lane.owner = $1 AND EXISTS (
             SELECT 1 FROM mail WHERE mail.lane_no = lane.no AND mail.read_seq IS NULL)";
    Sql::new(text, &[Type::TEXT])
});

static OWNED: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT id FROM lane WHERE owner = $1", &[Type::TEXT]));

/// Lanes of `owner` in which mail lies.
pub(super) async fn mailed(link: &mut Link, owner: &WorkerId) -> Result<Vec<LaneId>, Trouble> {
    let rows = link.query(&MAILED, &[&&**owner]).await?;
    lanes(link, &rows)
}

pub(super) async fn owners(link: &mut Link) -> Result<Vec<SeenBeat>, Trouble> {
    let rows = link.query(&OWNERS, &[]).await?;
    let owners = rows.iter().map(|row| seen(row, 0)).collect::<Result<Vec<_>, _>>();
    let owners = owners.map_err(|error| sort(link.place(), &error))?;
    Ok(owners.into_iter().flatten().collect())
}

pub(super) async fn owned(link: &mut Link, owner: &WorkerId) -> Result<Vec<LaneId>, Trouble> {
    let rows = link.query(&OWNED, &[&&**owner]).await?;
    lanes(link, &rows)
}

fn lanes(link: &Link, rows: &[Row]) -> Result<Vec<LaneId>, Trouble> {
    let lane = |row: &Row| Ok(LaneId::from(row.try_get::<_, String>(0)?));
    let lanes: Result<_, Error> = rows.iter().map(lane).collect();
    lanes.map_err(|error| sort(link.place(), &error))
}

fn seen(row: &Row, at: usize) -> Result<Option<SeenBeat>, Error> {
    let beats = row.try_get::<_, i64>(at + 1)?.cast_unsigned();
    let worker: Option<WorkerId> = row.try_get::<_, Option<String>>(at)?.map(Arc::from);
    Ok(worker.map(|worker| SeenBeat { worker, beats }))
}
