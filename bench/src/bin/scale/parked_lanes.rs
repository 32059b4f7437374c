//! Cost of an idle worker beside very many conversations that wait for a human.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use windlass::Windlass;
use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::log::record::Durability;
use windlass::ports::{AppendRequest, EncodedEntry, OutboxMessage, Store};
use windlass::sqlite::SqliteStore;

use crate::process_stats;
use crate::slow_model::{LookTool, SlowModel};

/// Number of parked conversations.
const LANE_COUNT: usize = 100_000;

/// The worker that drove the conversations until they were parked.
const MAKER_WORKER: &str = "maker";

/// Number of conversations that are created concurrently.
const CONCURRENCY: usize = 256;

/// How long the worker is measured.
const WATCH_TIME: Duration = Duration::from_secs(10);

/// Prints what a worker uses beside this many parked conversations, and beside none.
pub(crate) async fn measure_idle_worker(folder: &Path) -> Result<()> {
    let store = Arc::new(SqliteStore::open(folder.join("parked.db"))?);
    let none = watch_worker(Arc::clone(&store)).await?;
    let mut making = tokio::task::JoinSet::new();
    for nth in 0..LANE_COUNT {
        let store = Arc::clone(&store);
        making.spawn(async move { create_parked_lane(store.as_ref(), nth).await });
        if making.len() >= CONCURRENCY {
            making.join_next().await.transpose()?.transpose()?;
        }
    }
    while let Some(made) = making.join_next().await {
        made??;
    }
    drop(store);
    // Opened again, so that memory left by creating the lanes is not counted for the worker.
    let store = Arc::new(SqliteStore::open(folder.join("parked.db"))?);
    let many = watch_worker(store).await?;
    println!("\nparked conversations, a worker watched for {} s:", WATCH_TIME.as_secs());
    for (number, used) in [(0, none), (LANE_COUNT, many)] {
        println!("{number:>8} parked: {:>6.1} ms of CPU, {:>6} KiB more memory", used.0, used.1);
    }
    Ok(())
}

/// Creates a lane that was driven until it was parked.
async fn create_parked_lane(store: &SqliteStore, nth: usize) -> Result<()> {
    let lane = LaneId::from(format!("parked:{nth}"));
    let body = InboxCommand::Cancel { run: Some(RunId::from("gone")) };
    let mail = store
        .enqueue_message(lane.clone(), OutboxMessage { idempotency_key: Arc::from("k"), body })
        .await?
        .message;
    let epoch = store.claim_lane(lane.clone(), Arc::from(MAKER_WORKER), None).await?.epoch;
    let line = Arc::from("{\"parked\":true}");
    let append = AppendRequest {
        lane: lane.clone(),
        owner: Arc::from(MAKER_WORKER),
        epoch,
        head: 0,
        entries: vec![EncodedEntry { seq: 1, at: UnixMillis(1), line }],
        messages_read: vec![mail],
        outbox: Vec::new(),
        rows: Vec::new(),
        wake_at: None,
        active_run: Some(RunId::from(format!("run:{nth}"))),
        durability: Durability::Commit,
        spending: None,
    };
    store.append(append).await?;
    Ok(store.release_lane(lane, Arc::from(MAKER_WORKER), epoch).await?)
}

/// Measures CPU and memory of a worker while no lane is due.
#[expect(clippy::disallowed_methods, reason = "a benchmark watches for a while")]
async fn watch_worker(store: Arc<SqliteStore>) -> Result<(f64, u64)> {
    let windlass = Windlass::builder()
        .model(SlowModel { rounds: 1 })
        .shared_store(store)
        .tool(LookTool)
        .start()
        .await?;
    let working = tokio::spawn({
        let windlass = windlass.clone();
        async move { windlass.run_worker().await }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (cpu, memory) = (process_stats::cpu_ms(), process_stats::resident_kb());
    tokio::time::sleep(WATCH_TIME).await;
    let used = (process_stats::cpu_ms() - cpu, process_stats::resident_kb().saturating_sub(memory));
    windlass.hand_over();
    working.await??;
    Ok(used)
}
