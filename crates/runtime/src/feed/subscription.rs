//! A reader that never misses and never repeats an entry: it listens first, then reads the log from
//! its place, and from then on drops what it has seen. Falling behind sends it back to the log.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast;
use windlass_core::ids::{LaneId, Seq};
use windlass_core::log::{self, Entry};

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
        Self { lane, ports, live, seen: after, behind: Behind::Log, pages: VecDeque::new() }
    }

    /// The next item. Waits for as long as nothing happens on the lane, wherever it is driven.
    pub async fn next(&mut self) -> Result<Item, SubscriptionError> {
        loop {
            if let Some(entry) = self.pages.pop_front() {
                self.seen = entry.seq;
                return Ok(Item::Entry(entry));
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
            item = self.live.recv() => item.ok(),
            () = self.ports.clock.sleep(POLL_MS) => None,
        };
        match item {
            Some(Item::Entry(entry)) if entry.seq == self.seen + 1 => {
                self.seen = entry.seq;
                Some(Item::Entry(entry))
            }
            Some(piece @ (Item::Ended(_) | Item::Text { .. } | Item::Thinking { .. })) => {
                Some(piece)
            }
            Some(Item::Entry(_)) | None => {
                self.behind = Behind::Log;
                None
            }
        }
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
