//! Conversations that wait for a human, very many of them, and a worker that has nothing to do.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use windlass::Windlass;
use windlass::core::ids::{LaneId, Millis, RunId};
use windlass::core::mail::MailBody;
use windlass::core::record::Durability;
use windlass::ports::{Append, EncodedEntry, Letter, Store};
use windlass::sqlite::SqliteStore;

use crate::model::{Look, Slow};
use crate::place;

/// How many of them.
const LANES: usize = 100_000;

/// Who drove them until they had to wait.
const MAKER: &str = "maker";

/// How many are made at once.
const AT_ONCE: usize = 256;

/// How long the worker is watched.
const WATCHED: Duration = Duration::from_secs(10);

/// Prints what a worker uses up beside so many parked conversations, and beside none.
pub(crate) async fn measure(folder: &Path) -> Result<()> {
    let store = Arc::new(SqliteStore::open(folder.join("parked.db"))?);
    let none = watch(Arc::clone(&store)).await?;
    let mut making = tokio::task::JoinSet::new();
    for nth in 0..LANES {
        let store = Arc::clone(&store);
        making.spawn(async move { park(store.as_ref(), nth).await });
        if making.len() >= AT_ONCE {
            making.join_next().await.transpose()?.transpose()?;
        }
    }
    while let Some(made) = making.join_next().await {
        made??;
    }
    drop(store);
    // Opened anew: what making them left in memory is not the worker's.
    let store = Arc::new(SqliteStore::open(folder.join("parked.db"))?);
    let many = watch(store).await?;
    println!("\nparked conversations, a worker watched for {} s:", WATCHED.as_secs());
    for (number, used) in [(0, none), (LANES, many)] {
        println!("{number:>8} parked: {:>6.1} ms of CPU, {:>6} KiB more memory", used.0, used.1);
    }
    Ok(())
}

/// A lane that was driven until it had to wait.
async fn park(store: &SqliteStore, nth: usize) -> Result<()> {
    let lane = LaneId::from(format!("parked:{nth}"));
    let body = MailBody::Cancel { run: Some(RunId::from("gone")) };
    let mail = store.deliver(lane.clone(), Letter { key: Arc::from("k"), body }).await?.mail;
    let epoch = store.claim(lane.clone(), Arc::from(MAKER), None).await?.epoch;
    let line = Arc::from("{\"parked\":true}");
    let append = Append {
        lane: lane.clone(),
        owner: Arc::from(MAKER),
        epoch,
        head: 0,
        entries: vec![EncodedEntry { seq: 1, at: Millis(1), line }],
        mail_read: vec![mail],
        mail_out: Vec::new(),
        rows: Vec::new(),
        wake_at: None,
        active_run: Some(RunId::from(format!("run:{nth}"))),
        durability: Durability::Commit,
        spending: None,
    };
    store.append(append).await?;
    Ok(store.release(lane, Arc::from(MAKER), epoch).await?)
}

/// CPU and memory that a worker uses while nothing wants to be driven.
#[expect(clippy::disallowed_methods, reason = "a benchmark watches for a while")]
async fn watch(store: Arc<SqliteStore>) -> Result<(f64, u64)> {
    let windlass = Windlass::builder()
        .model(Slow { rounds: 1 })
        .shared_store(store)
        .tool(Look)
        .start()
        .await?;
    let working = tokio::spawn({
        let windlass = windlass.clone();
        async move { windlass.work().await }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (cpu, memory) = (place::cpu_ms(), place::resident_kb());
    tokio::time::sleep(WATCHED).await;
    let used = (place::cpu_ms() - cpu, place::resident_kb().saturating_sub(memory));
    windlass.hand_over();
    working.await??;
    Ok(used)
}
