//! The rows that are written with entries, in the tables that people and dashboards read.

use rusqlite::{Connection, Row as SqlRow, params};
use windlass_core::log::ids::{LaneId, RunId, Seq, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_core::projection::{
    EventRow, RawRow, Row, RunDescription, RunRow, ToolResultRow, TraceRow,
};
use windlass_core::settings::conversation_settings::ResumePolicy;
use windlass_runtime::ports::{RunInfo, RunTraceEnd};

use super::error::{WorkError, is_conflict};
use super::inbox;
use super::prepared_append::PreparedRow;
use super::write_work::prepare_cached;
use crate::validation::rejection;
use crate::{column_values, pending_runs};

pub(super) fn write_row(
    connection: &Connection,
    lane_no: i64,
    lane: &LaneId,
    prepared: &PreparedRow,
) -> Result<(), WorkError> {
    let list = prepared.list.as_deref();
    match &prepared.row {
        Row::Run(row) => write_run(connection, lane_no, lane, row, list),
        Row::Trace(row) => write_trace(connection, row, list),
        Row::ToolResult(row) => write_tool_result(connection, row),
        // A checkpoint is written with its entry.
        Row::Checkpoint(_) => Ok(()),
        Row::Event(row) => write_event(connection, lane_no, row),
        Row::Raw(row) => write_raw_response(connection, lane_no, row),
    }
}

fn write_run(
    connection: &Connection,
    lane_no: i64,
    lane: &LaneId,
    row: &RunRow,
    other_causes: Option<&str>,
) -> Result<(), WorkError> {
    let usage = &row.counters.usage;
    let about = &row.description;
    let values = params![
        row.run.as_str(),
        lane_no,
        column_values::state_name(row.state),
        column_values::is_active(row.state),
        row.cause.map(column_values::cause_name),
        other_causes,
        row.text.as_deref(),
        row.counters.tool_rounds,
        row.counters.model_calls,
        row.counters.tool_calls,
        column_values::column_count(usage.input_tokens),
        column_values::column_count(usage.output_tokens),
        column_values::column_count(usage.cache_read_tokens),
        column_values::column_count(usage.cache_write_tokens),
        row.at.0.cast_signed(),
        row.usd_micros.map(u64::cast_signed),
        about.prompt.as_deref(),
        about.folder.as_deref(),
        about.agent.as_deref(),
        about.profile.as_deref(),
        about.model.as_deref(),
        row.cancel_requested,
        about.resume.map(ResumePolicy::as_str),
    ];
    // Most rows say that a run continues: they do not rewrite the index of active runs.
    let went_on = prepare_cached(
        connection,
        "UPDATE run SET state = ?3, cause = ?5, other_causes = ?6, text = ?7, tool_rounds = ?8,
             model_calls = ?9, tool_calls = ?10, input_tokens = ?11, output_tokens = ?12,
             cache_read = ?13, cache_write = ?14, at = ?15, resume_available = 0,
             usd_micros = ?16, prompt = coalesce(?17, prompt), folder = coalesce(?18, folder),
             agent = coalesce(?19, agent), profile = coalesce(?20, profile),
             model = coalesce(?21, model), cancel_requested = max(cancel_requested, ?22),
             resume_policy = coalesce(?23, resume_policy)
         WHERE run_id = ?1 AND lane_no = ?2 AND active = ?4",
    )?
    .execute(values)?;
    if went_on == 1 {
        return Ok(());
    }
    let written = prepare_cached(
        connection,
        "INSERT INTO run (run_id, lane_no, state, active, cause, other_causes, text, tool_rounds,
             model_calls, tool_calls, input_tokens, output_tokens, cache_read, cache_write, at,
             usd_micros, prompt, folder, agent, profile, model, cancel_requested, resume_policy)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             ?19, ?20, ?21, ?22, ?23)
         ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, active = excluded.active,
             cause = excluded.cause, other_causes = excluded.other_causes, text = excluded.text,
             tool_rounds = excluded.tool_rounds, model_calls = excluded.model_calls,
             tool_calls = excluded.tool_calls, input_tokens = excluded.input_tokens,
             output_tokens = excluded.output_tokens, cache_read = excluded.cache_read,
             cache_write = excluded.cache_write, at = excluded.at, resume_available = 0,
             usd_micros = excluded.usd_micros, prompt = coalesce(excluded.prompt, run.prompt),
             folder = coalesce(excluded.folder, run.folder),
             agent = coalesce(excluded.agent, run.agent),
             profile = coalesce(excluded.profile, run.profile),
             model = coalesce(excluded.model, run.model),
             cancel_requested = max(run.cancel_requested, excluded.cancel_requested),
             resume_policy = coalesce(excluded.resume_policy, run.resume_policy)
         WHERE run.lane_no = excluded.lane_no",
    )?
    .execute(values);
    match written {
        Ok(0) => Err(WorkError::RollBack(rejection::foreign_run(lane, &row.run))),
        Ok(_) => Ok(()),
        Err(error) if is_conflict(&error) => {
            Err(WorkError::RollBack(rejection::second_active_run(lane)))
        }
        Err(error) => Err(error.into()),
    }
}

fn write_trace(
    connection: &Connection,
    row: &TraceRow,
    calls: Option<&str>,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO agent_loop_trace (job_id, iter, stop_reason, tool_calls, input_tokens,
             output_tokens, cache_read, cache_write, ts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
             coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ?9 / 1000.0, 'unixepoch'),
                      strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))",
    )?
    .execute(params![
        row.run.as_str(),
        row.iter,
        &*row.stop_reason,
        calls.unwrap_or("[]"),
        column_values::trace_column_count(row.usage.input_tokens),
        column_values::trace_column_count(row.usage.output_tokens),
        column_values::trace_column_count(row.usage.cache_read_tokens),
        column_values::trace_column_count(row.usage.cache_write_tokens),
        row.at.0.cast_signed(),
    ])?;
    // The run's counters are in its own row, as of this same transaction.
    prepare_cached(
        connection,
        "INSERT INTO agent_loop_iteration (trace_id, transition, tool_rounds, model_calls,
             tool_calls, model, reply_stop_reason)
         SELECT ?1, ?2, run.tool_rounds, run.model_calls, run.tool_calls, ?4, ?5
         FROM (SELECT 1) LEFT JOIN run ON run.run_id = ?3",
    )?
    .execute(params![
        connection.last_insert_rowid(),
        row.transition,
        row.run.as_str(),
        row.model.as_deref(),
        row.reply_stop_reason.as_deref(),
    ])?;
    Ok(())
}

/// Writes a tool result. A call's row replaces the earlier one. The occurrence distinguishes calls
/// to which the provider gave the same id; it is 0 for every other.
fn write_tool_result(connection: &Connection, row: &ToolResultRow) -> Result<(), WorkError> {
    let run = row.run.as_str();
    let started = row.started_at.map(|at| at.0.cast_signed());
    let completed = row.completed_at.map(|at| at.0.cast_signed());
    let seq = row.result_seq.map(u64::cast_signed);
    let outcome = row.outcome.as_deref();
    prepare_cached(
        connection,
        "INSERT INTO agent_tool_results (run_id, tool_call_id, call, tool, started_at, completed_at,
             outcome, result_seq, attempts, occurrence)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
             coalesce(max(occurrence) FILTER (WHERE call = ?3), count(*))
         FROM agent_tool_results WHERE run_id = ?1 AND tool_call_id = ?2
         ON CONFLICT (run_id, tool_call_id, occurrence) DO UPDATE SET
             started_at = coalesce(excluded.started_at, started_at),
             completed_at = excluded.completed_at, outcome = excluded.outcome,
             result_seq = excluded.result_seq, attempts = max(attempts, excluded.attempts)",
    )?
    .execute(params![
        run,
        &*row.tool_call_id,
        row.call,
        &*row.tool,
        started,
        completed,
        outcome,
        seq,
        row.attempts,
    ])?;
    Ok(())
}

fn write_event(connection: &Connection, lane_no: i64, row: &EventRow) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO event (lane_no, seq, run_id, at, name, fields, agent, profile)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        lane_no,
        row.seq.cast_signed(),
        row.run.as_ref().map(RunId::as_str),
        row.at.0.cast_signed(),
        row.name,
        row.fields.text(),
        &*row.agent,
        &*row.profile,
    ])?;
    Ok(())
}

fn write_raw_response(
    connection: &Connection,
    lane_no: i64,
    row: &RawRow,
) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "INSERT INTO raw_response (lane_no, seq, run_id, at, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        lane_no,
        row.seq.cast_signed(),
        row.run.as_ref().map(RunId::as_str),
        row.at.0.cast_signed(),
        row.body.text(),
    ])?;
    Ok(())
}

/// Returns runs, newest first.
pub(super) fn read_runs(
    connection: &Connection,
    lane: Option<&LaneId>,
    most: usize,
) -> Result<Vec<RunInfo>, WorkError> {
    let text = match lane {
        None => {
            "SELECT run_id, lane.id, state, cause, text, at, resume_available, prompt, run.folder,
                 run.agent, profile, model, usd_micros, cancel_requested, resume_policy
             FROM run
             JOIN lane ON lane.no = run.lane_no WHERE ?1 IS NULL ORDER BY run.no DESC LIMIT ?2"
        }
        Some(_) => {
            "SELECT run_id, lane.id, state, cause, text, at, resume_available, prompt, run.folder,
                 run.agent, profile, model, usd_micros, cancel_requested, resume_policy
             FROM run
             JOIN lane ON lane.no = run.lane_no
             WHERE run.lane_no = (SELECT no FROM lane WHERE id = ?1) ORDER BY run.no DESC LIMIT ?2"
        }
    };
    // Two statements must see the same state: a prompt is pending or has a row.
    let moment = connection.unchecked_transaction()?;
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = prepare_cached(&moment, text)?;
    let found = statement.query_map(params![lane.map(LaneId::as_str), limit], parse_run_info)?;
    let found = found.collect::<rusqlite::Result<_>>()?;
    Ok(pending_runs::merge_pending(found, inbox::run_messages(&moment, lane, most)?, most))
}

fn parse_run_info(row: &SqlRow<'_>) -> rusqlite::Result<RunInfo> {
    let state: String = row.get(2)?;
    let cause: Option<String> = row.get(3)?;
    Ok(RunInfo {
        run: RunId::from(row.get::<_, String>(0)?),
        lane: LaneId::from(row.get::<_, String>(1)?),
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
    most: usize,
) -> Result<Vec<RunTraceEnd>, WorkError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let since = i64::try_from(since.0).unwrap_or(i64::MAX);
    let mut statement = prepare_cached(
        connection,
        "SELECT run_id, iter, cause, at, agent, profile, model FROM run
         JOIN agent_loop_trace AS last
           ON last.id = (SELECT max(id) FROM agent_loop_trace WHERE job_id = run.run_id)
         WHERE cause IS NOT NULL AND at >= ?1 ORDER BY run.no DESC LIMIT ?2",
    )?;
    let found = statement.query_map(params![since, most], |row| {
        Ok(RunTraceEnd {
            run: RunId::from(row.get::<_, String>(0)?),
            iterations: row.get(1)?,
            cause: row.get(2)?,
            at: UnixMillis(row.get::<_, i64>(3)?.cast_unsigned()),
            agent: row.get(4)?,
            profile: row.get(5)?,
            model: row.get(6)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns raw responses, oldest first. There is no index: rows are written at every step and
/// rarely read.
pub(super) fn read_raw_responses(
    connection: &Connection,
    lane: &LaneId,
    after: Seq,
    most: usize,
) -> Result<Vec<RawRow>, WorkError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut statement = prepare_cached(
        connection,
        "SELECT run_id, seq, at, body FROM raw_response
         WHERE lane_no = (SELECT no FROM lane WHERE id = ?1) AND seq > ?2 ORDER BY no LIMIT ?3",
    )?;
    let found = statement.query_map(params![lane.as_str(), after, most], |row| {
        let body: String = row.get(3)?;
        Ok(RawRow {
            run: row.get::<_, Option<String>>(0)?.map(RunId::from),
            seq: row.get::<_, i64>(1)?.cast_unsigned(),
            at: UnixMillis(row.get::<_, i64>(2)?.cast_unsigned()),
            // A damaged body is returned as text.
            body: RawJson::parse(body.as_str()).unwrap_or_else(|_| RawJson::string(&body)),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn unknown_name_error(column: usize, name: &str) -> rusqlite::Error {
    let reason = format!("`{name}` is no state or cause that this version knows");
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, reason.into())
}
