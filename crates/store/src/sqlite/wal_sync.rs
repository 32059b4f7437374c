//! WAL sync thread: a commit is already in the write-ahead log; syncing that file makes the commit
//! and everything before it survive a power cut, while the writer continues.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::commit_queue::WriteJob;
use super::database_file::DatabaseFile;
use super::group_commit::send_reply;
use super::write_work::WriteOutput;

/// Maximum number of batches that wait for a sync; then the writer waits too.
const MAX_QUEUED_SYNCS: usize = 64;

/// Committed work, with the replies to send when it is on the disk.
type CommittedWork = Vec<(WriteJob, WriteOutput)>;

#[derive(Debug)]
pub(super) struct WalSyncer {
    queue: SyncSender<CommittedWork>,
    thread: JoinHandle<()>,
}

impl WalSyncer {
    pub(super) fn start(home: Arc<DatabaseFile>) -> io::Result<Self> {
        let (queue, committed) = mpsc::sync_channel(MAX_QUEUED_SYNCS);
        let thread = thread::Builder::new()
            .name("windlass-sync".to_owned())
            .spawn(move || run_sync_loop(&home, &committed))?;
        Ok(Self { queue, thread })
    }

    /// Replies to these after the next sync. If the thread is gone, dropping them tells the
    /// callers.
    pub(super) fn send(&self, committed: CommittedWork) {
        _ = self.queue.send(committed);
    }

    pub(super) fn close(self) {
        drop(self.queue);
        _ = self.thread.join();
    }
}

fn run_sync_loop(home: &DatabaseFile, queue: &Receiver<CommittedWork>) {
    while let Ok(mut committed) = queue.recv() {
        // One sync serves all commits before it began.
        queue.try_iter().for_each(|more| committed.extend(more));
        let outcome = home.sync();
        for (job, answer) in committed {
            send_reply(job, outcome.clone().map(|()| answer));
        }
    }
}
