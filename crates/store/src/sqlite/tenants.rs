//! Limits of tenants. All of them are checked in the transaction of the writer, so that processes
//! cannot exceed them together.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::log::ids::{InboxMessageId, LaneId};
use windlass_core::run::child_runs;
use windlass_runtime::ports::{
    Affinity, DEFAULT_TENANT, LimitedTenant, RunCount, StoreError, TenantLimits,
};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::{inbox, lanes};
use crate::encoding::EncodedMessage;
use crate::tenant_limits::{limit_columns, parse_limits, queue_limit_error};
use crate::{column_values, run_changes::RunChange};

/// Enqueues a prompt within the limits of its tenant.
pub(super) fn enqueue_prompt(
    connection: &Connection,
    lane: &LaneId,
    affinity: &Affinity,
    message: &EncodedMessage,
) -> Result<InboxMessageId, WorkError> {
    let tenant = match &*affinity.tenant {
        "" => DEFAULT_TENANT,
        tenant => tenant,
    };
    match tenant_of_lane(connection, lane)? {
        Some(owner) if *owner != *tenant => {
            return Err(WorkError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
        }
        Some(_) if inbox::has_key(connection, lane, &message.key)? => {}
        Some(_) | None => check_queue(connection, tenant)?,
    }
    lanes::register_lane(connection, lane, affinity)?;
    inbox::enqueue_message(connection, lane, message, None)
}

fn check_queue(connection: &Connection, tenant: &str) -> Result<(), WorkError> {
    let limits = read_limits(connection, tenant)?;
    let Some(limit) = limits.queued_prompts else { return Ok(()) };
    let queued: i64 = prepare_cached(
        connection,
        "SELECT count(*) FROM inbox JOIN lane ON lane.no = inbox.lane_no
         WHERE inbox.read_seq IS NULL AND inbox.kind = 'prompt' AND lane.tenant = ?1",
    )?
    .query_row([tenant], |row| row.get(0))?;
    match queued.cast_unsigned() < limit {
        true => Ok(()),
        false => Err(WorkError::Rejected(queue_limit_error(limit))),
    }
}

fn tenant_of_lane(connection: &Connection, lane: &LaneId) -> Result<Option<Arc<str>>, WorkError> {
    let found = prepare_cached(connection, "SELECT tenant FROM lane WHERE id = ?1")?
        .query_row([lane.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found)
}

fn read_limits(connection: &Connection, tenant: &str) -> Result<TenantLimits, WorkError> {
    let found = prepare_cached(
        connection,
        "SELECT queued_prompts, active_runs, usd_micros_per_day FROM tenant_limit
         WHERE tenant = ?1",
    )?
    .query_row([tenant], |row| parse_limits_row(row, 0))
    .optional()?;
    Ok(found.unwrap_or_default())
}

fn parse_limits_row(row: &Row<'_>, first: usize) -> rusqlite::Result<TenantLimits> {
    Ok(parse_limits([row.get(first)?, row.get(first + 1)?, row.get(first + 2)?]))
}

pub(super) fn list_limits(connection: &Connection) -> Result<Vec<LimitedTenant>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT tenant, queued_prompts, active_runs, usd_micros_per_day FROM tenant_limit
         ORDER BY tenant",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, parse_limits_row(row, 1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn set_limits(
    connection: &Connection,
    tenant: &str,
    limits: &TenantLimits,
) -> Result<(), WorkError> {
    let [queued, active, usd_micros] = limit_columns(limits);
    prepare_cached(
        connection,
        "INSERT INTO tenant_limit (tenant, queued_prompts, active_runs, usd_micros_per_day)
         VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (tenant) DO UPDATE SET queued_prompts = ?2, active_runs = ?3,
             usd_micros_per_day = ?4",
    )?
    .execute(params![tenant, queued, active, usd_micros])?;
    Ok(())
}

/// Returns whether one more conversation of the lane's tenant may be driven. Sub-agents do not
/// count: a conversation that waits for them would wait for itself.
pub(super) fn may_be_driven(connection: &Connection, lane: &LaneId) -> Result<bool, WorkError> {
    let is_child = |lane: &LaneId| child_runs::root_lane(lane) != *lane;
    let limited: Option<(Arc<str>, i64)> = prepare_cached(
        connection,
        "SELECT tenant_limit.tenant, active_runs FROM lane
         JOIN tenant_limit ON tenant_limit.tenant = lane.tenant
         WHERE lane.id = ?1 AND active_runs IS NOT NULL",
    )?
    .query_row([lane.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
    .optional()?;
    let Some((tenant, limit)) = limited.filter(|_| !is_child(lane)) else { return Ok(true) };
    let mut statement = prepare_cached(
        connection,
        "SELECT id FROM lane INDEXED BY lane_owned WHERE owner IS NOT NULL AND tenant = ?1",
    )?;
    let mut driven = 0;
    for owned in statement.query_map([&*tenant], |row| row.get::<_, String>(0))? {
        driven += i64::from(!is_child(&LaneId::from(owned?)));
    }
    Ok(driven < limit)
}

/// Leaves a document for a run that changed, if its tenant has a webhook.
pub(super) fn insert_run_change(
    connection: &Connection,
    lane_no: i64,
    change: &RunChange,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO document (kind, key, tenant, subject, due_at, version, body)
         SELECT 'run_change', ?2, lane.tenant, ?3, NULL, 1, ?4 FROM lane
         WHERE lane.no = ?1 AND EXISTS (
             SELECT 1 FROM document WHERE kind = 'webhook' AND document.tenant = lane.tenant)
         ON CONFLICT DO NOTHING",
    )?
    .execute(params![lane_no, change.key, change.run, change.body])?;
    Ok(())
}

/// Counts runs by state. Runs that ended are counted from an index, so that their texts are not
/// read.
pub(super) fn count_runs(connection: &Connection) -> Result<Vec<RunCount>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT state, cause, count(*) FROM run INDEXED BY run_by_cause
         WHERE cause IS NOT NULL GROUP BY cause, state
         UNION ALL
         SELECT state, NULL, count(*) FROM run WHERE active = 1 AND cause IS NULL GROUP BY state
         UNION ALL
         SELECT 'queued', NULL, count(*) FROM inbox WHERE read_seq IS NULL AND kind = 'prompt'",
    )?;
    let rows = statement.query_map([], |row| {
        let text = |column| row.get::<_, Option<String>>(column);
        Ok((text(0)?.unwrap_or_default(), text(1)?, row.get::<_, i64>(2)?))
    })?;
    let mut counts = Vec::new();
    for row in rows {
        let (state, cause, count) = row?;
        counts.extend(column_values::run_count(&state, cause.as_deref(), count));
    }
    Ok(counts)
}
