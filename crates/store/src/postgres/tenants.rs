//! Limits of tenants. Processes that use the same limit lock its row, so that they cannot exceed it
//! together.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::{InboxMessageId, LaneId};
use windlass_runtime::ports::{
    Affinity, DEFAULT_TENANT, LimitedTenant, RunCount, StoreError, TenantLimits,
};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use super::{inbox, lanes};
use crate::column_values;
use crate::encoding::EncodedMessage;
use crate::tenant_limits::{limit_columns, parse_limits, queue_limit_error};

/// The tenant of a lane, and whether a message with this key was ever enqueued.
static FIND_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT lane.tenant, EXISTS (SELECT 1 FROM inbox
             WHERE inbox.lane_no = lane.no AND inbox.idempotency_key = $2)
         FROM lane WHERE lane.id = $1";
    TypedSql::new(text, &[Type::TEXT, Type::TEXT])
});

static QUEUE_LIMIT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT queued_prompts FROM tenant_limit
         WHERE tenant = $1 AND queued_prompts IS NOT NULL";
    TypedSql::new(text, &[Type::TEXT])
});

static LOCK_QUEUE_LIMIT: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT queued_prompts FROM tenant_limit
         WHERE tenant = $1 AND queued_prompts IS NOT NULL FOR UPDATE";
    TypedSql::new(text, &[Type::TEXT])
});

static COUNT_QUEUED: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT count(*) FROM inbox JOIN lane ON lane.no = inbox.lane_no
         WHERE inbox.read_seq IS NULL AND inbox.kind = 'prompt' AND lane.tenant = $1";
    TypedSql::new(text, &[Type::TEXT])
});

static LIST_LIMITS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT tenant, queued_prompts, active_runs, usd_micros_per_day FROM tenant_limit
         ORDER BY tenant";
    TypedSql::new(text, &[])
});

static SET_LIMITS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "INSERT INTO tenant_limit (tenant, queued_prompts, active_runs, usd_micros_per_day)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant) DO UPDATE SET queued_prompts = excluded.queued_prompts,
             active_runs = excluded.active_runs,
             usd_micros_per_day = excluded.usd_micros_per_day";
    TypedSql::new(text, &[Type::TEXT, Type::INT8, Type::INT8, Type::INT8])
});

static COUNT_RUNS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT state, cause, count(*) FROM run WHERE cause IS NOT NULL
             GROUP BY cause, state
         UNION ALL
         SELECT state, NULL, count(*) FROM run WHERE active AND cause IS NULL GROUP BY state
         UNION ALL
         SELECT 'queued', NULL, count(*) FROM inbox WHERE read_seq IS NULL AND kind = 'prompt'";
    TypedSql::new(text, &[])
});

/// Enqueues a prompt within the limits of its tenant.
pub(super) async fn enqueue_prompt(
    connection: &mut PgConnection,
    lane: &LaneId,
    affinity: &Affinity,
    message: &EncodedMessage,
) -> Result<InboxMessageId, PgError> {
    let tenant = match &*affinity.tenant {
        "" => DEFAULT_TENANT,
        tenant => tenant,
    };
    let is_known = find_lane(connection, lane, &message.key, tenant).await?;
    let is_limited = !connection.query(&QUEUE_LIMIT, &[&tenant]).await?.is_empty();
    if is_known || !is_limited {
        lanes::register_lane(connection, lane, affinity).await?;
        return inbox::enqueue_message(connection, lane, message, None).await;
    }
    connection.execute_batch("BEGIN").await?;
    match enqueue_in_transaction(connection, lane, affinity, message, tenant).await {
        Ok(sent) => connection.execute_batch("COMMIT").await.map(|()| sent),
        // A lost connection ends its transaction.
        Err(lost @ PgError::ConnectionLost(_)) => Err(lost),
        Err(error) => connection.execute_batch("ROLLBACK").await.and(Err(error)),
    }
}

/// Checks that a lane is new or of this tenant; returns whether it had a message with this key.
async fn find_lane(
    connection: &mut PgConnection,
    lane: &LaneId,
    key: &str,
    tenant: &str,
) -> Result<bool, PgError> {
    let rows = connection.query(&FIND_LANE, &[&lane.as_str(), &key]).await?;
    let Some(row) = rows.first() else { return Ok(false) };
    let read = || Ok::<_, Error>((row.try_get::<_, &str>(0)?, row.try_get::<_, bool>(1)?));
    let (owner, is_known) =
        read().map_err(|error| classify_error(connection.location(), &error))?;
    match owner == tenant {
        true => Ok(is_known),
        false => Err(PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() })),
    }
}

async fn enqueue_in_transaction(
    connection: &mut PgConnection,
    lane: &LaneId,
    affinity: &Affinity,
    message: &EncodedMessage,
    tenant: &str,
) -> Result<InboxMessageId, PgError> {
    let locked = connection.query(&LOCK_QUEUE_LIMIT, &[&tenant]).await?;
    let classify = |error: Error| classify_error(connection.location(), &error);
    let limit = locked.first().map(|row| row.try_get::<_, i64>(0)).transpose().map_err(classify)?;
    // The same prompt may have arrived at another server meanwhile.
    let is_known = find_lane(connection, lane, &message.key, tenant).await?;
    if let Some(limit) = limit.filter(|_| !is_known) {
        let rows = connection.query(&COUNT_QUEUED, &[&tenant]).await?;
        let queued = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok());
        if queued.unwrap_or(i64::MAX) >= limit {
            return Err(PgError::Rejected(queue_limit_error(limit.cast_unsigned())));
        }
    }
    lanes::register_lane(connection, lane, affinity).await?;
    inbox::enqueue_message(connection, lane, message, None).await
}

pub(super) async fn list_limits(
    connection: &mut PgConnection,
) -> Result<Vec<LimitedTenant>, PgError> {
    let rows = connection.query(&LIST_LIMITS, &[]).await?;
    let limits = |row: &Row| {
        let columns = [row.try_get(1)?, row.try_get(2)?, row.try_get(3)?];
        Ok((Arc::from(row.try_get::<_, &str>(0)?), parse_limits(columns)))
    };
    let found: Result<_, Error> = rows.iter().map(limits).collect();
    found.map_err(|error| classify_error(connection.location(), &error))
}

pub(super) async fn set_limits(
    connection: &mut PgConnection,
    tenant: &str,
    limits: &TenantLimits,
) -> Result<(), PgError> {
    let [queued, active, usd_micros] = limit_columns(limits);
    connection.query(&SET_LIMITS, &[&tenant, &queued, &active, &usd_micros]).await.map(drop)
}

/// Counts runs by state.
pub(super) async fn count_runs(connection: &mut PgConnection) -> Result<Vec<RunCount>, PgError> {
    let rows = connection.query(&COUNT_RUNS, &[]).await?;
    let mut counts = Vec::new();
    for row in &rows {
        let read = || {
            let cause = row.try_get::<_, Option<&str>>(1)?;
            Ok::<_, Error>((row.try_get::<_, &str>(0)?, cause, row.try_get::<_, i64>(2)?))
        };
        let (state, cause, count) =
            read().map_err(|error| classify_error(connection.location(), &error))?;
        counts.extend(column_values::run_count(state, cause, count));
    }
    Ok(counts)
}
