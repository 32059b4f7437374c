//! A subscription: a reader that never misses and never repeats an entry. It subscribes to the feed
//! first, then reads the log from its position, and from then on drops what it has seen. A reader
//! that falls behind continues from the log.
//!
//! Live text and events are passed on only as long as they are a gapless beginning of the reply in
//! flight: those of a reply that is in the log already, or of which a slow reader has lost a piece,
//! are left out, because the entry of the reply has all of it.

use std::collections::VecDeque;
use std::sync::Arc;

use windlass_core::log::entry::{Entry, LogError};
use windlass_core::log::ids::{LaneId, ModelCallId, Seq};
use windlass_core::log::record::Record;

use super::{LaneFeedReader, StreamItem};
use crate::agent::Ports;
use crate::ports::StoreError;

/// The number of entries read from the log at once.
const LOG_PAGE_ENTRIES: usize = 256;

/// How long entries written by another process may remain unseen, in milliseconds.
const POLL_MS: u64 = 500;

/// A reader of the entries and the live items of a lane.
pub struct Subscription {
    lane: LaneId,
    ports: Ports,
    live: LaneFeedReader,
    last_seq: Seq,
    /// Whether the log has entries that were not read yet.
    is_behind_log: bool,
    unread_entries: VecDeque<Arc<Entry>>,
    /// When the log is looked at again. It is kept between calls of [`Subscription::next`], whose
    /// future a reader may drop more often than that.
    poll_at_ms: Option<u64>,
    /// The model call whose live reply is passed on, because the live feed has all of it.
    streaming_call: Option<ModelCallId>,
    /// The last model call whose end was seen.
    last_finished_call: Option<ModelCallId>,
}

/// Why a subscription cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl Subscription {
    pub(crate) fn new(lane: LaneId, ports: Ports, live: LaneFeedReader, after: Seq) -> Self {
        Self {
            lane,
            ports,
            live,
            last_seq: after,
            is_behind_log: true,
            unread_entries: VecDeque::new(),
            poll_at_ms: None,
            streaming_call: None,
            last_finished_call: None,
        }
    }

    /// Returns the next item. Waits until something happens on the lane, whichever process drives
    /// it.
    ///
    /// # Errors
    ///
    /// Returns a [`SubscriptionError`] if the store fails or the log cannot be read.
    pub async fn next(&mut self) -> Result<StreamItem, SubscriptionError> {
        loop {
            if let Some(entry) = self.unread_entries.pop_front() {
                return Ok(self.deliver_entry(entry));
            }
            if self.is_behind_log {
                self.read_log_page().await?;
                continue;
            }
            if let Some(item) = self.next_live_item().await {
                return Ok(item);
            }
        }
    }

    /// Returns the next live item that is new; `None` sends the reader back to the log.
    async fn next_live_item(&mut self) -> Option<StreamItem> {
        let now_ms = self.ports.clock.monotonic_ms();
        let poll_at_ms = *self.poll_at_ms.get_or_insert(now_ms.saturating_add(POLL_MS));
        let item = tokio::select! {
            biased;
            item = self.live.recv() => item,
            // Nothing was lost: perhaps another process wrote entries.
            () = self.ports.clock.sleep(poll_at_ms.saturating_sub(now_ms)) => {
                self.poll_at_ms = None;
                self.is_behind_log = true;
                return None;
            }
        };
        match item {
            Ok(StreamItem::Entry(entry)) if entry.seq <= self.last_seq.saturating_add(1) => {
                self.track_streaming_call(&entry);
                // An entry that was read from the log already is not returned again.
                (entry.seq > self.last_seq).then(|| self.deliver_entry(entry))
            }
            Ok(
                StreamItem::TextDelta { model_call, .. }
                | StreamItem::ThinkingDelta { model_call, .. }
                | StreamItem::ReplyEvent { model_call, .. },
            ) if self.streaming_call != Some(model_call) => None,
            Ok(
                piece @ (StreamItem::RunEnded(_)
                | StreamItem::TextDelta { .. }
                | StreamItem::ThinkingDelta { .. }
                | StreamItem::ReplyEvent { .. }
                | StreamItem::CallProgress { .. }
                | StreamItem::CallSummary { .. }
                | StreamItem::HookMessage(_)),
            ) => Some(piece),
            Ok(StreamItem::Entry(_)) | Err(_) => {
                self.streaming_call = None;
                self.is_behind_log = true;
                None
            }
        }
    }

    /// Notes the model call whose start came through the live feed: all of its reply follows there.
    fn track_streaming_call(&mut self, entry: &Entry) {
        for record in &entry.records {
            if let Record::ModelCallStarted { model_call, .. } = record
                && self.last_finished_call.is_none_or(|done| done < *model_call)
            {
                self.streaming_call = Some(*model_call);
            }
        }
    }

    /// Returns an entry to the reader. Live items of a reply that the entry contains are no longer
    /// passed on.
    fn deliver_entry(&mut self, entry: Arc<Entry>) -> StreamItem {
        self.last_seq = entry.seq;
        for record in &entry.records {
            if let Record::ModelReplied { model_call, .. }
            | Record::ModelCallAbandoned { model_call, .. } = record
            {
                self.last_finished_call = self.last_finished_call.max(Some(*model_call));
                self.streaming_call =
                    self.streaming_call.filter(|streaming| streaming > model_call);
            }
        }
        StreamItem::Entry(entry)
    }

    async fn read_log_page(&mut self) -> Result<(), SubscriptionError> {
        let page =
            self.ports.store.read_log(self.lane.clone(), self.last_seq, LOG_PAGE_ENTRIES).await?;
        if page.len() < LOG_PAGE_ENTRIES {
            self.is_behind_log = false;
        }
        for stored in page {
            self.unread_entries.push_back(Arc::new(Entry::parse(stored.seq, &stored.line)?));
        }
        Ok(())
    }
}
