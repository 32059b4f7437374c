//! Batch writer: writes appends together where possible, singly where necessary, and again after a
//! lost connection, once it is known which of them landed.
//!
//! An append has a transaction of its own if it has outbox messages to other lanes, and to find out
//! why it was rejected. Which appends landed is read from the log: an entry with our epoch and our
//! bytes at the last position of an append is that append, if the lane is still ours: a claim that
//! was lost in a crash leaves its epoch to the next owner. An owner that lost the lane gets
//! `Fenced`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use tokio::time::timeout;
use tokio_postgres::Row;
use windlass_runtime::ports::StoreError;

use super::append_batch::{BatchResult, EncodedAppend, GuardMode};
use super::append_queue::AppendJob;
use super::append_statement::{ColumnArrays, SqlParameters, columns};
use super::backoff::{MAX_CONFLICT_RETRIES, RetryState};
use super::config::ServerConfig;
use super::connection::{PgConnection, TypedSql};
use super::connection_pool::AttemptState;
use super::error::{PgError, classify_error};
use super::notifications::InboxNotifier;
use super::{append_batch, inbox};
use crate::crash_points;
use crate::validation::rejection;

pub(super) struct BatchWriter {
    config: Arc<ServerConfig>,
    connection: Option<PgConnection>,
    notifier: Arc<InboxNotifier>,
}

/// How appends are written: as one batch or each in its own transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteMode {
    Batched,
    Single,
}

/// Appends without a reply yet, and the state of their retries.
struct PendingAppends {
    jobs: Vec<AppendJob>,
    retries: RetryState,
}

impl BatchWriter {
    pub(super) fn new(
        config: Arc<ServerConfig>,
        connection: PgConnection,
        notifier: Arc<InboxNotifier>,
    ) -> Self {
        Self { config, connection: Some(connection), notifier }
    }

    /// Writes the jobs, which must be of different lanes, and replies to each.
    pub(super) async fn write_jobs(&mut self, jobs: Vec<AppendJob>) {
        jobs.iter().for_each(|_| crash_points::crash_point(crash_points::APPEND_BEFORE_COMMIT));
        let (together, alone): (Vec<AppendJob>, Vec<AppendJob>) =
            jobs.into_iter().partition(|job| job.encoded.messages.is_empty());
        let refused = self.write_until_timeout(together, WriteMode::Batched).await;
        for job in refused.into_iter().chain(alone) {
            self.write_until_timeout(vec![job], WriteMode::Single).await;
        }
    }

    /// Writes until all jobs have a reply or the timeout elapses. Returns the jobs of a batch of
    /// which one failed: written singly, each gets its own result.
    async fn write_until_timeout(
        &mut self,
        jobs: Vec<AppendJob>,
        mode: WriteMode,
    ) -> Vec<AppendJob> {
        if jobs.is_empty() {
            return jobs;
        }
        let retries = RetryState::new(self.config.location(), MAX_CONFLICT_RETRIES);
        let mut pending = PendingAppends { jobs, retries };
        let retry_timeout = self.config.settings.retry_timeout;
        let writing = self.retry_until_answered(&mut pending, mode);
        if let Ok(failed) = timeout(retry_timeout, writing).await {
            return failed;
        }
        // The result of a statement in flight on this connection is lost.
        self.connection = None;
        let last_error = pending.retries.last_error();
        for job in pending.jobs {
            let error = match job.attempt {
                AttemptState::Fresh => last_error.clone(),
                AttemptState::MayHaveLanded => self.unknown_outcome_error(last_error),
            };
            job.send_reply(Err(error));
        }
        Vec::new()
    }

    async fn retry_until_answered(
        &mut self,
        pending: &mut PendingAppends,
        mode: WriteMode,
    ) -> Vec<AppendJob> {
        loop {
            let Err(error) = self.try_write(pending, mode).await else { return Vec::new() };
            if matches!(error, PgError::ConnectionLost(_)) {
                self.connection = None;
            }
            match pending.retries.record_failure(error) {
                Ok(()) => pending.retries.wait().await,
                Err(PgError::Server(_)) if mode == WriteMode::Batched => {
                    return std::mem::take(&mut pending.jobs);
                }
                Err(other) => {
                    let error = other.into_error();
                    pending.jobs.drain(..).for_each(|job| job.send_reply(Err(error.clone())));
                    return Vec::new();
                }
            }
        }
    }

    async fn try_write(
        &mut self,
        pending: &mut PendingAppends,
        mode: WriteMode,
    ) -> Result<(), PgError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(PgConnection::connect(&self.config).await?),
        };
        resolve_uncertain(connection, &self.notifier, pending).await?;
        if pending.jobs.is_empty() {
            return Ok(());
        }
        let appends: Vec<&EncodedAppend> = pending.jobs.iter().map(|job| &job.encoded).collect();
        let written = match mode {
            WriteMode::Batched => {
                append_batch::write_batch(connection, GuardMode::InStatement, &appends).await
            }
            WriteMode::Single => write_each(connection, &appends).await,
        };
        if let Err(PgError::ConnectionLost(_)) = &written {
            pending.jobs.iter_mut().for_each(|job| job.attempt = AttemptState::MayHaveLanded);
        }
        let landed = written?;
        self.config.count_commit();
        reply_to_batch(connection, &self.notifier, pending, &landed).await
    }

    fn unknown_outcome_error(&self, last: &StoreError) -> StoreError {
        let reason = format!("connection lost during an append: {last}");
        StoreError::Broken { location: self.config.location().to_owned(), reason }
    }
}

/// Replies to the uncertain appends that turn out to have landed.
async fn resolve_uncertain(
    connection: &mut PgConnection,
    notifier: &InboxNotifier,
    pending: &mut PendingAppends,
) -> Result<(), PgError> {
    if pending.jobs.iter().all(|job| job.attempt == AttemptState::Fresh) {
        return Ok(());
    }
    let appends: Vec<&EncodedAppend> = pending.jobs.iter().map(|job| &job.encoded).collect();
    let landed = find_landed(connection, &appends).await?;
    let mut place = 0..;
    let (done, rest) = pending.jobs.drain(..).partition(|job: &AppendJob| {
        let index = place.next().unwrap_or(usize::MAX);
        job.attempt == AttemptState::MayHaveLanded && landed.contains(&index)
    });
    pending.jobs = rest;
    Vec::into_iter(done).for_each(|job| reply_success(notifier, job));
    Ok(())
}

/// Replies to the appends that passed the fence. One that did not, after an earlier attempt without
/// a reply, may have been fenced by that very attempt.
async fn reply_to_batch(
    connection: &mut PgConnection,
    notifier: &InboxNotifier,
    pending: &mut PendingAppends,
    landed: &BatchResult,
) -> Result<(), PgError> {
    let mut place = 0..;
    let (passed, fenced): (Vec<AppendJob>, Vec<AppendJob>) = pending
        .jobs
        .drain(..)
        .partition(|_| place.next().is_some_and(|place: i64| landed.passed_fence.contains(&place)));
    passed.into_iter().for_each(|job| reply_success(notifier, job));
    pending.jobs = fenced;
    resolve_uncertain(connection, notifier, pending).await?;
    for job in pending.jobs.drain(..) {
        let lane = job.encoded.append.lane.clone();
        job.send_reply(Err(StoreError::Fenced { lane }));
    }
    Ok(())
}

fn reply_success(notifier: &InboxNotifier, job: AppendJob) {
    job.encoded.messages.iter().for_each(|(to, _)| notifier.notify_lane(to));
    job.send_reply(Ok(()));
}

async fn write_each(
    connection: &mut PgConnection,
    appends: &[&EncodedAppend],
) -> Result<BatchResult, PgError> {
    let mut all = BatchResult::default();
    for (ord, prepared) in (0..).zip(appends) {
        if !write_one(connection, prepared).await?.passed_fence.is_empty() {
            all.passed_fence.insert(ord);
        }
    }
    Ok(all)
}

async fn write_one(
    connection: &mut PgConnection,
    prepared: &EncodedAppend,
) -> Result<BatchResult, PgError> {
    connection.execute_batch("BEGIN").await?;
    match write_in_transaction(connection, prepared).await {
        Ok(landed) => connection.execute_batch("COMMIT").await.map(|()| landed),
        // A lost connection ends its transaction.
        Err(lost @ PgError::ConnectionLost(_)) => Err(lost),
        Err(error) => connection.execute_batch("ROLLBACK").await.and(Err(error)),
    }
}

async fn write_in_transaction(
    connection: &mut PgConnection,
    prepared: &EncodedAppend,
) -> Result<BatchResult, PgError> {
    let append = &prepared.append;
    let landed = match append_batch::write_batch(connection, GuardMode::ByCaller, &[prepared]).await
    {
        Err(error) if error.is_conflict_on("run_active") => {
            return Err(PgError::Rejected(rejection::second_active_run(&append.lane)));
        }
        other => other?,
    };
    if landed.passed_fence.is_empty() {
        return Ok(landed);
    }
    if landed.marked_messages != append.messages_read.len().cast_signed() as i64 {
        return Err(PgError::Rejected(message_not_pending_error(connection, prepared).await?));
    }
    if landed.written_runs != prepared.run_count() {
        return Err(PgError::Rejected(foreign_run_error(prepared)));
    }
    for (to, message) in &prepared.messages {
        inbox::enqueue_message(connection, to, message, Some(&append.lane)).await?;
    }
    Ok(landed)
}

/// Returns the error for a message that was not pending. It is read outside of the transaction, in
/// which the other messages are already marked as read.
async fn message_not_pending_error(
    connection: &mut PgConnection,
    prepared: &EncodedAppend,
) -> Result<StoreError, PgError> {
    let append = &prepared.append;
    connection.execute_batch("ROLLBACK; BEGIN").await?;
    let message = inbox::first_not_pending(connection, &append.lane, &append.messages_read).await?;
    Ok(rejection::message_not_pending(&append.lane, message.unwrap_or_default()))
}

fn foreign_run_error(prepared: &EncodedAppend) -> StoreError {
    let run = prepared.run_ids().next_back().cloned().unwrap_or_else(|| "".into());
    rejection::foreign_run(&prepared.append.lane, &run)
}

columns!(
    /// Columns of the last entry of each append.
    LastEntryColumns { ord: i64, lane: Cow<'r, str>, owner: Cow<'r, str>, seq: i64 }
);

static FIND_LAST_ENTRIES: LazyLock<TypedSql> = LazyLock::new(|| {
    let mut places = SqlParameters::default();
    let table = places.unnest_table::<LastEntryColumns<'_>>("l");
    let text = format!(
        "SELECT l.ord, e.epoch, e.body, e.blob FROM {table}
         JOIN lane ON lane.id = l.lane AND lane.owner = l.owner JOIN entry e ON e.lane_no = lane.no AND e.seq = l.seq"
    );
    TypedSql { text, types: places.types }
});

/// Returns which of the appends landed, by their index. An append without entries leaves no proof.
async fn find_landed(
    connection: &mut PgConnection,
    appends: &[&EncodedAppend],
) -> Result<HashSet<usize>, PgError> {
    let mut lasts = LastEntryColumns::default();
    for (ord, EncodedAppend { append, .. }) in (0..).zip(appends) {
        if let Some(last) = append.entries.last() {
            lasts.ord.push(ord);
            lasts.lane.push(Cow::Borrowed(append.lane.as_str()));
            lasts.owner.push(Cow::Borrowed(&*append.owner));
            lasts.seq.push(last.seq.cast_signed());
        }
    }
    let rows = connection.query(&FIND_LAST_ENTRIES, &lasts.values()).await?;
    let mut landed = HashSet::new();
    for row in &rows {
        let ord = row
            .try_get::<_, i64>(0)
            .map_err(|error| classify_error(connection.location(), &error))?;
        let index = usize::try_from(ord).unwrap_or(usize::MAX);
        let is_ours = appends.get(index).is_some_and(|append| is_last_entry_of(append, row));
        landed.extend(is_ours.then_some(index));
    }
    Ok(landed)
}

fn is_last_entry_of(prepared: &EncodedAppend, row: &Row) -> bool {
    let bytes = |column| row.try_get::<_, Option<&[u8]>>(column).ok().flatten();
    let epoch = row.try_get::<_, i64>(1).ok().map(i64::cast_unsigned);
    let body = prepared.append.entries.last().map(|entry| entry.line.as_bytes());
    let same = match prepared.hashes.last() {
        Some(Some(hash)) => bytes(3) == Some(hash.as_slice()),
        _ => bytes(2) == body,
    };
    same && epoch == Some(prepared.append.epoch)
}
