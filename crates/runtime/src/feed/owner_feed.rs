//! The feed from a driver to the owner of a run: a bounded queue that makes the driver wait
//! (backpressure), and behind it the text of the current reply that did not fit.
//!
//! Entries wait for a free slot, because the run may wait for its owner. Pieces of text cannot
//! wait: they come from the middle of a provider's stream. Text that finds the queue full is joined
//! and kept in order until the owner reads on or the next entry is sent, whichever comes first.
//! Only one reply at a time is in flight, so no more than its text is ever kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{self, error::TryRecvError, error::TrySendError};
use tokio_util::sync::CancellationToken;
use windlass_core::log::ids::{ModelCallId, RunId};

use super::{OWNER_QUEUE_ITEMS, StreamItem};

#[cfg(test)]
#[path = "owner_feed_tests.rs"]
mod owner_feed_tests;

/// The sending side of the owner's feed. Sending an entry waits until the queue has a free slot.
#[derive(Clone)]
pub struct OwnerFeed {
    items: mpsc::Sender<StreamItem>,
    pending: PendingText,
    run: Option<RunId>,
    abandoned: CancellationToken,
}

/// The items of a run, as its owner reads them. Dropping the receiver only stops reading: a runtime
/// that shuts down drops its tasks in any order, and a reader that was dropped first must not be
/// taken for a request to end the run. To cancel the run, call [`OwnerFeedReceiver::abandon`].
pub struct OwnerFeedReceiver {
    items: mpsc::Receiver<StreamItem>,
    pending: PendingText,
    abandoned: CancellationToken,
}

/// The owner no longer reads the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerGone;

/// Whether a piece of text is part of the answer or of the thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// The text is part of the answer.
    Answer,
    /// The text is part of the thinking.
    Thinking,
}

/// Pieces of text newer than everything in the queue; neighbours of the same kind are joined.
#[derive(Clone, Default)]
struct PendingText(Arc<Mutex<VecDeque<PendingDelta>>>);

struct PendingDelta {
    model_call: ModelCallId,
    kind: TextKind,
    text: String,
}

impl PendingText {
    fn lock(&self) -> MutexGuard<'_, VecDeque<PendingDelta>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingDelta {
    fn into_item(self) -> StreamItem {
        StreamItem::from_delta(self.model_call, self.kind, &self.text)
    }
}

impl OwnerFeed {
    /// Creates a feed for the owner of `run`, and the receiver that reads it.
    #[must_use]
    pub fn new(run: Option<RunId>) -> (Self, OwnerFeedReceiver) {
        let (sender, receiver) = mpsc::channel(OWNER_QUEUE_ITEMS);
        let pending = PendingText::default();
        let abandoned = CancellationToken::new();
        let items = OwnerFeedReceiver {
            items: receiver,
            pending: pending.clone(),
            abandoned: abandoned.clone(),
        };
        (Self { items: sender, pending, run, abandoned }, items)
    }

    /// Returns the run that the feed belongs to.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Sends an item to the owner, after all text that came before it; waits for a free slot.
    ///
    /// # Errors
    ///
    /// Returns [`OwnerGone`] if the owner no longer reads.
    pub async fn send_item(&self, item: StreamItem) -> Result<(), OwnerGone> {
        loop {
            let permit = self.items.reserve().await.map_err(|_| OwnerGone)?;
            // Under the lock, so that no piece of text is inserted in between.
            let mut pending = self.pending.lock();
            match pending.pop_front() {
                Some(text) => permit.send(text.into_item()),
                None => {
                    permit.send(item);
                    return Ok(());
                }
            }
        }
    }

    /// Sends a piece of text to the owner. Never waits and never loses text.
    pub fn send_text(&self, model_call: ModelCallId, kind: TextKind, chunk: &str) {
        let mut pending = self.pending.lock();
        if self.items.is_closed() {
            // No one will read text for an owner that is gone.
            return pending.clear();
        }
        if pending.is_empty() {
            match self.items.try_send(StreamItem::from_delta(model_call, kind, chunk)) {
                Ok(()) | Err(TrySendError::Closed(_)) => return,
                Err(TrySendError::Full(_)) => {}
            }
        }
        let is_full = pending.len() >= OWNER_QUEUE_ITEMS;
        let fits =
            |waiting: &&mut PendingDelta| waiting.model_call == model_call && waiting.kind == kind;
        // A model that alternates between text and thinking with every piece must not make a slow
        // owner slower: beyond a bound, text is joined with text of its kind, whatever came in
        // between.
        let joined = match is_full {
            true => pending.iter_mut().rev().find(fits),
            false => pending.back_mut().filter(fits),
        };
        match joined {
            Some(last) => last.text.push_str(chunk),
            None => {
                pending.push_back(PendingDelta { model_call, kind, text: chunk.to_owned() });
            }
        }
    }

    /// Resolves when the owner abandons the run.
    pub async fn wait_until_abandoned(&self) {
        self.abandoned.cancelled().await;
    }
}

impl OwnerFeedReceiver {
    /// Returns the next item; `None` when the driver is gone and everything was read.
    pub async fn recv(&mut self) -> Option<StreamItem> {
        match self.items.try_recv() {
            Ok(item) => return Some(item),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        if let Some(item) = self.take_pending() {
            return Some(item);
        }
        // Text is pending only behind a full queue, which is empty now: the next item comes through
        // it.
        self.items.recv().await
    }

    /// Requests that the driver cancels the run.
    pub fn abandon(self) {
        self.abandoned.cancel();
    }

    /// Takes the oldest piece that did not fit, unless an older item is in the queue.
    fn take_pending(&mut self) -> Option<StreamItem> {
        let mut pending = self.pending.lock();
        self.items.try_recv().ok().or_else(|| pending.pop_front().map(PendingDelta::into_item))
    }
}
