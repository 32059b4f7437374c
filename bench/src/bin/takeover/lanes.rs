//! The lanes, looked at past the product.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use windlass::core::block::Block;
use windlass::core::ids::{LaneId, RunId};
use windlass::core::mail::MailBody;
use windlass::ports::{Letter, Store};
use windlass_cluster::ask;
use windlass_store::PostgresStore;

use crate::clock;

/// How long all conversations may take to begin.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Lanes {
    pub(crate) url: String,
}

/// A lane as it was when its owner was struck.
pub(crate) struct Left {
    pub(crate) id: String,
    owner: String,
    head: i64,
}

impl Lanes {
    /// Sends a prompt to so many lanes and waits until each is driven.
    pub(crate) async fn fill(&self, number: usize) -> Result<()> {
        let store = PostgresStore::open(&self.url).await?;
        for nth in 0..number {
            store.deliver(LaneId::from(format!("conversation:{nth}")), prompt(nth)).await?;
        }
        let begin = clock::now();
        while self.driven().await? < number {
            ensure!(begin.elapsed() < PATIENCE, "not all conversations began");
            clock::pause(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    async fn driven(&self) -> Result<usize> {
        let sql = "SELECT 1 FROM lane WHERE owner IS NOT NULL AND active_run IS NOT NULL";
        Ok(ask(&self.url, sql).await?.len())
    }

    /// The lanes of the worker with this process number, which is part of its name.
    pub(crate) async fn of(&self, pid: i32) -> Result<Vec<Left>> {
        let sql = format!("SELECT id, owner, head FROM lane WHERE owner LIKE '%+{pid}+%'");
        let rows = ask(&self.url, &sql).await?;
        Ok(rows.iter().map(|r| Left { id: r.get(0), owner: r.get(1), head: r.get(2) }).collect())
    }

    /// Which of them have been written to by another owner.
    pub(crate) async fn moved_on(&self, left: &[Left]) -> Result<HashSet<String>> {
        let rows =
            ask(&self.url, "SELECT id, owner, head FROM lane WHERE owner IS NOT NULL").await?;
        let now: Vec<Left> =
            rows.iter().map(|r| Left { id: r.get(0), owner: r.get(1), head: r.get(2) }).collect();
        let moved = |was: &&Left| {
            now.iter().any(|is| is.id == was.id && is.owner != was.owner && is.head > was.head)
        };
        Ok(left.iter().filter(moved).map(|was| was.id.clone()).collect())
    }
}

pub(crate) fn prompt(nth: usize) -> Letter {
    let run = RunId::derived(&format!("run-{nth}"));
    let body = MailBody::prompt(run, vec![Block::text("go")]);
    Letter { key: Arc::from(format!("prompt-{nth}")), body }
}
