//! A reader that never misses and never repeats an entry: it listens first, then reads the log from
//! its place, and from then on drops what it has seen. Falling behind sends it back to the log.
//!
//! Live text is passed on only as long as it is a gapless beginning of the reply being asked for:
//! text of a reply that the log already told, or that a slow reader has lost a piece of, is left
//! out, because the entry of the reply has all of it.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast;
use windlass_core::ids::{AskId, LaneId, Seq};
use windlass_core::log::{self, Entry};
use windlass_core::record::Record;

use super::Item;
use crate::agent::Ports;
use crate::ports::StoreError;

/// Entries read from the log at once.
const PAGE: usize = 256;

/// How long entries written by another process may lie unseen.
const POLL_MS: u64 = 500;

/// A reader of a lane.
pub struct Subscription {
    lane: LaneId,
    ports: Ports,
    live: broadcast::Receiver<Item>,
    seen: Seq,
    behind: Behind,
    pages: VecDeque<Arc<Entry>>,
    /// The model call whose text is passed on: all of it is in the live feed.
    streaming: Option<AskId>,
    /// The last model call whose end was seen.
    done: Option<AskId>,
}

#[derive(PartialEq, Eq)]
enum Behind {
    /// The log holds entries not seen yet.
    Log,
    /// Everything up to the live feed was seen.
    Nothing,
}

/// Why a reader cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] log::Error),
}

impl Subscription {
    pub(crate) fn new(
        lane: LaneId,
        ports: Ports,
        live: broadcast::Receiver<Item>,
        after: Seq,
    ) -> Self {
        Self {
            lane,
            ports,
            live,
            seen: after,
            behind: Behind::Log,
            pages: VecDeque::new(),
            streaming: None,
            done: None,
        }
    }

    /// The next item. Waits for as long as nothing happens on the lane, wherever it is driven.
    pub async fn next(&mut self) -> Result<Item, SubscriptionError> {
        loop {
            if let Some(entry) = self.pages.pop_front() {
                return Ok(self.pass(entry));
            }
            if self.behind == Behind::Log {
                self.catch_up().await?;
                continue;
            }
            if let Some(item) = self.live().await {
                return Ok(item);
            }
        }
    }

    /// The next live item that is new; `None` sends the reader back to the log.
    async fn live(&mut self) -> Option<Item> {
        let item = tokio::select! {
            biased;
            item = self.live.recv() => item,
            // Nothing was lost: perhaps another process wrote something.
            () = self.ports.clock.sleep(POLL_MS) => {
                self.behind = Behind::Log;
                return None;
            }
        };
        match item {
            Ok(Item::Entry(entry)) if entry.seq <= self.seen.saturating_add(1) => {
                self.find_text(&entry);
                // An entry that the log has told already is not told again.
                (entry.seq > self.seen).then(|| self.pass(entry))
            }
            Ok(Item::Text { ask, .. } | Item::Thinking { ask, .. })
                if self.streaming != Some(ask) =>
            {
                None
            }
            Ok(piece @ (Item::Ended(_) | Item::Text { .. } | Item::Thinking { .. })) => Some(piece),
            Ok(Item::Entry(_)) | Err(_) => {
                self.streaming = None;
                self.behind = Behind::Log;
                None
            }
        }
    }

    /// A model call that comes with the live feed has all of its text behind it there.
    fn find_text(&mut self, entry: &Entry) {
        for record in &entry.records {
            if let Record::Asked { ask, .. } = record
                && self.done.is_none_or(|done| done < *ask)
            {
                self.streaming = Some(*ask);
            }
        }
    }

    /// Gives an entry to the reader. Text of a reply that it tells is not passed on any more.
    fn pass(&mut self, entry: Arc<Entry>) -> Item {
        self.seen = entry.seq;
        for record in &entry.records {
            if let Record::Replied { ask, .. } | Record::AttemptAbandoned { ask, .. } = record {
                self.done = self.done.max(Some(*ask));
                self.streaming = self.streaming.filter(|streaming| streaming > ask);
            }
        }
        Item::Entry(entry)
    }

    async fn catch_up(&mut self) -> Result<(), SubscriptionError> {
        let page = self.ports.store.read_log(self.lane.clone(), self.seen, PAGE).await?;
        if page.len() < PAGE {
            self.behind = Behind::Nothing;
        }
        for stored in page {
            self.pages.push_back(Arc::new(Entry::parse(stored.seq, &stored.line)?));
        }
        Ok(())
    }
}
