//! Reads of lanes, logs and runs. A fork's log is its ancestors' entries up to the fork, then its
//! own.

use std::sync::{Arc, LazyLock};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};
use windlass_core::log::ids::{LaneId, RunId, Seq, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_core::projection::{RawRow, RunDescription};
use windlass_core::settings::conversation_settings::ResumePolicy;
use windlass_runtime::ports::{
    Affinity, EncodedEntry, LaneInfo, RunInfo, RunTraceEnd, StoreError, WorkerId,
};

use super::connection::{PgConnection, TypedSql};
use super::error::{PgError, classify_error};
use super::inbox;
use crate::{column_values, pending_runs};

static READ_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT epoch, head, owner, active_run, wake_at, tenant, agent, affinity, folder
         FROM lane WHERE id = $1";
    TypedSql::new(text, &[Type::TEXT])
});

/// Reads the lane and its ancestors; stops once all older entries lie before what is asked for.
static LOG_SEGMENTS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "WITH RECURSIVE line (no, upto, fork_parent, fork_seq) AS (
            SELECT no, 9223372036854775807, fork_parent, fork_seq FROM lane WHERE id = $1
            UNION ALL
            SELECT p.no, least(line.upto, line.fork_seq), p.fork_parent, p.fork_seq
            FROM line JOIN lane p ON p.no = line.fork_parent WHERE line.fork_seq > $2)
        SELECT no, upto FROM line ORDER BY upto";
    TypedSql::new(text, &[Type::TEXT, Type::INT8])
});

static READ_ENTRIES: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT seq, at, coalesce(body, (SELECT bytes FROM blob WHERE hash = entry.blob))
         FROM entry WHERE lane_no = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4";
    TypedSql::new(text, &[Type::INT8, Type::INT8, Type::INT8, Type::INT8])
});

/// The columns of a run that lists show, in the order in which `parse_run_info` reads them.
const RUN_INFO_COLUMNS: &str = "run_id, lane.id, state, cause, text, at, resume_available, prompt,
    run.folder, run.agent, profile, model, usd_micros, cancel_requested, resume_policy,
    lane.tenant";

static READ_RUNS: LazyLock<TypedSql> =
    LazyLock::new(|| TypedSql::new(&read_runs_sql(""), &[Type::INT8]));

static READ_RUNS_OF_LANE: LazyLock<TypedSql> = LazyLock::new(|| {
    TypedSql::new(&read_runs_sql("WHERE lane.id = $2"), &[Type::INT8, Type::TEXT])
});

static FIND_RUN: LazyLock<TypedSql> = LazyLock::new(|| {
    TypedSql::new(&read_runs_sql("WHERE run.run_id = $2"), &[Type::INT8, Type::TEXT])
});

fn read_runs_sql(filter: &str) -> String {
    format!(
        "SELECT {RUN_INFO_COLUMNS} FROM run JOIN lane ON lane.no = run.lane_no
         {filter} ORDER BY run.no DESC LIMIT $1"
    )
}

static READ_TRACE_ENDS: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT run_id, iter, cause, at, agent, profile, model,
             (SELECT CAST(coalesce(sum(coalesce(input_tokens, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0)), 0) AS bigint) FROM agent_loop_trace WHERE job_id = run.run_id::uuid),
             (SELECT CAST(coalesce(sum(coalesce(cache_read, 0)), 0) AS bigint) FROM agent_loop_trace WHERE job_id = run.run_id::uuid),
             (SELECT CAST(coalesce(sum(coalesce(output_tokens, 0)), 0) AS bigint) FROM agent_loop_trace WHERE job_id = run.run_id::uuid)
         FROM run JOIN agent_loop_trace AS last
           ON last.id = (SELECT max(id) FROM agent_loop_trace WHERE job_id = run.run_id::uuid)
         WHERE cause IS NOT NULL AND at >= $1 ORDER BY run.no DESC LIMIT $2";
    TypedSql::new(text, &[Type::INT8, Type::INT8])
});

/// Returns the ends of traces, newest first.
pub(super) async fn read_trace_ends(
    connection: &mut PgConnection,
    since: UnixMillis,
    limit: usize,
) -> Result<Vec<RunTraceEnd>, PgError> {
    let limit = column_values::limit_column(limit);
    let since = column_values::saturating_column(since.0);
    let rows = connection.query(&READ_TRACE_ENDS, &[&since, &limit]).await?;
    let ends = rows.iter().map(parse_trace_end).collect::<Result<_, _>>();
    ends.map_err(|error| classify_error(connection.location(), &error))
}

fn parse_trace_end(row: &Row) -> Result<RunTraceEnd, Error> {
    Ok(RunTraceEnd {
        run: RunId::from(row.try_get::<_, String>(0)?),
        iterations: u32::try_from(row.try_get::<_, i32>(1)?).unwrap_or_default(),
        cause: Arc::from(row.try_get::<_, String>(2)?),
        at: UnixMillis(row.try_get::<_, i64>(3)?.cast_unsigned()),
        agent: row.try_get::<_, Option<String>>(4)?.map(Arc::from),
        profile: row.try_get::<_, Option<String>>(5)?.map(Arc::from),
        model: row.try_get::<_, Option<String>>(6)?.map(Arc::from),
        input_tokens: row.try_get::<_, i64>(7)?.cast_unsigned(),
        cached_tokens: row.try_get::<_, i64>(8)?.cast_unsigned(),
        output_tokens: row.try_get::<_, i64>(9)?.cast_unsigned(),
    })
}

static READ_RAW_RESPONSES: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT run_id, seq, at, body, response FROM raw_response
         WHERE lane_no = (SELECT no FROM lane WHERE id = $1) AND seq > $2 ORDER BY seq LIMIT $3";
    TypedSql::new(text, &[Type::TEXT, Type::INT8, Type::INT8])
});

/// Returns raw responses, oldest first.
pub(super) async fn read_raw_responses(
    connection: &mut PgConnection,
    lane: &LaneId,
    after: Seq,
    limit: usize,
) -> Result<Vec<RawRow>, PgError> {
    let limit = column_values::limit_column(limit);
    let after = column_values::saturating_column(after);
    let rows = connection.query(&READ_RAW_RESPONSES, &[&lane.as_str(), &after, &limit]).await?;
    let found = rows.iter().map(parse_raw_response).collect::<Result<_, _>>();
    found.map_err(|error| classify_error(connection.location(), &error))
}

fn parse_raw_response(row: &Row) -> Result<RawRow, Error> {
    let body: String = row.try_get(3)?;
    Ok(RawRow {
        run: row.try_get::<_, Option<String>>(0)?.map(RunId::from),
        seq: row.try_get::<_, i64>(1)?.cast_unsigned(),
        at: UnixMillis(row.try_get::<_, i64>(2)?.cast_unsigned()),
        // A damaged body is returned as text.
        body: RawJson::parse(body.as_str()).unwrap_or_else(|_| RawJson::string(&body)),
        response: row.try_get::<_, Option<String>>(4)?.map(Arc::from),
    })
}

pub(super) async fn read_lane(
    connection: &mut PgConnection,
    lane: &LaneId,
) -> Result<Option<LaneInfo>, PgError> {
    let rows = connection.query(&READ_LANE, &[&lane.as_str()]).await?;
    let info = rows.first().map(|row| parse_lane_info(lane, row)).transpose();
    info.map_err(|error| classify_error(connection.location(), &error))
}

fn parse_lane_info(lane: &LaneId, row: &Row) -> Result<LaneInfo, Error> {
    Ok(LaneInfo {
        lane: lane.clone(),
        epoch: row.try_get::<_, i64>(0)?.cast_unsigned(),
        head: row.try_get::<_, i64>(1)?.cast_unsigned(),
        owner: row.try_get::<_, Option<String>>(2)?.map(WorkerId::from),
        active_run: row.try_get::<_, Option<String>>(3)?.map(RunId::from),
        wake_at: row.try_get::<_, Option<i64>>(4)?.map(|at| UnixMillis(at.cast_unsigned())),
        affinity: Affinity {
            tenant: row.try_get::<_, &str>(5)?.into(),
            agent: row.try_get::<_, &str>(6)?.into(),
            workspace: row.try_get::<_, &str>(7)?.into(),
            folder: row.try_get::<_, &str>(8)?.into(),
        },
    })
}

pub(super) async fn read_log(
    connection: &mut PgConnection,
    lane: &LaneId,
    after: Seq,
    limit: usize,
) -> Result<Vec<EncodedEntry>, PgError> {
    let after = column_values::saturating_column(after);
    let segments = connection.query(&LOG_SEGMENTS, &[&lane.as_str(), &after]).await?;
    if segments.is_empty() {
        return Err(PgError::Rejected(StoreError::LaneNotFound { lane: lane.clone() }));
    }
    let mut found = Vec::new();
    for segment in &segments {
        let number = |column| segment.try_get::<_, i64>(column);
        let (no, upto) = (number(0), number(1));
        let no = no.map_err(|error| classify_error(connection.location(), &error))?;
        let upto = upto.map_err(|error| classify_error(connection.location(), &error))?;
        let remaining = column_values::limit_column(limit.saturating_sub(found.len()));
        for row in connection.query(&READ_ENTRIES, &[&no, &after, &upto, &remaining]).await? {
            found.push(parse_entry(connection, &row)?);
        }
    }
    Ok(found)
}

fn parse_entry(connection: &PgConnection, row: &Row) -> Result<EncodedEntry, PgError> {
    let classify = |error: Error| classify_error(connection.location(), &error);
    let bytes = row.try_get::<_, &[u8]>(2).map_err(classify)?;
    let line = std::str::from_utf8(bytes).map_err(|error| {
        let (location, reason) = (connection.location().to_owned(), error.to_string());
        PgError::Rejected(StoreError::Corrupt { location, reason })
    })?;
    Ok(EncodedEntry {
        seq: row.try_get::<_, i64>(0).map_err(classify)?.cast_unsigned(),
        at: UnixMillis(row.try_get::<_, i64>(1).map_err(classify)?.cast_unsigned()),
        line: Arc::from(line),
    })
}

/// Returns runs, newest first.
pub(super) async fn read_runs(
    connection: &mut PgConnection,
    lane: Option<&LaneId>,
    limit: usize,
) -> Result<Vec<RunInfo>, PgError> {
    let rows_read = column_values::limit_column(limit);
    // Messages are read first: a prompt that is read meanwhile then has a row, and counts once.
    let pending = inbox::run_messages(connection, lane, rows_read).await?;
    let rows = match lane {
        None => connection.query(&READ_RUNS, &[&rows_read]).await?,
        Some(lane) => connection.query(&READ_RUNS_OF_LANE, &[&rows_read, &lane.as_str()]).await?,
    };
    let runs = rows.iter().map(|row| parse_run_info(connection, row)).collect::<Result<_, _>>()?;
    Ok(pending_runs::merge_pending(runs, pending, limit))
}

/// Returns a run. A prompt that is still unread has no row; few messages are unread at a time.
pub(super) async fn find_run(
    connection: &mut PgConnection,
    run: &RunId,
) -> Result<Option<RunInfo>, PgError> {
    let pending = inbox::run_messages(connection, None, i64::MAX).await?;
    let rows = connection.query(&FIND_RUN, &[&1_i64, &run.as_str()]).await?;
    let runs = rows.iter().map(|row| parse_run_info(connection, row)).collect::<Result<_, _>>()?;
    let runs = pending_runs::merge_pending(runs, pending, usize::MAX);
    Ok(runs.into_iter().find(|known| known.run == *run))
}

fn parse_run_info(connection: &PgConnection, row: &Row) -> Result<RunInfo, PgError> {
    let text = |column| row.try_get::<_, Option<String>>(column);
    let classify = |error: Error| classify_error(connection.location(), &error);
    let state = text(2).map_err(classify)?.unwrap_or_default();
    let cause = text(3).map_err(classify)?;
    Ok(RunInfo {
        run: RunId::from(text(0).map_err(classify)?.unwrap_or_default()),
        lane: LaneId::from(text(1).map_err(classify)?.unwrap_or_default()),
        tenant: text(15).map_err(classify)?.unwrap_or_default().into(),
        state: column_values::parse_state(&state)
            .ok_or_else(|| unknown_name_error(connection, &state))?,
        cause: cause
            .map(|name| {
                column_values::parse_cause(&name)
                    .ok_or_else(|| unknown_name_error(connection, &name))
            })
            .transpose()?,
        text: text(4).map_err(classify)?.map(Arc::from),
        at: UnixMillis(row.try_get::<_, i64>(5).map_err(classify)?.cast_unsigned()),
        resume_available: row.try_get(6).map_err(classify)?,
        cancel_requested: row.try_get(13).map_err(classify)?,
        description: RunDescription {
            prompt: text(7).map_err(classify)?.map(Arc::from),
            folder: text(8).map_err(classify)?.map(Arc::from),
            agent: text(9).map_err(classify)?.map(Arc::from),
            profile: text(10).map_err(classify)?.map(Arc::from),
            model: text(11).map_err(classify)?.map(Arc::from),
            resume: text(14).map_err(classify)?.map(|name| ResumePolicy::from_name(&name)),
        },
        usd_micros: row.try_get::<_, Option<i64>>(12).map_err(classify)?.map(i64::cast_unsigned),
    })
}

fn unknown_name_error(connection: &PgConnection, name: &str) -> PgError {
    let reason = column_values::unknown_name(name);
    PgError::Rejected(StoreError::Corrupt { location: connection.location().to_owned(), reason })
}
