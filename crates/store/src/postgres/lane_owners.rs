//! Owners of lanes, and lanes with unread messages.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::{ObservedHeartbeat, WorkerId};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};

#[cfg(test)]
#[path = "lane_owners_tests.rs"]
mod lane_owners_tests;

/// Reads the owners and their heartbeats by skipping from owner to owner, not lane by lane.
static OWNER_HEARTBEATS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH RECURSIVE o (owner) AS (
             SELECT min(owner) FROM lane WHERE owner IS NOT NULL
             UNION ALL
             SELECT (SELECT min(lane.owner) FROM lane WHERE lane.owner > o.owner)
             FROM o WHERE o.owner IS NOT NULL)
         SELECT o.owner, coalesce(worker.heartbeats, 0) FROM o
         LEFT JOIN worker ON worker.worker_id = o.owner WHERE o.owner IS NOT NULL";
    TypedSql::new(text, &[])
});

static LANES_WITH_MESSAGES: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT lane.id FROM lane WHERE lane.owner = $1 AND EXISTS (
             SELECT 1 FROM inbox WHERE inbox.lane_no = lane.no AND inbox.read_seq IS NULL)";
    TypedSql::new(text, &[Type::TEXT])
});

static LANES_OWNED_BY: LazyLock<TypedSql> =
    LazyLock::new(|| TypedSql::new("SELECT id FROM lane WHERE owner = $1", &[Type::TEXT]));

/// Returns lanes of `owner` with unread messages.
pub(super) async fn lanes_with_messages(
    link: &mut PgConnection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, PgError> {
    let rows = link.query(&LANES_WITH_MESSAGES, &[&&**owner]).await?;
    parse_lane_ids(link, &rows)
}

pub(super) async fn owner_heartbeats(
    link: &mut PgConnection,
) -> Result<Vec<ObservedHeartbeat>, PgError> {
    let rows = link.query(&OWNER_HEARTBEATS, &[]).await?;
    let owners = rows.iter().map(|row| parse_heartbeat(row, 0)).collect::<Result<Vec<_>, _>>();
    let owners = owners.map_err(|error| classify_error(link.location(), &error))?;
    Ok(owners.into_iter().flatten().collect())
}

pub(super) async fn lanes_owned_by(
    link: &mut PgConnection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, PgError> {
    let rows = link.query(&LANES_OWNED_BY, &[&&**owner]).await?;
    parse_lane_ids(link, &rows)
}

fn parse_lane_ids(link: &PgConnection, rows: &[Row]) -> Result<Vec<LaneId>, PgError> {
    let lane = |row: &Row| Ok(LaneId::from(row.try_get::<_, String>(0)?));
    let lanes: Result<_, Error> = rows.iter().map(lane).collect();
    lanes.map_err(|error| classify_error(link.location(), &error))
}

fn parse_heartbeat(row: &Row, at: usize) -> Result<Option<ObservedHeartbeat>, Error> {
    let heartbeats = row.try_get::<_, i64>(at + 1)?.cast_unsigned();
    let worker: Option<WorkerId> = row.try_get::<_, Option<String>>(at)?.map(Arc::from);
    Ok(worker.map(|worker| ObservedHeartbeat { worker, heartbeats }))
}
