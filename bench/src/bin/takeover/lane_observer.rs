//! Observes lanes directly in the database, without the product's code.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::message::content_block::ContentBlock;
use windlass::ports::{OutboxMessage, Store};
use windlass_bench::time_stats;
use windlass_cluster::run_query;
use windlass_store::PostgresStore;

/// Time limit until all conversations have started.
const START_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct LaneObserver {
    pub(crate) url: String,
}

/// A lane as it was when its owner was stopped.
pub(crate) struct LaneSnapshot {
    pub(crate) id: String,
    owner: String,
    head: i64,
}

impl LaneObserver {
    /// Sends a prompt to this many lanes and waits until each is driven.
    pub(crate) async fn send_prompts(&self, number: usize) -> Result<()> {
        let store = PostgresStore::open(&self.url).await?;
        for nth in 0..number {
            store
                .enqueue_message(LaneId::from(format!("conversation:{nth}")), prompt_message(nth))
                .await?;
        }
        let begin = time_stats::current_time();
        while self.count_driven().await? < number {
            ensure!(begin.elapsed() < START_TIMEOUT, "not all conversations began");
            time_stats::pause(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    async fn count_driven(&self) -> Result<usize> {
        let sql = "SELECT 1 FROM lane WHERE owner IS NOT NULL AND active_run IS NOT NULL";
        Ok(run_query(&self.url, sql).await?.len())
    }

    /// The lanes of the worker with this process id, which is part of its name.
    pub(crate) async fn lanes_of_worker(&self, pid: i32) -> Result<Vec<LaneSnapshot>> {
        let sql = format!("SELECT id, owner, head FROM lane WHERE owner LIKE '%+{pid}+%'");
        let rows = run_query(&self.url, &sql).await?;
        Ok(rows
            .iter()
            .map(|r| LaneSnapshot { id: r.get(0), owner: r.get(1), head: r.get(2) })
            .collect())
    }

    /// Which of the lanes were written to by another owner.
    pub(crate) async fn taken_over_lanes(&self, left: &[LaneSnapshot]) -> Result<HashSet<String>> {
        let rows = run_query(&self.url, "SELECT id, owner, head FROM lane WHERE owner IS NOT NULL")
            .await?;
        let now: Vec<LaneSnapshot> = rows
            .iter()
            .map(|r| LaneSnapshot { id: r.get(0), owner: r.get(1), head: r.get(2) })
            .collect();
        let moved = |was: &&LaneSnapshot| {
            now.iter().any(|is| is.id == was.id && is.owner != was.owner && is.head > was.head)
        };
        Ok(left.iter().filter(moved).map(|was| was.id.clone()).collect())
    }
}

pub(crate) fn prompt_message(nth: usize) -> OutboxMessage {
    let run = RunId::from_name(&format!("run-{nth}"));
    let body = InboxCommand::prompt(run, vec![ContentBlock::text("go")]);
    OutboxMessage { idempotency_key: Arc::from(format!("prompt-{nth}")), body }
}
