//! Batch writer: writes appends together where possible, singly where necessary, and again after a
//! lost connection, once it is known which of them landed.

use std::sync::Arc;

use tokio::time::timeout;
use windlass_runtime::ports::StoreError;

use super::append_batch::{self, BatchResult, GuardMode};
use super::append_queue::AppendJob;
use super::backoff::ReconnectBackoff;
use super::config::ServerConfig;
use super::connection::PgConnection;
use super::connection_pool::{AttemptState, MAX_CONFLICT_RETRIES};
use super::encoded_append::EncodedAppend;
use super::error::{PgError, unreachable_error};
use super::landed_appends;
use super::notifications::InboxNotifier;
use super::single_append;
use crate::crash_points;

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

/// Appends without a reply yet, and the error to reply with if the retries time out.
struct PendingAppends {
    jobs: Vec<AppendJob>,
    last_error: StoreError,
}

impl BatchWriter {
    pub(super) fn new(
        config: Arc<ServerConfig>,
        link: PgConnection,
        notifier: Arc<InboxNotifier>,
    ) -> Self {
        Self { config, connection: Some(link), notifier }
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
        way: WriteMode,
    ) -> Vec<AppendJob> {
        if jobs.is_empty() {
            return jobs;
        }
        let never =
            unreachable_error(self.config.location(), "it was never tried".to_owned()).into_error();
        let mut open = PendingAppends { jobs, last_error: never };
        let patience = self.config.settings.retry_timeout;
        if let Ok(spoiled) = timeout(patience, self.retry_until_answered(&mut open, way)).await {
            return spoiled;
        }
        // The result of a statement in flight on this connection is lost.
        self.connection = None;
        for job in open.jobs {
            let error = match job.attempt {
                AttemptState::Fresh => open.last_error.clone(),
                AttemptState::MayHaveLanded => self.unknown_outcome_error(&open.last_error),
            };
            job.send_reply(Err(error));
        }
        Vec::new()
    }

    async fn retry_until_answered(
        &mut self,
        open: &mut PendingAppends,
        way: WriteMode,
    ) -> Vec<AppendJob> {
        let mut pauses = ReconnectBackoff::new();
        let mut again = 0;
        loop {
            let trouble = match self.try_write(open, way).await {
                Ok(()) => return Vec::new(),
                Err(trouble) => trouble,
            };
            match trouble {
                PgError::ConnectionLost(error) => {
                    self.connection = None;
                    open.last_error = error;
                }
                PgError::Retry(error) if again < MAX_CONFLICT_RETRIES => open.last_error = error,
                PgError::Server(_) if way == WriteMode::Batched => {
                    return std::mem::take(&mut open.jobs);
                }
                other => {
                    let error = other.into_error();
                    open.jobs.drain(..).for_each(|job| job.send_reply(Err(error.clone())));
                    return Vec::new();
                }
            }
            again += 1;
            pauses.wait_next().await;
        }
    }

    async fn try_write(
        &mut self,
        open: &mut PendingAppends,
        way: WriteMode,
    ) -> Result<(), PgError> {
        let link = match &mut self.connection {
            Some(link) => link,
            none => none.insert(PgConnection::connect(&self.config).await?),
        };
        resolve_uncertain(link, &self.notifier, open).await?;
        if open.jobs.is_empty() {
            return Ok(());
        }
        let appends: Vec<&EncodedAppend> = open.jobs.iter().map(|job| &job.encoded).collect();
        let written = match way {
            WriteMode::Batched => {
                append_batch::write_batch(link, GuardMode::InStatement, &appends).await
            }
            WriteMode::Single => single_append::write_each(link, &appends).await,
        };
        if let Err(PgError::ConnectionLost(_)) = &written {
            open.jobs.iter_mut().for_each(|job| job.attempt = AttemptState::MayHaveLanded);
        }
        let landed = written?;
        self.config.count_commit();
        reply_to_batch(link, &self.notifier, open, &landed).await
    }

    fn unknown_outcome_error(&self, last: &StoreError) -> StoreError {
        let reason = format!("the connection was lost in the middle of an append: {last}");
        StoreError::Broken { location: self.config.location().to_owned(), reason }
    }
}

/// Replies to the uncertain appends that turn out to have landed.
async fn resolve_uncertain(
    link: &mut PgConnection,
    notices: &InboxNotifier,
    open: &mut PendingAppends,
) -> Result<(), PgError> {
    if open.jobs.iter().all(|job| job.attempt == AttemptState::Fresh) {
        return Ok(());
    }
    let appends: Vec<&EncodedAppend> = open.jobs.iter().map(|job| &job.encoded).collect();
    let landed = landed_appends::find_landed(link, &appends).await?;
    let mut place = 0..;
    let (done, rest) = open.jobs.drain(..).partition(|job: &AppendJob| {
        let place = place.next().unwrap_or(usize::MAX);
        job.attempt == AttemptState::MayHaveLanded && landed.contains(&place)
    });
    open.jobs = rest;
    Vec::into_iter(done).for_each(|job| reply_success(notices, job));
    Ok(())
}

/// Replies to the appends that passed the fence. One that did not, after an earlier attempt without
/// a reply, may have been fenced by that very attempt.
async fn reply_to_batch(
    link: &mut PgConnection,
    notices: &InboxNotifier,
    open: &mut PendingAppends,
    landed: &BatchResult,
) -> Result<(), PgError> {
    let mut place = 0..;
    let (passed, fenced): (Vec<AppendJob>, Vec<AppendJob>) = open
        .jobs
        .drain(..)
        .partition(|_| place.next().is_some_and(|place: i64| landed.passed_fence.contains(&place)));
    passed.into_iter().for_each(|job| reply_success(notices, job));
    open.jobs = fenced;
    resolve_uncertain(link, notices, open).await?;
    for job in open.jobs.drain(..) {
        let lane = job.encoded.append.lane.clone();
        job.send_reply(Err(StoreError::Fenced { lane }));
    }
    Ok(())
}

fn reply_success(notices: &InboxNotifier, job: AppendJob) {
    job.encoded.messages.iter().for_each(|(to, _)| notices.notify_lane(to));
    job.send_reply(Ok(()));
}
