//! What a conversation costs on the disk once the log is moved into the file.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use windlass_core::ids::{LaneId, RunId};
use windlass_runtime::ports::{Letter, Store};
use windlass_store::SqliteStore;

use crate::WORKER;
use crate::story::tell;

/// Conversations in the file, so that what is shared by all of them is not counted as one's own.
const CONVERSATIONS: usize = 20;

pub(crate) async fn measure(folder: &Path) -> Result<String> {
    let place = folder.join("growth.db");
    drop(SqliteStore::open(&place)?);
    let empty = place.metadata()?.len();
    let (_, one) = after(&place, 1).await?;
    let (history, many) = after(&place, CONVERSATIONS).await?;
    let first = (one - empty) as f64 / history as f64;
    let each = (many - one) as f64 / (CONVERSATIONS - 1) as f64 / history as f64;
    Ok(format!(
        "growth: 20 rounds, {history} bytes of history: empty file {empty} bytes, the first conversation \
         adds {first:.2}x, each later one {each:.2}x"
    ))
}

/// Brings the file to so many conversations and closes it; gives the history of one and the size.
async fn after(place: &Path, conversations: usize) -> Result<(u64, u64)> {
    let store = SqliteStore::open(place)?;
    let mut history = 0;
    for no in 0..conversations {
        let lane = LaneId::from(format!("conversation:0199d1c0-7a4e-7c30-9f00-{no:012}"));
        if store.lane(lane.clone()).await?.is_none() {
            history = write(&store, lane, no).await?;
        }
    }
    drop(store);
    Ok((history, place.metadata()?.len()))
}

async fn write(store: &SqliteStore, lane: LaneId, no: usize) -> Result<u64> {
    let story = tell(20, 25_000)?;
    let run = RunId::from(format!("0199d1c0-7a4e-7c30-9f01-{no:012}"));
    let letter = Letter { key: Arc::from(run.as_str()), body: story.prompt.clone() };
    let mail = store.deliver(lane.clone(), letter).await?.mail;
    let epoch = store.claim(lane.clone(), Arc::from(WORKER), None).await?.epoch;
    for (head, step) in (0..).zip(&story.steps) {
        let mut append = step.append(&lane, epoch, head, &run);
        append.mail_read = step.reads_mail.then_some(mail).into_iter().collect();
        store.append(append).await?;
    }
    store.release(lane, Arc::from(WORKER), epoch).await?;
    Ok(story.history_bytes)
}
