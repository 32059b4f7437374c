//! The feed from a driver to the owner of a run: a bounded queue that makes the driver wait
//! (backpressure), and behind it what did not fit of the current reply.
//!
//! Entries wait for a free slot, because the run may wait for its owner. Pieces of text and events
//! cannot wait: they come from the middle of a provider's stream. Those that find the queue full are
//! joined and kept in order until the owner reads on or the next entry is sent, whichever comes
//! first. Only one reply at a time is in flight, so no more than its content is ever kept.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{self, error::TryRecvError, error::TrySendError};
use tokio_util::sync::CancellationToken;
use windlass_core::log::ids::{ModelCallId, RunId};

use super::pending_items::PendingItems;
use super::{OWNER_QUEUE_ITEMS, StreamItem, StreamOptions};
use crate::session::run_outcome::is_about_run;

#[cfg(test)]
#[path = "owner_feed_tests.rs"]
mod owner_feed_tests;

/// The sending side of the owner's feed. Sending an entry waits until the queue has a free slot.
#[derive(Clone)]
pub struct OwnerFeed {
    items: mpsc::Sender<StreamItem>,
    pending: SharedPending,
    run: Option<RunId>,
    options: StreamOptions,
    interest: SharedInterest,
    abandoned: CancellationToken,
}

/// The sending side of an owner's feed that does not keep the feed open.
#[derive(Clone)]
pub(crate) struct WeakOwnerFeed {
    items: mpsc::WeakSender<StreamItem>,
    pending: SharedPending,
    run: Option<RunId>,
    options: StreamOptions,
    interest: SharedInterest,
    abandoned: CancellationToken,
}

impl WeakOwnerFeed {
    /// Returns the feed, unless it was closed.
    pub(crate) fn upgrade(self) -> Option<OwnerFeed> {
        let Self { items, pending, run, options, interest, abandoned } = self;
        Some(OwnerFeed { items: items.upgrade()?, pending, run, options, interest, abandoned })
    }
}

/// The items of a run, as its owner reads them. Dropping the receiver only stops reading: a runtime
/// that shuts down drops its tasks in any order, and a reader that was dropped first must not be
/// taken for a request to end the run. To cancel the run, call [`OwnerFeedReceiver::abandon`].
pub struct OwnerFeedReceiver {
    items: mpsc::Receiver<StreamItem>,
    pending: SharedPending,
    interest: SharedInterest,
    abandoned: CancellationToken,
}

/// The owner's queue has no free slot.
struct QueueFull;

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

/// What the owner still reads, shared by both sides.
#[derive(Clone, Default)]
struct SharedInterest(Arc<AtomicBool>);

impl SharedInterest {
    /// Returns whether the owner only waits for the end of its run.
    fn is_only_end(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set_only_end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The items behind the queue, shared by both sides.
#[derive(Clone, Default)]
struct SharedPending(Arc<Mutex<PendingItems>>);

impl SharedPending {
    fn lock(&self) -> MutexGuard<'_, PendingItems> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OwnerFeed {
    /// Creates a feed for the owner of `run`, and the receiver that reads it.
    #[must_use]
    pub fn new(run: Option<RunId>, options: StreamOptions) -> (Self, OwnerFeedReceiver) {
        let (sender, receiver) = mpsc::channel(OWNER_QUEUE_ITEMS);
        let pending = SharedPending::default();
        let interest = SharedInterest::default();
        let abandoned = CancellationToken::new();
        let items = OwnerFeedReceiver {
            items: receiver,
            pending: pending.clone(),
            interest: interest.clone(),
            abandoned: abandoned.clone(),
        };
        (Self { items: sender, pending, run, options, interest, abandoned }, items)
    }

    /// Returns the feed for a sender that must not keep it open.
    pub(crate) fn downgrade(&self) -> WeakOwnerFeed {
        WeakOwnerFeed {
            items: self.items.downgrade(),
            pending: self.pending.clone(),
            run: self.run.clone(),
            options: self.options,
            interest: self.interest.clone(),
            abandoned: self.abandoned.clone(),
        }
    }

    /// Returns the run that the feed belongs to.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Returns whether the owner wants events of replies.
    #[must_use]
    pub fn wants_reply_events(&self) -> bool {
        self.options.reply_events
    }

    /// Returns whether the owner wants live output of calls.
    #[must_use]
    pub fn wants_call_progress(&self) -> bool {
        self.options.call_progress
    }

    /// Returns whether the owner wants summaries of calls.
    #[must_use]
    pub fn wants_call_summaries(&self) -> bool {
        self.options.call_summaries
    }

    /// Returns whether the owner wants to read an item.
    fn wants(&self, item: &StreamItem) -> bool {
        self.options.call_summaries || !matches!(item, StreamItem::CallSummary { .. })
    }

    /// Sends an item to the owner, after everything that came before it; waits for a free slot.
    ///
    /// # Errors
    ///
    /// Returns [`OwnerGone`] if the owner no longer reads.
    pub async fn send_item(&self, item: StreamItem) -> Result<(), OwnerGone> {
        let is_unread = self.interest.is_only_end() && !self.is_about_end(&item);
        if is_unread || !self.wants(&item) {
            return if self.items.is_closed() { Err(OwnerGone) } else { Ok(()) };
        }
        loop {
            let permit = self.items.reserve().await.map_err(|_| OwnerGone)?;
            // Under the lock, so that no live item is inserted in between.
            let mut pending = self.pending.lock();
            match pending.pop_front() {
                Some(earlier) => permit.send(earlier),
                None => {
                    permit.send(item);
                    return Ok(());
                }
            }
        }
    }

    /// Sends a piece of text to the owner. Never waits and never loses text.
    pub fn send_text(&self, model_call: ModelCallId, kind: TextKind, chunk: &str) {
        let Some(mut pending) = self.lock_pending() else { return };
        let is_sent = pending.is_empty()
            && self.try_send(StreamItem::from_delta(model_call, kind, chunk)).is_ok();
        if !is_sent {
            pending.push_text(model_call, kind, chunk);
        }
    }

    /// Sends an event of a reply to the owner. Never waits and never loses an event.
    pub fn send_event(&self, model_call: ModelCallId, event: Arc<str>) {
        let Some(mut pending) = self.lock_pending() else { return };
        let item = StreamItem::ReplyEvent { model_call, event: Arc::clone(&event) };
        let is_sent = pending.is_empty() && self.try_send(item).is_ok();
        if !is_sent {
            pending.push_event(model_call, event);
        }
    }

    /// Returns whether an owner that only waits for the end of its run needs the item.
    fn is_about_end(&self, item: &StreamItem) -> bool {
        match item {
            StreamItem::Entry(entry) => is_about_run(self.run.as_ref(), entry),
            StreamItem::RunEnded(_) => true,
            StreamItem::TextDelta { .. }
            | StreamItem::ThinkingDelta { .. }
            | StreamItem::ReplyEvent { .. }
            | StreamItem::CallProgress { .. }
            | StreamItem::CallSummary { .. }
            | StreamItem::HookMessage(_) => false,
        }
    }

    /// Locks the items behind the queue; `None` if no one will read them.
    fn lock_pending(&self) -> Option<MutexGuard<'_, PendingItems>> {
        let mut pending = self.pending.lock();
        if self.interest.is_only_end() || self.items.is_closed() {
            pending.clear();
            return None;
        }
        Some(pending)
    }

    /// Sends an item unless the queue is full.
    fn try_send(&self, item: StreamItem) -> Result<(), QueueFull> {
        match self.items.try_send(item) {
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => Err(QueueFull),
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
        // An item is pending only behind a full queue, which is empty now: the next item comes through
        // it.
        self.items.recv().await
    }

    /// From now on, delivers only what tells how the run ends: a reader that waits for the end is not
    /// woken for everything else.
    pub fn read_only_end(&self) {
        self.interest.set_only_end();
    }

    /// Returns whether only the end of the run is delivered.
    #[must_use]
    pub fn reads_only_end(&self) -> bool {
        self.interest.is_only_end()
    }

    /// Requests that the driver cancels the run.
    pub fn abandon(self) {
        self.abandoned.cancel();
    }

    /// Takes the oldest item that did not fit, unless an older item is in the queue.
    fn take_pending(&mut self) -> Option<StreamItem> {
        let mut pending = self.pending.lock();
        self.items.try_recv().ok().or_else(|| pending.pop_front())
    }
}
