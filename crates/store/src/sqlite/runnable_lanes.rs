//! Finds and claims runnable lanes. The statements that search run twice a second, so they only
//! read lanes that have messages, are due, or have an owner: never all of them.

use rusqlite::{Connection, params};
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::{ClaimQuery, LaneClaim, WorkerId};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::{lanes, tenants};
use crate::column_values;

#[cfg(test)]
#[path = "runnable_lanes_tests.rs"]
mod runnable_lanes_tests;

/// Without help SQLite scans all lanes in their order, to merge those that are due with those that
/// have messages. The named indexes and the order of the join prevent that. The number of a tenant's
/// conversations is checked again when they are claimed, by their form and not by a slash.
const RUNNABLE_LANES_SQL: &str = "WITH wants (no) AS (
             SELECT lane_no FROM inbox WHERE read_seq IS NULL
             UNION
             SELECT no FROM lane INDEXED BY lane_due
             WHERE owner IS NULL AND wake_at <= ?1)
         SELECT lane.id FROM wants CROSS JOIN lane ON lane.no = wants.no
         WHERE lane.owner IS NULL
           AND (lane.agent = '' OR lane.agent IN (SELECT value FROM json_each(?3)))
           AND (lane.affinity = '' OR lane.affinity IN (SELECT value FROM json_each(?4)))
           AND lane.id NOT IN (SELECT value FROM json_each(?5))
           AND NOT EXISTS (SELECT 1 FROM tenant_limit
               WHERE tenant_limit.tenant = lane.tenant AND lane.id NOT LIKE '%/%'
                 AND active_runs <= (SELECT count(*) FROM lane AS driven INDEXED BY lane_owned
                     WHERE driven.owner IS NOT NULL AND driven.tenant = lane.tenant
                       AND driven.id NOT LIKE '%/%'))
         ORDER BY row_number() OVER (PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no)
         LIMIT ?2";

const LANES_WITH_MESSAGES_SQL: &str = "SELECT lane.id FROM lane WHERE lane.owner = ?1 AND EXISTS (
             SELECT 1 FROM inbox INDEXED BY inbox_unread
             WHERE inbox.lane_no = lane.no AND inbox.read_seq IS NULL)";

/// Finds free lanes that are runnable, tenants in turn; it does not claim them.
pub(super) fn find_runnable_lanes(
    connection: &Connection,
    query: &ClaimQuery,
) -> Result<Vec<LaneId>, WorkError> {
    let mut statement = prepare_cached(connection, RUNNABLE_LANES_SQL)?;
    let limit = column_values::limit_column(query.limit);
    let (agents, affinities) =
        (to_json_list(&query.scope.agents), to_json_list(&query.scope.workspaces));
    let except = to_json_list(&query.exclude);
    let given = params![query.now.0.cast_signed(), limit, agents, affinities, except];
    let lanes = statement.query_map(given, |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
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
        if !tenants::may_be_driven(connection, lane)? {
            continue;
        }
        match lanes::claim_lane(connection, lane, worker, None) {
            Ok(claim) => claims.push((lane.clone(), claim)),
            Err(WorkError::Rejected(_)) => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(claims)
}

/// Returns lanes of `owner` with unread messages.
pub(super) fn lanes_with_messages(
    connection: &Connection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, WorkError> {
    let mut statement = prepare_cached(connection, LANES_WITH_MESSAGES_SQL)?;
    let lanes = statement.query_map(params![&**owner], |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

pub(super) fn lanes_owned_by(
    connection: &Connection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, WorkError> {
    let mut statement = prepare_cached(connection, "SELECT id FROM lane WHERE owner = ?1")?;
    let lanes = statement.query_map(params![&**owner], |row| row.get::<_, String>(0))?;
    Ok(lanes.map(|lane| lane.map(LaneId::from)).collect::<Result<_, _>>()?)
}

/// Encodes names as one JSON parameter.
fn to_json_list(names: &impl serde::Serialize) -> String {
    serde_json::to_string(names).unwrap_or_else(|_| "[]".to_owned())
}
