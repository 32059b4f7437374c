//! Rows that lag behind their entries. While a run only continues, the rows of an append are stored
//! in the last entry of it (`entry.rows`) instead of in their tables, which would be one or two more
//! pages to write per table and turn. They are written to the tables all at once, by the same
//! statements and in the same order: when the state of the run changes, when many have gathered,
//! and before somebody asks for statistics, in whatever process. A crash loses none of them: an
//! entry has its rows from its own commit on.
//!
//! Not deferred: what says that a run started, waits or ended, and everything that a conversation
//! continues from.

use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Serialize, Serializer};
use windlass_core::log::ids::{LaneId, RunId, Seq};
use windlass_core::log::record::Durability;
use windlass_runtime::ports::StoreError;

use super::error::WorkError;
use super::fenced_append::{AdvancedLane, PreparedAppend};
use super::group_commit::{WriteWork, prepare_cached};
use super::reader_pool::ReaderPool;
use super::rows::{PreparedRow, RowKind, RowValues, text};
use super::writer::SqliteWriter;
use crate::{crash_points, encoding};

/// Maximum number of entries of a lane whose rows are deferred.
const MAX_DEFERRED_ENTRIES: i64 = 128;

/// Maximum number of lanes whose rows are written in one transaction.
const MAX_LANES_AT_ONCE: usize = 64;

/// Writes the rows of an append, or returns what its last entry is to keep of them.
pub(super) fn write_or_defer_rows<'a>(
    connection: &Connection,
    lane: &AdvancedLane,
    append: &'a PreparedAppend,
) -> Result<Option<&'a str>, WorkError> {
    if append.rows.is_empty() {
        return Ok(None);
    }
    let last = lane.head.saturating_add(append.entries.len() as u64);
    if let Some(rows) = &append.deferred_rows
        && defer(connection, lane, append, last)?
    {
        return Ok(Some(rows));
    }
    if let Some(from) = lane.rows_from {
        write_deferred_rows(connection, lane.no, &append.lane, from)?;
    }
    let write = |row: &PreparedRow| row.values().write(connection, lane.no, &append.lane);
    append.rows.iter().try_for_each(write)?;
    Ok(None)
}

/// Returns whether the rows of the entry `last` can wait, after noting that they do.
fn defer(
    connection: &Connection,
    lane: &AdvancedLane,
    append: &PreparedAppend,
    last: Seq,
) -> Result<bool, WorkError> {
    let last = last.cast_signed();
    if let Some(from) = lane.rows_from {
        return Ok(last.saturating_sub(from) < MAX_DEFERRED_ENTRIES);
    }
    // The rows of a run that did not run would say that it does.
    let is_running = prepare_cached(
        connection,
        "SELECT 1 FROM run WHERE run_id = ?1 AND lane_no = ?2 AND active = 1
             AND state = 'running' AND resume_available = 0",
    )?
    .query_row(params![append.active_run.as_ref().map(RunId::as_str), lane.no], |_| Ok(()))
    .optional()?
    .is_some();
    if is_running {
        prepare_cached(connection, "UPDATE lane SET rows_from = ?2 WHERE no = ?1")?
            .execute(params![lane.no, last])?;
    }
    Ok(is_running)
}

/// Writes the deferred rows of a lane to their tables, from the entry `from` on.
pub(super) fn write_deferred_rows(
    connection: &Connection,
    lane_no: i64,
    lane: &LaneId,
    from: i64,
) -> Result<(), WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT rows FROM entry WHERE lane_no = ?1 AND seq >= ?2 AND rows IS NOT NULL ORDER BY seq",
    )?;
    let mut entries = statement.query(params![lane_no, from])?;
    while let Some(entry) = entries.next()? {
        let encoded = entry.get_ref(0)?.as_str().unwrap_or_default();
        for row in decode_rows(encoded) {
            row.values().write(connection, lane_no, lane)?;
        }
    }
    crash_points::crash_point(crash_points::ROWS_WRITTEN);
    prepare_cached(connection, "UPDATE lane SET rows_from = NULL WHERE no = ?1")?
        .execute([lane_no])?;
    Ok(())
}

/// Runs a query on tables whose rows may be deferred, after they were written: of all lanes, whatever
/// process appended them.
pub(super) async fn query_all_rows<T: Send + 'static>(
    readers: &Arc<ReaderPool>,
    writer: &SqliteWriter,
    query: impl FnOnce(&Connection) -> Result<T, WorkError> + Send + 'static,
) -> Result<T, StoreError> {
    let lanes = readers.query(lanes_with_deferred_rows).await?;
    for lanes in lanes.chunks(MAX_LANES_AT_ONCE) {
        let work = WriteWork::WriteDeferredRows { lanes: lanes.to_vec() };
        writer.submit(work, Durability::Commit).await?;
    }
    readers.query(query).await
}

/// Returns the lanes with deferred rows.
fn lanes_with_deferred_rows(connection: &Connection) -> Result<Vec<i64>, WorkError> {
    let mut statement = prepare_cached(
        connection,
        "SELECT no FROM lane INDEXED BY lane_rows WHERE rows_from IS NOT NULL",
    )?;
    let found = statement.query_map([], |row| row.get(0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Writes the deferred rows of lanes. Other processes may have written them meanwhile.
pub(super) fn write_rows_of_lanes(connection: &Connection, lanes: &[i64]) -> Result<(), WorkError> {
    for no in lanes {
        let lane = prepare_cached(
            connection,
            "SELECT id, rows_from FROM lane WHERE no = ?1 AND rows_from IS NOT NULL",
        )?
        .query_row([no], |row| Ok((LaneId::from(row.get::<_, String>(0)?), row.get(1)?)))
        .optional()?;
        if let Some((lane, from)) = lane {
            write_deferred_rows(connection, *no, &lane, from)?;
        }
    }
    Ok(())
}

/// What an entry keeps: the id of the run, which its rows have as `true`, and the rows.
#[derive(Serialize)]
struct EncodedRows<'r>(&'r str, Vec<(RowKind, Vec<EncodedValue<'r>>)>);

struct EncodedValue<'r> {
    value: ToSqlOutput<'r>,
    run: &'r str,
}

impl Serialize for EncodedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = match &self.value {
            ToSqlOutput::Borrowed(value) => *value,
            ToSqlOutput::Owned(value) => ValueRef::from(value),
            _ => ValueRef::Null,
        };
        match value {
            ValueRef::Integer(number) => serializer.serialize_i64(number),
            ValueRef::Text(text) if text == self.run.as_bytes() => serializer.serialize_bool(true),
            ValueRef::Text(text) => serializer.serialize_str(&String::from_utf8_lossy(text)),
            // No row has other values.
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => serializer.serialize_none(),
        }
    }
}

/// Encodes the rows of an append, if all of them may be written later.
pub(super) fn encode_rows(
    active_run: Option<&RunId>,
    rows: &[PreparedRow],
) -> Result<Option<String>, StoreError> {
    let Some(run) = active_run else { return Ok(None) };
    let may_be_deferred =
        |row: &PreparedRow| row.may_be_deferred() && row.as_run().is_none_or(|row| row.run == *run);
    if rows.is_empty() || !rows.iter().all(may_be_deferred) {
        return Ok(None);
    }
    let run = run.as_str();
    let rows = rows.iter().map(PreparedRow::values).map(|RowValues { kind, values }| {
        (kind, values.into_iter().map(|value| EncodedValue { value, run }).collect())
    });
    encoding::encode_json("the rows", &EncodedRows(run, rows.collect())).map(Some)
}

/// A row of an entry.
struct DecodedRow {
    kind: RowKind,
    values: Vec<Value>,
}

impl DecodedRow {
    fn values(&self) -> RowValues<'_> {
        let value = |value| match value {
            &Value::Integer(number) => ToSqlOutput::from(number),
            Value::Text(value) => text(value),
            Value::Null | Value::Real(_) | Value::Blob(_) => {
                ToSqlOutput::from(rusqlite::types::Null)
            }
        };
        RowValues { kind: self.kind, values: self.values.iter().map(value).collect() }
    }
}

/// Decodes the rows of an entry. Nothing continues from them, so those that are damaged are left
/// out.
fn decode_rows(encoded: &str) -> Vec<DecodedRow> {
    type Rows = (String, Vec<(RowKind, Vec<serde_json::Value>)>);
    let Ok((run, rows)) = serde_json::from_str::<Rows>(encoded) else { return Vec::new() };
    let value = |value| match value {
        serde_json::Value::Bool(true) => Value::Text(run.clone()),
        serde_json::Value::Number(number) => number.as_i64().map_or(Value::Null, Value::Integer),
        serde_json::Value::String(text) => Value::Text(text),
        _ => Value::Null,
    };
    let rows = rows.into_iter().filter(|(kind, values)| values.len() == kind.value_count());
    rows.map(|(kind, values)| DecodedRow { kind, values: values.into_iter().map(value).collect() })
        .collect()
}
