//! Reads of lanes, logs and runs. A fork's log is its ancestors' entries up to the fork, then its
//! own.

use std::sync::{Arc, LazyLock};

use rusqlite::{Connection, OptionalExtension, Row, params};
use windlass_core::log::ids::{LaneId, RunId, Seq, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_core::projection::{RawRow, RunDescription};
use windlass_core::settings::conversation_settings::ResumePolicy;
use windlass_runtime::ports::{
    Affinity, EncodedEntry, LaneInfo, RunInfo, RunTraceEnd, StoreError, WorkerId,
};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use super::inbox;
use crate::{column_values, pending_runs};

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
    limit: usize,
) -> Result<Vec<EncodedEntry>, WorkError> {
    // Several statements must see the same log, so they share a read transaction.
    let transaction = connection.unchecked_transaction()?;
    let after = column_values::saturating_column(after);
    let mut found = Vec::new();
    for segment in log_segments(&transaction, lane, after)?.iter().rev() {
        let remaining = limit.saturating_sub(found.len());
        read_segment(&transaction, segment, after, remaining, &mut found)?;
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
    let mut segments = vec![LogSegment { lane_no: no, upto }];
    while let Some((parent, at)) = find_parent(connection, no)?
        && at > after
    {
        no = parent;
        upto = upto.min(at);
        segments.push(LogSegment { lane_no: no, upto });
    }
    Ok(segments)
}

fn find_parent(connection: &Connection, no: i64) -> Result<Option<(i64, i64)>, WorkError> {
    let (parent, at): (Option<i64>, Option<i64>) =
        prepare_cached(connection, "SELECT fork_parent, fork_seq FROM lane WHERE no = ?1")?
            .query_row(params![no], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(parent.zip(at))
}

fn read_segment(
    connection: &Connection,
    segment: &LogSegment,
    after: i64,
    limit: usize,
    found: &mut Vec<EncodedEntry>,
) -> Result<(), WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT seq, at, coalesce(body, (SELECT bytes FROM blob WHERE hash = entry.blob))
         FROM entry WHERE lane_no = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4",
    )?;
    let limit = column_values::limit_column(limit);
    let mut rows = statement.query(params![segment.lane_no, after, segment.upto, limit])?;
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

/// The columns of a run that lists show, in the order in which `parse_run_info` reads them. The row
/// of an active run may be written later than its entry; its time and cost are with the lane.
const RUN_INFO_COLUMNS: &str = "run_id, lane.id, state, cause, text,
    iif(lane.active_run = run_id AND lane.run_at > run.at, lane.run_at, run.at),
    resume_available, prompt, run.folder, run.agent, profile, model,
    iif(lane.active_run = run_id AND lane.run_at >= run.at, lane.run_usd_micros, usd_micros),
    cancel_requested, resume_policy, lane.tenant";

static READ_RUNS: LazyLock<String> = LazyLock::new(|| read_runs_sql("?1 IS NULL"));
static READ_RUNS_OF_LANE: LazyLock<String> =
    LazyLock::new(|| read_runs_sql("run.lane_no = (SELECT no FROM lane WHERE id = ?1)"));

static FIND_RUN: LazyLock<String> = LazyLock::new(|| read_runs_sql("run.run_id = ?1"));

/// Returns a run. A prompt that is still unread has no row; few messages are unread at a time.
pub(super) fn find_run(connection: &Connection, run: &RunId) -> Result<Option<RunInfo>, WorkError> {
    let transaction = connection.unchecked_transaction()?;
    let mut statement = prepare_cached(&transaction, &FIND_RUN)?;
    let row = statement.query_row(params![run.as_str(), 1], parse_run_info).optional()?;
    let (lane, rows) = (row.as_ref().map(|run| run.lane.clone()), row.into_iter().collect());
    let pending = inbox::run_messages(&transaction, lane.as_ref(), usize::MAX)?;
    let runs = pending_runs::merge_pending(rows, pending, usize::MAX);
    Ok(runs.into_iter().find(|known| known.run == *run))
}

fn read_runs_sql(filter: &str) -> String {
    format!(
        "SELECT {RUN_INFO_COLUMNS} FROM run JOIN lane ON lane.no = run.lane_no
         WHERE {filter} ORDER BY run.no DESC LIMIT ?2"
    )
}

/// Returns runs, newest first.
pub(super) fn read_runs(
    connection: &Connection,
    lane: Option<&LaneId>,
    limit: usize,
) -> Result<Vec<RunInfo>, WorkError> {
    let sql = if lane.is_some() { &READ_RUNS_OF_LANE } else { &READ_RUNS };
    // Two statements must see the same state: a prompt is pending or has a row.
    let transaction = connection.unchecked_transaction()?;
    let mut statement = prepare_cached(&transaction, sql)?;
    let values = params![lane.map(LaneId::as_str), column_values::limit_column(limit)];
    let runs = statement.query_map(values, parse_run_info)?;
    let runs = runs.collect::<rusqlite::Result<_>>()?;
    let pending = inbox::run_messages(&transaction, lane, limit)?;
    Ok(pending_runs::merge_pending(runs, pending, limit))
}

fn parse_run_info(row: &Row<'_>) -> rusqlite::Result<RunInfo> {
    let state: String = row.get(2)?;
    let cause: Option<String> = row.get(3)?;
    Ok(RunInfo {
        run: RunId::from(row.get::<_, String>(0)?),
        lane: LaneId::from(row.get::<_, String>(1)?),
        tenant: row.get(15)?,
        state: column_values::parse_state(&state).ok_or_else(|| unknown_name_error(2, &state))?,
        cause: cause
            .map(|name| {
                column_values::parse_cause(&name).ok_or_else(|| unknown_name_error(3, &name))
            })
            .transpose()?,
        text: row.get(4)?,
        at: UnixMillis(row.get::<_, i64>(5)?.cast_unsigned()),
        resume_available: row.get(6)?,
        cancel_requested: row.get(13)?,
        description: RunDescription {
            prompt: row.get(7)?,
            folder: row.get(8)?,
            agent: row.get(9)?,
            profile: row.get(10)?,
            model: row.get(11)?,
            resume: row.get::<_, Option<String>>(14)?.map(|name| ResumePolicy::from_name(&name)),
        },
        usd_micros: row.get::<_, Option<i64>>(12)?.map(i64::cast_unsigned),
    })
}

/// Returns the ends of traces. The run's own row says that it has ended: the reason of its last
/// iteration alone does not.
pub(super) fn read_trace_ends(
    connection: &Connection,
    since: UnixMillis,
    limit: usize,
) -> Result<Vec<RunTraceEnd>, WorkError> {
    let limit = column_values::limit_column(limit);
    let since = column_values::saturating_column(since.0);
    let mut statement = prepare_cached(
        connection,
        "SELECT run_id, iter, cause, at, agent, profile, model,
             (SELECT coalesce(sum(coalesce(input_tokens, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0)), 0) FROM agent_loop_trace WHERE job_id = run.run_id),
             (SELECT coalesce(sum(coalesce(cache_read, 0)), 0) FROM agent_loop_trace WHERE job_id = run.run_id),
             (SELECT coalesce(sum(coalesce(output_tokens, 0)), 0) FROM agent_loop_trace WHERE job_id = run.run_id)
         FROM run JOIN agent_loop_trace AS last
           ON last.id = (SELECT max(id) FROM agent_loop_trace WHERE job_id = run.run_id)
         WHERE cause IS NOT NULL AND at >= ?1 ORDER BY run.no DESC LIMIT ?2",
    )?;
    let found = statement.query_map(params![since, limit], |row| {
        Ok(RunTraceEnd {
            run: RunId::from(row.get::<_, String>(0)?),
            iterations: row.get(1)?,
            cause: row.get(2)?,
            at: UnixMillis(row.get::<_, i64>(3)?.cast_unsigned()),
            agent: row.get(4)?,
            profile: row.get(5)?,
            model: row.get(6)?,
            input_tokens: row.get::<_, i64>(7)?.cast_unsigned(),
            cached_tokens: row.get::<_, i64>(8)?.cast_unsigned(),
            output_tokens: row.get::<_, i64>(9)?.cast_unsigned(),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns raw responses, oldest first.
pub(super) fn read_raw_responses(
    connection: &Connection,
    lane: &LaneId,
    after: Seq,
    limit: usize,
) -> Result<Vec<RawRow>, WorkError> {
    let limit = column_values::limit_column(limit);
    let after = column_values::saturating_column(after);
    let mut statement = prepare_cached(
        connection,
        "SELECT (SELECT run_id FROM run WHERE no = run_no), seq, raw_at, raw_body, raw_response
         FROM entry WHERE lane_no = (SELECT no FROM lane WHERE id = ?1) AND seq > ?2
             AND raw_at IS NOT NULL
         ORDER BY seq LIMIT ?3",
    )?;
    let found = statement.query_map(params![lane.as_str(), after, limit], |row| {
        let body: String = row.get(3)?;
        Ok(RawRow {
            run: row.get::<_, Option<String>>(0)?.map(RunId::from),
            seq: row.get::<_, i64>(1)?.cast_unsigned(),
            at: UnixMillis(row.get::<_, i64>(2)?.cast_unsigned()),
            // A damaged body is returned as text.
            body: RawJson::parse(body.as_str()).unwrap_or_else(|_| RawJson::string(&body)),
            response: row.get(4)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn unknown_name_error(column: usize, name: &str) -> rusqlite::Error {
    let reason = column_values::unknown_name(name).into();
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, reason)
}
