//! Disk space per conversation after the log was checkpointed into the file.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use windlass_core::log::ids::{LaneId, RunId};
use windlass_runtime::ports::{OutboxMessage, Store};
use windlass_store::SqliteStore;

use crate::WORKER;
use crate::recorded_conversation::record_conversation;

/// Number of conversations in the file, so that what all of them share is not counted for one.
const CONVERSATIONS: usize = 20;

pub(crate) async fn measure_growth(folder: &Path) -> Result<String> {
    let place = folder.join("growth.db");
    drop(SqliteStore::open(&place)?);
    let empty = place.metadata()?.len();
    let (_, one) = fill_and_measure(&place, 1).await?;
    let (history, many) = fill_and_measure(&place, CONVERSATIONS).await?;
    let first = (one - empty) as f64 / history as f64;
    let each = (many - one) as f64 / (CONVERSATIONS - 1) as f64 / history as f64;
    Ok(format!(
        "growth: 20 rounds, {history} bytes of history: empty file {empty} bytes, the first conversation \
         adds {first:.2}x, each later one {each:.2}x"
    ))
}

/// Fills the file with this many conversations and closes it; returns the history bytes of one and
/// the size.
async fn fill_and_measure(place: &Path, conversations: usize) -> Result<(u64, u64)> {
    let store = SqliteStore::open(place)?;
    let mut history = 0;
    for no in 0..conversations {
        let lane = LaneId::from(format!("conversation:0199d1c0-7a4e-7c30-9f00-{no:012}"));
        if store.lane_info(lane.clone()).await?.is_none() {
            history = write_conversation(&store, lane, no).await?;
        }
    }
    drop(store);
    Ok((history, place.metadata()?.len()))
}

async fn write_conversation(store: &SqliteStore, lane: LaneId, no: usize) -> Result<u64> {
    let story = record_conversation(20, 25_000)?;
    let run = RunId::from(format!("0199d1c0-7a4e-7c30-9f01-{no:012}"));
    let letter =
        OutboxMessage { idempotency_key: Arc::from(run.as_str()), body: story.prompt.clone() };
    let mail = store.enqueue_message(lane.clone(), letter).await?.message;
    let epoch = store.claim_lane(lane.clone(), Arc::from(WORKER), None).await?.epoch;
    for (head, step) in (0..).zip(&story.steps) {
        let mut append = step.to_append(&lane, epoch, head, &run);
        append.messages_read = step.reads_mail.then_some(mail).into_iter().collect();
        store.append(append).await?;
    }
    store.release_lane(lane, Arc::from(WORKER), epoch).await?;
    Ok(story.history_bytes)
}
