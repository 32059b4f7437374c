//! Append queue: one task per store appends; it commits together whatever queued up while it was
//! busy. There is no timer, so a lone append never waits for others.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::StoreError;

use super::append_batch::EncodedAppend;
use super::batch_writer::BatchWriter;
use super::config::ServerConfig;
use super::connection::PgConnection;
use super::connection_pool::AttemptState;
use super::error::unreachable_error;
use super::notifications::InboxNotifier;
use crate::crash_points;

/// Maximum number of queued appends; further callers wait until there is capacity.
const MAX_QUEUED_APPENDS: usize = 1_024;

/// Limits of a batch: the number of appends committed together, and their bytes.
const MAX_BATCH: usize = 128;
const MAX_BATCH_BYTES: usize = 16 << 20;

/// A queued append and its reply channel.
#[derive(Debug)]
pub(super) struct AppendJob {
    pub(super) encoded: EncodedAppend,
    pub(super) attempt: AttemptState,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

#[derive(Debug)]
pub(super) struct AppendQueue {
    queue: mpsc::Sender<AppendJob>,
}

impl AppendQueue {
    pub(super) fn start(
        config: Arc<ServerConfig>,
        connection: PgConnection,
        notifier: Arc<InboxNotifier>,
    ) -> Self {
        let (queue, jobs) = mpsc::channel(MAX_QUEUED_APPENDS);
        tokio::spawn(run_append_loop(jobs, BatchWriter::new(config, connection, notifier)));
        Self { queue }
    }

    /// Enqueues an append and waits until it is on the server's disk. An enqueued append is written
    /// even if the caller stops waiting.
    pub(super) async fn submit(
        &self,
        config: &ServerConfig,
        encoded: EncodedAppend,
    ) -> Result<(), StoreError> {
        let gone = || {
            unreachable_error(config.location(), "the writer has stopped".to_owned()).into_error()
        };
        let (reply, answer) = oneshot::channel();
        let job = AppendJob { encoded, attempt: AttemptState::Fresh, reply };
        self.queue.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl AppendJob {
    /// Replies to the caller. A caller that stopped waiting is ignored; the append stands all the
    /// same.
    pub(super) fn send_reply(self, outcome: Result<(), StoreError>) {
        let landed = outcome.is_ok();
        if landed {
            crash_points::crash_point(crash_points::APPEND_AFTER_COMMIT);
        }
        _ = self.reply.send(outcome);
        if landed {
            crash_points::crash_point(crash_points::APPEND_AFTER_REPLY);
        }
    }

    fn lane(&self) -> &LaneId {
        &self.encoded.append.lane
    }

    fn entry_bytes(&self) -> usize {
        self.encoded.append.entries.iter().map(|entry| entry.line.len()).sum()
    }
}

async fn run_append_loop(mut jobs: mpsc::Receiver<AppendJob>, mut writer: BatchWriter) {
    let mut waiting = Vec::new();
    while jobs.recv_many(&mut waiting, MAX_BATCH).await > 0 {
        while !waiting.is_empty() {
            let (now, later) = split_batch(std::mem::take(&mut waiting));
            waiting = later;
            writer.write_jobs(now).await;
        }
    }
}

/// Splits off what may be written together: one append of each lane, in the order of lanes, so that
/// two concurrent processes lock rows in the same order.
fn split_batch(jobs: Vec<AppendJob>) -> (Vec<AppendJob>, Vec<AppendJob>) {
    let mut lanes = HashSet::new();
    let mut bytes = 0_usize;
    let (mut now, later): (Vec<AppendJob>, Vec<AppendJob>) = jobs.into_iter().partition(|job| {
        // The order within a lane is kept: once one append has to wait, so do those behind it.
        let is_first = lanes.insert(job.lane().clone());
        let fits = bytes == 0 || bytes.saturating_add(job.entry_bytes()) <= MAX_BATCH_BYTES;
        if is_first && fits {
            bytes = bytes.saturating_add(job.entry_bytes());
        }
        is_first && fits
    });
    now.sort_by(|one, two| one.lane().as_str().cmp(two.lane().as_str()));
    (now, later)
}
