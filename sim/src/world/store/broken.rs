//! A store with a safeguard removed. A checker that does not notice is worthless.

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::record::Durability;
use windlass_runtime::ports::{AppendRequest, EncodedEntry, Store, StoreError};

use crate::world::shared::{RemovedSafeguard, SharedWorld};

/// Returns the append as a broken store would accept it.
pub(super) async fn adjust(
    shared: &SharedWorld,
    append: AppendRequest,
) -> Result<AppendRequest, StoreError> {
    match shared.broken {
        RemovedSafeguard::Nothing => Ok(append),
        RemovedSafeguard::Fence => without_fence(shared, append).await,
        RemovedSafeguard::Envelope => Ok(without_envelope(append)),
        RemovedSafeguard::Name => without_names(shared, append).await,
    }
}

/// Every worker with the lane's epoch counts as its owner.
async fn without_names(
    shared: &SharedWorld,
    append: AppendRequest,
) -> Result<AppendRequest, StoreError> {
    let lane = shared.disk.lane_info(append.lane.clone()).await?;
    let same = lane.filter(|lane| lane.epoch == append.epoch);
    let owner = same.and_then(|lane| lane.owner);
    Ok(AppendRequest { owner: owner.unwrap_or(append.owner), ..append })
}

/// Every worker that appends counts as the owner, and its entry goes to the end.
async fn without_fence(
    shared: &SharedWorld,
    mut append: AppendRequest,
) -> Result<AppendRequest, StoreError> {
    let Some(lane) = shared.disk.lane_info(append.lane.clone()).await? else { return Ok(append) };
    if lane.epoch != append.epoch {
        append.owner = lane.owner.unwrap_or(append.owner);
        append.epoch = lane.epoch;
        append.head = lane.head;
        let places = lane.head.saturating_add(1)..;
        append.entries = places.zip(append.entries).map(|(seq, entry)| moved(entry, seq)).collect();
        append.messages_read.clear();
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
fn without_envelope(append: AppendRequest) -> AppendRequest {
    AppendRequest { durability: append.durability.min(Durability::Commit), ..append }
}
