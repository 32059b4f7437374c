//! The feed between a driver and the owner of a run: a bounded queue that makes the driver wait, and
//! behind it the text of the current reply that did not fit.
//!
//! Entries wait for room, because the run may wait for its owner. Pieces of text cannot wait: they
//! come from the middle of a provider's stream. What finds the queue full is joined and kept in
//! order until the owner reads on or the next entry is sent, whichever comes first. Only one reply
//! at a time is on its way, so no more than its text is ever kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{self, error::TryRecvError, error::TrySendError};
use tokio_util::sync::CancellationToken;
use windlass_core::ids::{AskId, RunId};

use super::{Item, OWNER_ITEMS};

#[cfg(test)]
#[path = "owner_tests.rs"]
mod owner_tests;

/// The end of the feed that owns the run. Sending waits until the owner has room.
#[derive(Clone)]
pub struct OwnerFeed {
    items: mpsc::Sender<Item>,
    pending: PendingText,
    run: Option<RunId>,
    abandoned: CancellationToken,
}

/// The items of a run, as its owner reads them. Dropping them only means that nobody reads any more:
/// a runtime that shuts down drops its tasks in any order, and a reader that went first must not be
/// taken for a person who wants the run to end. That is said with [`OwnerItems::abandon`].
pub struct OwnerItems {
    items: mpsc::Receiver<Item>,
    pending: PendingText,
    abandoned: CancellationToken,
}

/// Nobody reads the stream any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// Whether the model says or thinks a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// It is part of the answer.
    Answer,
    /// It is part of its thinking.
    Thinking,
}

/// Pieces newer than everything in the queue, neighbours of the same kind joined.
#[derive(Clone, Default)]
struct PendingText(Arc<Mutex<VecDeque<PendingPiece>>>);

struct PendingPiece {
    ask: AskId,
    kind: TextKind,
    text: String,
}

impl PendingText {
    fn lock(&self) -> MutexGuard<'_, VecDeque<PendingPiece>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingPiece {
    fn into_item(self) -> Item {
        Item::piece(self.ask, self.kind, &self.text)
    }
}

impl OwnerFeed {
    /// A feed for the owner of `run`, and the stream that reads it.
    #[must_use]
    pub fn new(run: Option<RunId>) -> (Self, OwnerItems) {
        let (sender, receiver) = mpsc::channel(OWNER_ITEMS);
        let pending = PendingText::default();
        let abandoned = CancellationToken::new();
        let items =
            OwnerItems { items: receiver, pending: pending.clone(), abandoned: abandoned.clone() };
        (Self { items: sender, pending, run, abandoned }, items)
    }

    /// The run it owns.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Gives an item to the owner, after all text that came before it; waits for room. `Err` if
    /// nobody reads any more.
    pub async fn item(&self, item: Item) -> Result<(), Gone> {
        loop {
            let permit = self.items.reserve().await.map_err(|_| Gone)?;
            // Under the lock, so that no piece of text slips in between.
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

    /// Gives a piece of text to the owner. Never waits, never loses anything.
    pub fn text(&self, ask: AskId, kind: TextKind, piece: &str) {
        let mut pending = self.pending.lock();
        if self.items.is_closed() {
            // Text for an owner that left is for nobody.
            return pending.clear();
        }
        if pending.is_empty() {
            match self.items.try_send(Item::piece(ask, kind, piece)) {
                Ok(()) | Err(TrySendError::Closed(_)) => return,
                Err(TrySendError::Full(_)) => {}
            }
        }
        let is_full = pending.len() >= OWNER_ITEMS;
        let fits = |waiting: &&mut PendingPiece| waiting.ask == ask && waiting.kind == kind;
        // A model that changes between speaking and thinking with every piece must not make a slow
        // owner slower: beyond a bound text is joined with its kind, whatever came in between.
        let joined = match is_full {
            true => pending.iter_mut().rev().find(fits),
            false => pending.back_mut().filter(fits),
        };
        match joined {
            Some(last) => last.text.push_str(piece),
            None => pending.push_back(PendingPiece { ask, kind, text: piece.to_owned() }),
        }
    }

    /// Resolves when the owner said that it abandons the run.
    pub async fn abandoned(&self) {
        self.abandoned.cancelled().await;
    }
}

impl OwnerItems {
    /// The next item; `None` when the driver is gone and everything was read.
    pub async fn recv(&mut self) -> Option<Item> {
        match self.items.try_recv() {
            Ok(item) => return Some(item),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        if let Some(item) = self.take_pending() {
            return Some(item);
        }
        // Text is kept back only behind a full queue, which is empty now: the next item comes
        // through it.
        self.items.recv().await
    }

    /// Asks the driver to cancel the run.
    pub fn abandon(self) {
        self.abandoned.cancel();
    }

    /// The oldest piece that did not fit, unless something older came meanwhile.
    fn take_pending(&mut self) -> Option<Item> {
        let mut pending = self.pending.lock();
        self.items.try_recv().ok().or_else(|| pending.pop_front().map(PendingPiece::into_item))
    }
}
