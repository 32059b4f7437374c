//! The one task of this store that appends. It takes whatever queued up while it was busy and
//! commits it together: no timer, so a lone writer never waits for company.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use windlass_core::ids::LaneId;
use windlass_runtime::ports::StoreError;

use super::desk::Desk;
use super::home::Home;
use super::link::Link;
use super::notices::Notices;
use super::pool::Doubt;
use super::prepare::Prepared;
use super::trouble::unreachable;
use crate::fault;

/// Appends that may wait; more of them wait outside.
const QUEUE: usize = 1_024;

/// Appends committed together, and how many bytes of them.
const BATCH: usize = 128;
const BATCH_BYTES: usize = 16 << 20;

/// An append and who waits for it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) prepared: Prepared,
    pub(super) doubt: Doubt,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Job>,
}

impl Writer {
    pub(super) fn start(home: Arc<Home>, link: Link, notices: Arc<Notices>) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        tokio::spawn(write(jobs, Desk::new(home, link, notices)));
        Self { queue }
    }

    /// Hands over an append and waits until it is on the server's disk. What was handed over is
    /// done, also if nobody waits for it any more.
    pub(super) async fn submit(&self, home: &Home, prepared: Prepared) -> Result<(), StoreError> {
        let gone = || unreachable(home.place(), "the writer has stopped".to_owned()).into_error();
        let (reply, answer) = oneshot::channel();
        let job = Job { prepared, doubt: Doubt::No, reply };
        self.queue.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Job {
    /// Whoever stopped waiting is not told; the work stands all the same.
    pub(super) fn answer(self, outcome: Result<(), StoreError>) {
        let landed = outcome.is_ok();
        if landed {
            fault::point(fault::APPEND_AFTER_COMMIT);
        }
        _ = self.reply.send(outcome);
        if landed {
            fault::point(fault::APPEND_AFTER_REPLY);
        }
    }

    fn lane(&self) -> &LaneId {
        &self.prepared.append.lane
    }

    fn bytes(&self) -> usize {
        self.prepared.append.entries.iter().map(|entry| entry.line.len()).sum()
    }
}

async fn write(mut jobs: mpsc::Receiver<Job>, mut desk: Desk) {
    let mut waiting = Vec::new();
    while jobs.recv_many(&mut waiting, BATCH).await > 0 {
        while !waiting.is_empty() {
            let (now, later) = split(std::mem::take(&mut waiting));
            waiting = later;
            desk.write(now).await;
        }
    }
}

/// What may go together: one append of each lane, in the order of lanes, so that two processes
/// that meet wait for each other in the same order.
fn split(jobs: Vec<Job>) -> (Vec<Job>, Vec<Job>) {
    let mut lanes = HashSet::new();
    let mut bytes = 0_usize;
    let (mut now, later): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| {
        // The order within a lane is kept: once one has to wait, so do those behind it.
        let is_first = lanes.insert(job.lane().clone());
        let fits = bytes == 0 || bytes.saturating_add(job.bytes()) <= BATCH_BYTES;
        if is_first && fits {
            bytes = bytes.saturating_add(job.bytes());
        }
        is_first && fits
    });
    now.sort_by(|one, two| one.lane().as_str().cmp(two.lane().as_str()));
    (now, later)
}
