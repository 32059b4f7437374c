//! The statement that writes a batch, put together from one part per table.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::batch::{Blobs, Entries, Given, Guard, Marks, Spendings};
use super::columns::Places;
use super::link::Sql;
use super::rows::{Checkpoints, Events, Raws, Results, Runs, Traces};
use crate::fault;

/// The parts that not every batch needs. Beginning to write to a table costs the server as much as
/// writing a row, so parts without rows are left out; but each mixture is a plan that the server
/// keeps, so there are only a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parts {
    /// Entries that lie elsewhere.
    pub(super) blobs: bool,
    /// Mail that was read.
    pub(super) marks: bool,
    /// What the model said: traces and raw responses.
    pub(super) replies: bool,
    /// What tools did.
    pub(super) results: bool,
    /// What profiles with a cap spend.
    pub(super) spendings: bool,
}

/// Each is made once and kept: there are 64 at most, and a connection knows them by where they lie.
static STATEMENTS: Mutex<BTreeMap<(Parts, Guard), &'static Sql>> = Mutex::new(BTreeMap::new());

pub(super) fn writing(parts: Parts, guard: Guard) -> &'static Sql {
    let mut made = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry((parts, guard)).or_insert_with(|| Box::leak(Box::new(statement(parts, guard))))
}

/// In the order of a batch's values.
fn statement(parts: Parts, guard: Guard) -> Sql {
    let mut places = Places::default();
    let given = format!("WITH given AS (SELECT * FROM {})", places.table::<Given<'_>>("g"));
    let mut all = vec![given, fenced().to_owned()];
    all.extend(parts.blobs.then(|| blobs(&mut places)));
    all.push(entries(&mut places));
    all.extend(parts.marks.then(|| marked(&mut places)));
    all.push(runs(&mut places));
    all.extend(parts.replies.then(|| traces(&mut places)));
    all.extend(parts.results.then(|| results(&mut places)));
    all.push(checkpoints(&mut places));
    all.push(events(&mut places));
    all.extend(parts.replies.then(|| raws(&mut places)));
    all.extend(parts.spendings.then(|| spendings(&mut places)));
    let text = format!("{}\n{}", all.join(",\n"), answer(parts, guard));
    Sql { text, types: places.types }
}

/// `base` is the head before. The owner is compared in a way that no index serves: a lane is found by
/// its id, never by walking through all that its owner has.
fn fenced() -> &'static str {
    if fault::fence_is_broken() {
        // What the torture harness must notice: an owner that writes although it lost the lane.
        return "fenced AS (
            UPDATE lane SET head = lane.head + g.entries FROM given g WHERE lane.id = g.lane
            RETURNING lane.no, g.ord, g.epoch, lane.head - g.entries AS base, g.entries, g.mails,
                      g.runs)";
    }
    "fenced AS (
        UPDATE lane SET head = lane.head + g.entries, wake_at = g.wake_at, active_run = g.active_run
        FROM given g
        WHERE lane.id = g.lane AND lane.epoch = g.epoch AND lane.head = g.head
          AND lane.owner IS NOT DISTINCT FROM g.owner
        RETURNING lane.no, g.ord, g.epoch, g.head AS base, g.entries, g.mails, g.runs)"
}

/// A body that is there already is locked by writing its size again: whoever removes a lane at the
/// same moment must not take a body away that has just got a second reader.
fn blobs(places: &mut Places) -> String {
    let table = places.table::<Blobs<'_>>("b");
    format!(
        "blobs AS (
            INSERT INTO blob (hash, size, bytes)
            SELECT DISTINCT ON (b.hash) b.hash, length(b.bytes), b.bytes
            FROM {table} JOIN fenced f ON f.ord = b.ord ORDER BY b.hash
            ON CONFLICT (hash) DO UPDATE SET size = excluded.size)"
    )
}

fn entries(places: &mut Places) -> String {
    let table = places.table::<Entries<'_>>("e");
    format!(
        "entries AS (
            INSERT INTO entry (lane_no, seq, epoch, at, body, blob)
            SELECT f.no, f.base + e.nth, f.epoch, e.happened, e.body, e.hash
            FROM {table} JOIN fenced f ON f.ord = e.ord)"
    )
}

fn marked(places: &mut Places) -> String {
    let table = places.table::<Marks<'_>>("m");
    format!(
        "marked AS (
            UPDATE mail SET read_seq = f.base + f.entries, body = NULL
            FROM {table} JOIN fenced f ON f.ord = m.ord
            WHERE mail.lane_no = f.no AND mail.mail_id = m.mail_id AND mail.read_seq IS NULL
            RETURNING mail.mail_id)"
    )
}

fn runs(places: &mut Places) -> String {
    let table = places.table::<Runs<'_>>("r");
    format!(
        "runs AS (
            INSERT INTO run (run_id, lane_no, state, active, cause, also, text, tool_rounds,
                model_calls, tool_calls, input_tokens, output_tokens, cache_read, cache_write, at,
                usd_micros, prompt, folder, agent, profile, model, cancel_requested,
                resume_policy)
            SELECT r.run_id, f.no, r.state, r.active, r.cause, r.also, r.said, r.tool_rounds,
                r.model_calls, r.tool_calls, r.input_tokens, r.output_tokens, r.cache_read,
                r.cache_write, r.happened, r.usd_micros, r.prompt, r.folder, r.agent, r.profile,
                r.model, r.cancel_requested, r.resume_policy
            FROM {table} JOIN fenced f ON f.ord = r.ord ORDER BY r.pos
            ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, active = excluded.active,
                cause = excluded.cause, also = excluded.also, text = excluded.text,
                tool_rounds = excluded.tool_rounds, model_calls = excluded.model_calls,
                tool_calls = excluded.tool_calls, input_tokens = excluded.input_tokens,
                output_tokens = excluded.output_tokens, cache_read = excluded.cache_read,
                cache_write = excluded.cache_write, at = excluded.at, resume_available = false,
                usd_micros = excluded.usd_micros, prompt = coalesce(excluded.prompt, run.prompt),
                folder = coalesce(excluded.folder, run.folder),
                agent = coalesce(excluded.agent, run.agent),
                profile = coalesce(excluded.profile, run.profile),
                model = coalesce(excluded.model, run.model),
                cancel_requested = run.cancel_requested OR excluded.cancel_requested,
                resume_policy = coalesce(excluded.resume_policy, run.resume_policy)
            WHERE run.lane_no = excluded.lane_no
            RETURNING run.no)"
    )
}

/// The number of a trace is drawn once and used in both of its tables.
fn traces(places: &mut Places) -> String {
    let table = places.table::<Traces<'_>>("t");
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

/// A call's row replaces the one before. The occurrence tells calls apart whose provider gave them
/// the same id; it is 0 for every other.
fn results(places: &mut Places) -> String {
    let table = places.table::<Results<'_>>("r");
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

fn checkpoints(places: &mut Places) -> String {
    let table = places.table::<Checkpoints<'_>>("c");
    format!(
        "checkpoints AS (
            INSERT INTO checkpoint (lane_no, seq, run_id, kind, iteration, message_cursor,
                persisted_messages, prompt_hash, completed_calls)
            SELECT f.no, c.seq, c.run_id, c.kind, c.iteration, c.message_cursor,
                c.persisted_messages, c.prompt_hash, c.completed_calls
            FROM {table} JOIN fenced f ON f.ord = c.ord
            ON CONFLICT (lane_no, seq) DO UPDATE SET run_id = excluded.run_id,
                kind = excluded.kind, iteration = excluded.iteration,
                message_cursor = excluded.message_cursor,
                persisted_messages = excluded.persisted_messages,
                prompt_hash = excluded.prompt_hash, completed_calls = excluded.completed_calls)"
    )
}

fn events(places: &mut Places) -> String {
    let table = places.table::<Events<'_>>("e");
    format!(
        "events AS (
            INSERT INTO event (lane_no, seq, run_id, at, name, fields, agent, profile)
            SELECT f.no, e.seq, e.run_id, e.happened, e.name, e.fields, e.agent, e.profile
            FROM {table} JOIN fenced f ON f.ord = e.ord ORDER BY e.pos)"
    )
}

fn raws(places: &mut Places) -> String {
    let table = places.table::<Raws<'_>>("w");
    format!(
        "raws AS (
            INSERT INTO raw_response (lane_no, seq, run_id, at, body)
            SELECT f.no, w.seq, w.run_id, w.happened, w.body
            FROM {table} JOIN fenced f ON f.ord = w.ord ORDER BY w.pos)"
    )
}

/// One row for all appends of a profile: a statement may touch a row only once. Rows are taken in
/// the same order by every process, so that none waits for another in a circle.
fn spendings(places: &mut Places) -> String {
    let table = places.table::<Spendings<'_>>("s");
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

fn answer(parts: Parts, guard: Guard) -> String {
    let marks = if parts.marks { "(SELECT count(*) FROM marked)" } else { "0::bigint" };
    let runs = "(SELECT count(*) FROM runs)";
    match guard {
        Guard::Outside => format!("SELECT ord, {marks}, {runs} FROM fenced"),
        Guard::Inside => format!(
            "SELECT ord, {marks}, {runs} / CASE
                WHEN {marks} = (SELECT sum(mails) FROM fenced)
                 AND {runs} = (SELECT sum(runs) FROM fenced) THEN 1 ELSE 0 END FROM fenced"
        ),
    }
}
