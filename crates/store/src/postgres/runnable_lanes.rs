//! Finds and claims runnable lanes; lanes of an owner.

use std::sync::LazyLock;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::{ClaimQuery, LaneClaim, StoreError, WorkerId};

use super::connection::{PgConnection, TypedSql};
use super::connection_pool::AttemptState;
use super::error::{PgError, classify_error};
use super::lanes::{CLAIM_COLUMNS, parse_claim};
use crate::column_values;

#[cfg(test)]
#[path = "runnable_lanes_tests.rs"]
mod runnable_lanes_tests;

/// Finds and claims runnable lanes in one round trip: one lane of each tenant, then another of
/// each. Lanes that another worker is claiming at the same moment are skipped (`SKIP LOCKED`).
static CLAIM_RUNNABLE: LazyLock<TypedSql> = LazyLock::new(|| claim_sql("", "", ""));

/// The same, without lanes of tenants that have their limit of conversations driven. Lanes of
/// sub-agents, which have a slash in their names, do not count: a conversation that waits for them
/// would wait for itself.
static CLAIM_WITHIN_LIMITS: LazyLock<TypedSql> = LazyLock::new(|| {
    let turns = ", lane.tenant, lane.id LIKE '%/%' AS is_child, row_number() OVER (
                PARTITION BY lane.tenant, lane.id LIKE '%/%'
                ORDER BY lane.wake_at, lane.no) AS turn_of_kind";
    let driven = "driven AS (
            SELECT tenant, count(*) AS lanes FROM lane
            WHERE owner IS NOT NULL AND id NOT LIKE '%/%' GROUP BY tenant),";
    let within = "AND (fair.is_child OR NOT EXISTS (SELECT 1 FROM tenant_limit
                  WHERE tenant_limit.tenant = fair.tenant
                    AND active_runs < fair.turn_of_kind + coalesce((SELECT driven.lanes
                        FROM driven WHERE driven.tenant = fair.tenant), 0)))";
    claim_sql(driven, turns, within)
});

fn claim_sql(driven: &str, turns: &str, within: &str) -> TypedSql {
    let text = format!(
        "WITH wants (no) AS (
            SELECT lane_no FROM inbox WHERE read_seq IS NULL
            UNION
            SELECT no FROM lane WHERE owner IS NULL AND wake_at <= $2),
        {driven}
        fair AS (
            SELECT lane.no, row_number() OVER (
                PARTITION BY lane.tenant ORDER BY lane.wake_at, lane.no) AS turn {turns}
            FROM wants JOIN lane ON lane.no = wants.no
            WHERE lane.owner IS NULL
              AND (lane.agent = '' OR lane.agent = ANY($4))
              AND (lane.affinity = '' OR lane.affinity = ANY($5))
              AND lane.id <> ALL($6)),
        chosen AS (
            SELECT lane.no FROM fair JOIN lane ON lane.no = fair.no WHERE lane.owner IS NULL
              {within}
            ORDER BY fair.turn, lane.no LIMIT $3 FOR UPDATE OF lane SKIP LOCKED)
        UPDATE lane SET epoch = epoch + 1, owner = $1 FROM chosen WHERE lane.no = chosen.no
        RETURNING {}",
        *CLAIM_COLUMNS
    );
    let names = Type::TEXT_ARRAY;
    let reach = [names.clone(), names.clone(), names];
    TypedSql::new(&text, &[[Type::TEXT, Type::INT8, Type::INT8].as_slice(), &reach].concat())
}

/// Claims runnable lanes. Whether an earlier attempt claimed any cannot be known here: the caller
/// knows which of its lanes it drives.
pub(super) async fn claim_runnable_lanes(
    connection: &mut PgConnection,
    worker: &WorkerId,
    query: &ClaimQuery,
    attempt: AttemptState,
) -> Result<Vec<(LaneId, LaneClaim)>, PgError> {
    if attempt == AttemptState::MayHaveLanded {
        let reason = "connection lost while claiming lanes".to_owned();
        let location = connection.location().to_owned();
        return Err(PgError::Rejected(StoreError::Unreachable { location, reason }));
    }
    let limit = column_values::limit_column(query.limit);
    let now = column_values::saturating_column(query.now.0);
    let agents: Vec<&str> = query.scope.agents.iter().map(|agent| &**agent).collect();
    let affinities: Vec<&str> = query.scope.workspaces.iter().map(|place| &**place).collect();
    let except: Vec<&str> = query.exclude.iter().map(LaneId::as_str).collect();
    let values: [super::connection::SqlValue<'_>; 6] =
        [&&**worker, &now, &limit, &agents, &affinities, &except];
    if connection.query(&LIMITED_TENANTS, &[]).await?.is_empty() {
        let rows = connection.query(&CLAIM_RUNNABLE, &values).await?;
        return rows.iter().map(|row| parse_claim(connection, row)).collect();
    }
    connection.execute_batch("BEGIN").await?;
    match claim_in_transaction(connection, &values).await {
        Ok(claims) => connection.execute_batch("COMMIT").await.map(|()| claims),
        // A lost connection ends its transaction.
        Err(lost @ PgError::ConnectionLost(_)) => Err(lost),
        Err(error) => connection.execute_batch("ROLLBACK").await.and(Err(error)),
    }
}

/// Locks the limits of tenants, then claims: a second process counts what the first has claimed.
async fn claim_in_transaction(
    connection: &mut PgConnection,
    values: &[super::connection::SqlValue<'_>],
) -> Result<Vec<(LaneId, LaneClaim)>, PgError> {
    connection.query(&LOCK_LIMITED_TENANTS, &[]).await?;
    let rows = connection.query(&CLAIM_WITHIN_LIMITS, values).await?;
    rows.iter().map(|row| parse_claim(connection, row)).collect()
}

static LIMITED_TENANTS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT 1 FROM tenant_limit WHERE active_runs IS NOT NULL LIMIT 1";
    TypedSql::new(text, &[])
});

static LOCK_LIMITED_TENANTS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT tenant FROM tenant_limit WHERE active_runs IS NOT NULL
         ORDER BY tenant FOR UPDATE";
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
    connection: &mut PgConnection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, PgError> {
    let rows = connection.query(&LANES_WITH_MESSAGES, &[&&**owner]).await?;
    parse_lane_ids(connection, &rows)
}

pub(super) async fn lanes_owned_by(
    connection: &mut PgConnection,
    owner: &WorkerId,
) -> Result<Vec<LaneId>, PgError> {
    let rows = connection.query(&LANES_OWNED_BY, &[&&**owner]).await?;
    parse_lane_ids(connection, &rows)
}

fn parse_lane_ids(connection: &PgConnection, rows: &[Row]) -> Result<Vec<LaneId>, PgError> {
    let lane = |row: &Row| Ok(LaneId::from(row.try_get::<_, String>(0)?));
    let lanes: Result<_, Error> = rows.iter().map(lane).collect();
    lanes.map_err(|error| classify_error(connection.location(), &error))
}
