//! The SQL statement that writes a batch of appends, built from one part per table. Rows are sent as
//! column arrays (`unnest`): a batch of any size is the same statement.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tokio_postgres::types::Type;

use super::append_batch::{
    AppendColumns, BlobColumns, EntryColumns, GuardMode, ReadMarkColumns, RunChangeColumns,
    SpendingColumns,
};
use super::connection::{SqlValue, TypedSql};
use super::rows::{
    CheckpointColumns, EventColumns, RawResponseColumns, RunColumns, ToolResultColumns,
    TraceColumns,
};
use crate::crash_points;

#[cfg(test)]
#[path = "append_statement_tests.rs"]
mod append_statement_tests;

/// The parts that not every batch needs. Starting to write to a table costs the server as much as
/// writing a row, so parts without rows are left out; but each combination is a plan that the
/// server keeps, so there are only a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StatementParts {
    /// Entries whose bodies are stored as blobs.
    pub(super) blobs: bool,
    /// Messages that were read.
    pub(super) marks: bool,
    /// Model replies: traces and raw responses.
    pub(super) replies: bool,
    /// Tool results.
    pub(super) results: bool,
    /// Spending of profiles with a cap.
    pub(super) spendings: bool,
    /// Runs that ended or wait for a human.
    pub(super) changes: bool,
}

/// The statements, each built once and kept: there are 128 at most, and a connection identifies them
/// by their memory address.
static STATEMENTS: Mutex<BTreeMap<(StatementParts, GuardMode), &'static TypedSql>> =
    Mutex::new(BTreeMap::new());

pub(super) fn append_sql(parts: StatementParts, guard: GuardMode) -> &'static TypedSql {
    let mut made = crate::lock_ignoring_poison(&STATEMENTS);
    made.entry((parts, guard)).or_insert_with(|| Box::leak(Box::new(build_statement(parts, guard))))
}

/// Builds the statement; the parameters are in the order of a batch's values.
fn build_statement(parts: StatementParts, guard: GuardMode) -> TypedSql {
    let mut places = SqlParameters::default();
    let given =
        format!("WITH given AS (SELECT * FROM {})", places.unnest_table::<AppendColumns<'_>>("g"));
    let mut all = vec![given, fence_part().to_owned()];
    all.extend(parts.blobs.then(|| blobs_part(&mut places)));
    all.push(entries_part(&mut places));
    all.extend(parts.marks.then(|| read_marks_part(&mut places)));
    all.push(runs_part(&mut places));
    all.extend(parts.replies.then(|| traces_part(&mut places)));
    all.extend(parts.results.then(|| results_part(&mut places)));
    all.push(checkpoints_part(&mut places));
    all.push(events_part(&mut places));
    all.extend(parts.replies.then(|| raw_responses_part(&mut places)));
    all.extend(parts.spendings.then(|| spendings_part(&mut places)));
    all.extend(parts.changes.then(|| run_changes_part(&mut places)));
    let text = format!("{}\n{}", all.join(",\n"), result_part(parts, guard));
    TypedSql { text, types: places.types }
}

/// The part that checks the fence and advances heads; `base` is the head before. The owner is
/// compared in a way that no index serves: a lane is found by its id, never by scanning all lanes
/// of its owner.
fn fence_part() -> &'static str {
    if crash_points::is_fence_disabled() {
        // The torture harness must detect this: an owner that writes although it lost the lane.
        return "fenced AS (
            UPDATE lane SET head = lane.head + g.entries FROM given g WHERE lane.id = g.lane
            RETURNING lane.no, g.ord, g.epoch, lane.head - g.entries AS base, g.entries,
                g.read_messages,
                      g.runs)";
    }
    "fenced AS (
        UPDATE lane SET head = lane.head + g.entries, wake_at = g.wake_at, active_run = g.active_run
        FROM given g
        WHERE lane.id = g.lane AND lane.epoch = g.epoch AND lane.head = g.head
          AND lane.owner IS NOT DISTINCT FROM g.owner
        RETURNING lane.no, g.ord, g.epoch, g.head AS base, g.entries,
                g.read_messages, g.runs)"
}

/// The part that writes blobs. An existing blob is locked by writing its size again, so that a
/// concurrent removal of a lane does not delete a blob that has just got a second reader.
fn blobs_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<BlobColumns<'_>>("b");
    format!(
        "blobs AS (
            INSERT INTO blob (hash, size, bytes)
            SELECT DISTINCT ON (b.hash) b.hash, length(b.bytes), b.bytes
            FROM {table} JOIN fenced f ON f.ord = b.ord ORDER BY b.hash
            ON CONFLICT (hash) DO UPDATE SET size = excluded.size)"
    )
}

fn entries_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<EntryColumns<'_>>("e");
    format!(
        "entries AS (
            INSERT INTO entry (lane_no, seq, epoch, at, body, blob)
            SELECT f.no, f.base + e.offset_in_append, f.epoch, e.at, e.body, e.hash
            FROM {table} JOIN fenced f ON f.ord = e.ord)"
    )
}

fn read_marks_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<ReadMarkColumns<'_>>("m");
    format!(
        "marked AS (
            UPDATE inbox SET read_seq = f.base + f.entries, body = NULL
            FROM {table} JOIN fenced f ON f.ord = m.ord
            WHERE inbox.lane_no = f.no AND inbox.message_id = m.message_id
                AND inbox.read_seq IS NULL
            RETURNING inbox.message_id)"
    )
}

/// The part that writes runs. A later row of a run replaces the earlier one, except what only the
/// first row says and that a cancel was requested.
fn runs_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<RunColumns<'_>>("r");
    let (columns, given) = (column_list::<RunColumns<'_>>(""), column_list::<RunColumns<'_>>("r."));
    let merged = table_columns::<RunColumns<'_>>().filter(|name| *name != "run_id");
    let merged: Vec<String> = merged.map(merge_run_column).collect();
    format!(
        "runs AS (
            INSERT INTO run (lane_no, {columns})
            SELECT f.no, {given}
            FROM {table} JOIN fenced f ON f.ord = r.ord ORDER BY r.pos
            ON CONFLICT (run_id) DO UPDATE SET resume_available = false, {}
            WHERE run.lane_no = excluded.lane_no
            RETURNING run.no)",
        merged.join(", ")
    )
}

/// Columns of a run that a later row without a value leaves as they are.
const KEPT_RUN_COLUMNS: [&str; 6] =
    ["prompt", "folder", "agent", "profile", "model", "resume_policy"];

fn merge_run_column(name: &str) -> String {
    match name {
        "cancel_requested" => format!("{name} = run.{name} OR excluded.{name}"),
        _ if KEPT_RUN_COLUMNS.contains(&name) => {
            format!("{name} = coalesce(excluded.{name}, run.{name})")
        }
        _ => format!("{name} = excluded.{name}"),
    }
}

/// The part that writes traces. A trace's number is drawn once and used in both of its tables.
fn traces_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<TraceColumns<'_>>("t");
    format!(
        "numbered AS (
            SELECT nextval('agent_loop_trace_id_seq') AS id, t.* FROM (
                SELECT t.* FROM {table} JOIN fenced f ON f.ord = t.ord ORDER BY t.pos) t),
        traces AS (
            INSERT INTO agent_loop_trace (id, job_id, iter, stop_reason, tool_calls, input_tokens,
                output_tokens, cache_read, cache_write, ts)
            SELECT n.id, n.job_id::uuid, n.iter::integer, n.stop_reason, n.calls::jsonb,
                n.input_tokens::integer, n.output_tokens::integer, n.cache_read::integer,
                n.cache_write::integer,
                coalesce(to_timestamp(n.ms / 1000.0), now())
            FROM numbered n),
        iterations AS (
            INSERT INTO agent_loop_iteration (trace_id, transition, tool_rounds, model_calls,
                tool_calls, model, reply_stop_reason)
            SELECT n.id, n.transition, coalesce(n.tool_rounds, run.tool_rounds),
                coalesce(n.model_calls, run.model_calls), coalesce(n.tool_calls, run.tool_calls),
                n.model, n.reply_stop_reason
            FROM numbered n LEFT JOIN run ON run.run_id = n.job_id)"
    )
}

/// The part that writes tool results. A call's row replaces the earlier one. The occurrence
/// distinguishes calls to which the provider gave the same id; it is 0 for every other.
fn results_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<ToolResultColumns<'_>>("r");
    format!(
        "results AS (
            INSERT INTO agent_tool_results (run_id, tool_call_id, occurrence, call, tool, started_at,
                completed_at, outcome, result_seq, attempts)
            SELECT r.run_id, r.tool_call_id,
                coalesce(known.occurrence,
                    (SELECT count(*) FROM agent_tool_results c
                     WHERE c.run_id = r.run_id AND c.tool_call_id = r.tool_call_id)
                    + row_number() OVER (
                        PARTITION BY r.run_id, r.tool_call_id, known.occurrence IS NULL
                        ORDER BY r.pos) - 1),
                r.call, r.tool, r.started_at, r.completed_at, r.outcome, r.result_seq, r.attempts
            FROM {table} JOIN fenced f ON f.ord = r.ord
            LEFT JOIN agent_tool_results known ON known.run_id = r.run_id
                AND known.tool_call_id = r.tool_call_id AND known.call = r.call
            ON CONFLICT (run_id, tool_call_id, occurrence) DO UPDATE SET
                started_at = coalesce(excluded.started_at, agent_tool_results.started_at),
                completed_at = excluded.completed_at, outcome = excluded.outcome,
                result_seq = excluded.result_seq,
                attempts = greatest(excluded.attempts, agent_tool_results.attempts))"
    )
}

/// The part that writes checkpoints. Of several at one entry the last counts.
fn checkpoints_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<CheckpointColumns<'_>>("c");
    let columns = column_list::<CheckpointColumns<'_>>("");
    let given = column_list::<CheckpointColumns<'_>>("c.");
    let replaced = table_columns::<CheckpointColumns<'_>>().filter(|name| *name != "seq");
    let replaced: Vec<String> = replaced.map(|name| format!("{name} = excluded.{name}")).collect();
    format!(
        "checkpoints AS (
            INSERT INTO checkpoint (lane_no, {columns})
            SELECT f.no, {given}
            FROM {table} JOIN fenced f ON f.ord = c.ord
            ON CONFLICT (lane_no, seq) DO UPDATE SET {})",
        replaced.join(", ")
    )
}

fn events_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<EventColumns<'_>>("e");
    let columns = column_list::<EventColumns<'_>>("");
    let given = column_list::<EventColumns<'_>>("e.");
    format!(
        "events AS (
            INSERT INTO event (lane_no, {columns})
            SELECT f.no, {given}
            FROM {table} JOIN fenced f ON f.ord = e.ord ORDER BY e.pos)"
    )
}

fn raw_responses_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<RawResponseColumns<'_>>("w");
    let columns = column_list::<RawResponseColumns<'_>>("");
    let given = column_list::<RawResponseColumns<'_>>("w.");
    format!(
        "raws AS (
            INSERT INTO raw_response (lane_no, {columns})
            SELECT f.no, {given}
            FROM {table} JOIN fenced f ON f.ord = w.ord ORDER BY w.pos)"
    )
}

/// The part that leaves a document for each run that changed, if its tenant has a webhook.
fn run_changes_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<RunChangeColumns<'_>>("c");
    format!(
        "changes AS (
            INSERT INTO document (kind, key, tenant, subject, version, body)
            SELECT 'run_change', c.key, lane.tenant, c.run_id, 1, c.body
            FROM {table} JOIN fenced f ON f.ord = c.ord JOIN lane ON lane.no = f.no
            WHERE EXISTS (SELECT 1 FROM document hook
                WHERE hook.kind = 'webhook' AND hook.tenant = lane.tenant)
            ON CONFLICT (kind, key) DO NOTHING)"
    )
}

/// Returns the columns that are written to the table as they are given: all but those that number
/// the append and the row.
fn table_columns<C: ColumnArrays>() -> impl Iterator<Item = &'static str> {
    let names = C::column_types().into_iter().map(|(name, _)| name);
    names.filter(|name| !matches!(*name, "ord" | "pos"))
}

/// Returns those columns as a list, each with a prefix.
fn column_list<C: ColumnArrays>(prefix: &str) -> String {
    table_columns::<C>().map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(", ")
}

/// The part that adds spending, one row for all appends of a profile: a statement may touch a row
/// only once. Every process locks the rows in the same order, so that there are no deadlocks.
fn spendings_part(places: &mut SqlParameters) -> String {
    let table = places.unnest_table::<SpendingColumns<'_>>("s");
    format!(
        "spendings AS (
            INSERT INTO spending (account, period, tokens, usd_micros)
            SELECT s.account, s.period, sum(s.tokens)::bigint, sum(s.usd_micros)::bigint
            FROM {table} JOIN fenced f ON f.ord = s.ord
            GROUP BY s.account, s.period ORDER BY s.account, s.period
            ON CONFLICT (account, period) DO UPDATE SET
                tokens = least(1::numeric * (1::bigint << 62),
                    greatest(0, spending.tokens::numeric + excluded.tokens))::bigint,
                usd_micros = least(1::numeric * (1::bigint << 62),
                    greatest(0, spending.usd_micros::numeric + excluded.usd_micros))::bigint)"
    )
}

fn result_part(parts: StatementParts, guard: GuardMode) -> String {
    let marks = if parts.marks { "(SELECT count(*) FROM marked)" } else { "0::bigint" };
    let runs = "(SELECT count(*) FROM runs)";
    match guard {
        GuardMode::ByCaller => format!("SELECT ord, {marks}, {runs} FROM fenced"),
        GuardMode::InStatement => format!(
            "SELECT ord, {marks}, {runs} / CASE
                WHEN {marks} = (SELECT sum(read_messages) FROM fenced)
                 AND {runs} = (SELECT sum(runs) FROM fenced) THEN 1 ELSE 0 END FROM fenced"
        ),
    }
}

/// A type that a column may hold.
pub(super) trait ColumnType {
    /// The array's type, and its name in SQL.
    const ARRAY: (Type, &'static str);
}

impl ColumnType for i64 {
    const ARRAY: (Type, &'static str) = (Type::INT8_ARRAY, "bigint[]");
}

impl ColumnType for bool {
    const ARRAY: (Type, &'static str) = (Type::BOOL_ARRAY, "boolean[]");
}

impl ColumnType for std::borrow::Cow<'_, str> {
    const ARRAY: (Type, &'static str) = (Type::TEXT_ARRAY, "text[]");
}

impl ColumnType for &[u8] {
    const ARRAY: (Type, &'static str) = (Type::BYTEA_ARRAY, "bytea[]");
}

impl<T: ColumnType> ColumnType for Option<T> {
    const ARRAY: (Type, &'static str) = T::ARRAY;
}

/// A kind of row that is sent as one array per column.
pub(super) trait ColumnArrays {
    /// Returns the names and types of the columns, in order.
    fn column_types() -> Vec<(&'static str, (Type, &'static str))>;
    /// Returns the arrays, in the order of `column_types`.
    fn values(&self) -> Vec<SqlValue<'_>>;
}

/// Declares a kind of row: a struct with one `Vec` per column.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $name<'r> {
            _rows: std::marker::PhantomData<&'r ()>,
            $(pub(super) $field: Vec<$type>),*
        }

        impl<'r> $crate::postgres::append_statement::ColumnArrays for $name<'r> {
            fn column_types() -> Vec<(&'static str, (tokio_postgres::types::Type, &'static str))> {
                vec![$((stringify!($field), <$type as $crate::postgres::append_statement::ColumnType>::ARRAY)),*]
            }

            fn values(&self) -> Vec<$crate::postgres::connection::SqlValue<'_>> {
                vec![$(&self.$field),*]
            }
        }
    };
}
pub(super) use columns;

/// Numbers the parameters of a statement as kinds of rows are added.
#[derive(Debug, Default)]
pub(super) struct SqlParameters {
    pub(super) types: Vec<Type>,
}

impl SqlParameters {
    /// Returns a table of the form `unnest($1::bigint[], $2::text[]) AS name (a, b)`.
    pub(super) fn unnest_table<C: ColumnArrays>(&mut self, name: &str) -> String {
        let mut arrays = Vec::new();
        let mut names = Vec::new();
        for (field, (array, spelled)) in C::column_types() {
            self.types.push(array);
            arrays.push(format!("${}::{spelled}", self.types.len()));
            names.push(field.trim_start_matches("r#"));
        }
        format!("unnest({}) AS {name} ({})", arrays.join(", "), names.join(", "))
    }
}
