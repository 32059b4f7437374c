//! The thread that waits for the disk. A commit is in the write-ahead log already; syncing that
//! file makes it and everything before it survive a power cut, while the writer goes on.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::batch::reply;
use super::desk::Job;
use super::home::Home;
use super::step::Answer;

/// Batches that may wait for a sync; then the writer waits too.
const QUEUE: usize = 64;

/// Work that is committed, and what to say when it is on the disk.
type Committed = Vec<(Job, Answer)>;

#[derive(Debug)]
pub(super) struct Syncer {
    queue: SyncSender<Committed>,
    thread: JoinHandle<()>,
}

impl Syncer {
    pub(super) fn start(home: Arc<Home>) -> io::Result<Self> {
        let (queue, committed) = mpsc::sync_channel(QUEUE);
        let thread = thread::Builder::new()
            .name("windlass-sync".to_owned())
            .spawn(move || sync(&home, &committed))?;
        Ok(Self { queue, thread })
    }

    /// Answers these after the next sync. Should the thread be gone, dropping them says so.
    pub(super) fn send(&self, committed: Committed) {
        _ = self.queue.send(committed);
    }

    pub(super) fn close(self) {
        drop(self.queue);
        _ = self.thread.join();
    }
}

fn sync(home: &Home, queue: &Receiver<Committed>) {
    while let Ok(mut committed) = queue.recv() {
        // One sync serves all that was committed before it began.
        queue.try_iter().for_each(|more| committed.extend(more));
        let outcome = home.sync();
        for (job, answer) in committed {
            reply(job, outcome.clone().map(|()| answer));
        }
    }
}
