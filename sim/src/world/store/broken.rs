//! A store with a safeguard taken out. A checker that does not notice is worth nothing.

use std::sync::Arc;

use windlass_core::log::Entry;
use windlass_core::record::Durability;
use windlass_runtime::ports::{Append, EncodedEntry, Store, StoreError};

use crate::world::shared::{Break, Shared};

/// The append as a broken store would take it.
pub(super) async fn adjust(shared: &Shared, append: Append) -> Result<Append, StoreError> {
    match shared.broken {
        Break::Nothing => Ok(append),
        Break::Fence => without_fence(shared, append).await,
        Break::Envelope => Ok(without_envelope(append)),
        Break::Name => without_names(shared, append).await,
    }
}

/// Whoever has the lane's epoch is taken for its owner.
async fn without_names(shared: &Shared, append: Append) -> Result<Append, StoreError> {
    let lane = shared.disk.lane(append.lane.clone()).await?;
    let same = lane.filter(|lane| lane.epoch == append.epoch);
    let owner = same.and_then(|lane| lane.owner);
    Ok(Append { owner: owner.unwrap_or(append.owner), ..append })
}

/// Whoever appends is taken for the owner, and finds its place at the end.
async fn without_fence(shared: &Shared, mut append: Append) -> Result<Append, StoreError> {
    let Some(lane) = shared.disk.lane(append.lane.clone()).await? else { return Ok(append) };
    if lane.epoch != append.epoch {
        append.owner = lane.owner.unwrap_or(append.owner);
        append.epoch = lane.epoch;
        append.head = lane.head;
        let places = lane.head.saturating_add(1)..;
        append.entries = places.zip(append.entries).map(|(seq, entry)| moved(entry, seq)).collect();
        append.mail_read.clear();
        append.rows.clear();
    }
    Ok(append)
}

fn moved(entry: EncodedEntry, seq: u64) -> EncodedEntry {
    let line = match Entry::parse(entry.seq, &entry.line) {
        Ok(parsed) => Arc::from(Entry { seq, ..parsed }.encode()),
        Err(_) => entry.line,
    };
    EncodedEntry { seq, line, ..entry }
}

/// Nothing waits for the disk.
fn without_envelope(append: Append) -> Append {
    Append { durability: append.durability.min(Durability::Commit), ..append }
}
