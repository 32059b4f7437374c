//! The feed of a lane to any number of readers. None of them can delay it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::broadcast::{self, error::RecvError};
use windlass_core::log::ids::ModelCallId;

use super::{DETAILED_QUEUE_ITEMS, READER_QUEUE_ITEMS, StreamItem, StreamOptions};

/// The sending side of a lane's feed. Most lanes never have a reader: a queue is created for the
/// first one.
#[derive(Clone, Default)]
pub struct LaneFeed {
    queues: Arc<ReaderQueues>,
}

/// Two queues, so that the details that one reader wants do not make another one fall behind.
#[derive(Default)]
struct ReaderQueues {
    /// Entries and pieces of text.
    plain: OnceLock<broadcast::Sender<StreamItem>>,
    /// Everything; each reader leaves out what it did not ask for.
    detailed: OnceLock<broadcast::Sender<StreamItem>>,
    /// The number of readers that want events of replies.
    event_readers: AtomicUsize,
    /// The number of readers that want live output of calls.
    progress_readers: AtomicUsize,
    /// The number of readers that want summaries of calls.
    summary_readers: AtomicUsize,
}

/// A reader of the items that were published after it subscribed.
pub struct LaneFeedReader {
    items: broadcast::Receiver<StreamItem>,
    queues: Arc<ReaderQueues>,
    options: StreamOptions,
    /// The last model call that an event came from: its pieces of text are left out.
    call_with_events: Option<ModelCallId>,
}

/// The reader fell behind or the feed is gone: the log has the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemsMissed;

impl LaneFeed {
    /// Returns a reader of the items published from now on.
    #[must_use]
    pub fn subscribe(&self, options: StreamOptions) -> LaneFeedReader {
        let queues = Arc::clone(&self.queues);
        let (queue, items) = match options == StreamOptions::default() {
            true => (&queues.plain, READER_QUEUE_ITEMS),
            false => (&queues.detailed, DETAILED_QUEUE_ITEMS),
        };
        let items = queue.get_or_init(|| broadcast::channel(items).0).subscribe();
        if options.reply_events {
            queues.event_readers.fetch_add(1, Ordering::SeqCst);
        }
        if options.call_progress {
            queues.progress_readers.fetch_add(1, Ordering::SeqCst);
        }
        if options.call_summaries {
            queues.summary_readers.fetch_add(1, Ordering::SeqCst);
        }
        LaneFeedReader { items, queues, options, call_with_events: None }
    }

    /// Returns whether there are no readers.
    #[must_use]
    pub fn has_no_readers(&self) -> bool {
        !has_readers(&self.queues.plain) && !has_readers(&self.queues.detailed)
    }

    /// Returns whether a reader wants events of replies.
    #[must_use]
    pub fn has_event_readers(&self) -> bool {
        self.queues.event_readers.load(Ordering::SeqCst) > 0
    }

    /// Returns whether a reader wants live output of calls.
    #[must_use]
    pub fn has_progress_readers(&self) -> bool {
        self.queues.progress_readers.load(Ordering::SeqCst) > 0
    }

    /// Returns whether a reader wants summaries of calls.
    #[must_use]
    pub fn has_summary_readers(&self) -> bool {
        self.queues.summary_readers.load(Ordering::SeqCst) > 0
    }

    /// Sends an item to every reader that wants it; a slow reader cannot delay it.
    pub fn publish(&self, item: &StreamItem) {
        let is_detail = matches!(
            item,
            StreamItem::ReplyEvent { .. }
                | StreamItem::CallProgress { .. }
                | StreamItem::CallSummary { .. }
        );
        if !is_detail {
            send(&self.queues.plain, item);
        }
        send(&self.queues.detailed, item);
    }
}

fn has_readers(queue: &OnceLock<broadcast::Sender<StreamItem>>) -> bool {
    queue.get().is_some_and(|readers| readers.receiver_count() > 0)
}

fn send(queue: &OnceLock<broadcast::Sender<StreamItem>>, item: &StreamItem) {
    if let Some(readers) = queue.get().filter(|_| has_readers(queue)) {
        let _ = readers.send(item.clone());
    }
}

impl LaneFeedReader {
    /// Returns the next item that the reader wants.
    pub(super) async fn recv(&mut self) -> Result<StreamItem, ItemsMissed> {
        loop {
            match self.items.recv().await {
                Ok(item) if self.wants(&item) => return Ok(item),
                Ok(_) => {}
                Err(RecvError::Lagged(_) | RecvError::Closed) => return Err(ItemsMissed),
            }
        }
    }

    fn wants(&mut self, item: &StreamItem) -> bool {
        match item {
            StreamItem::Entry(_) | StreamItem::RunEnded(_) | StreamItem::HookMessage(_) => true,
            StreamItem::TextDelta { model_call, .. }
            | StreamItem::ThinkingDelta { model_call, .. } => {
                self.call_with_events != Some(*model_call)
            }
            StreamItem::ReplyEvent { model_call, .. } if self.options.reply_events => {
                self.call_with_events = Some(*model_call);
                true
            }
            StreamItem::ReplyEvent { .. } => false,
            StreamItem::CallProgress { .. } => self.options.call_progress,
            StreamItem::CallSummary { .. } => self.options.call_summaries,
        }
    }
}

impl Drop for LaneFeedReader {
    fn drop(&mut self) {
        if self.options.reply_events {
            self.queues.event_readers.fetch_sub(1, Ordering::SeqCst);
        }
        if self.options.call_progress {
            self.queues.progress_readers.fetch_sub(1, Ordering::SeqCst);
        }
        if self.options.call_summaries {
            self.queues.summary_readers.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
