//! Reads of one reply run side by side.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Deserialize;
use tempfile::TempDir;
use windlass::core::outcome::ToolError;
use windlass::ports::CallContext;
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::tools::Custom;
use windlass::tools::schemars::{self, JsonSchema};
use windlass::{End, Windlass};

use crate::time;

/// Reads in one reply, and how long each takes.
const READS: usize = 6;
const READ_MS: u64 = 100;

const REPEATS: usize = 15;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Look {
    /// Which
    number: usize,
}

#[expect(clippy::disallowed_methods, reason = "a read that takes its time")]
async fn look(_call: CallContext, asked: Look) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(READ_MS)).await;
    Ok(asked.number.to_string())
}

/// The same runtime as the binary's, in this process: a file that takes 100 ms to read cannot be
/// made.
pub(crate) fn report() -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let walls = runtime.block_on(walls())?;
    println!(
        "{READS} reads of {READ_MS} ms in one reply: {:.1} ms at least, {:.1} ms in the middle of \
         {REPEATS}, prompt to answer",
        time::least(&walls),
        time::median(walls)
    );
    Ok(())
}

async fn walls() -> Result<Vec<f64>> {
    let place = TempDir::new()?;
    let calls: String =
        (0..READS).map(|number| format!("  call Look {{\"number\": {number}}}\n")).collect();
    let script = format!("when results 0\n{calls}when any\n  say \"done\"\n");
    let windlass = Windlass::builder()
        .scripted(Script::parse(&script)?)
        .shared_store(Arc::new(SqliteStore::open(place.path().join("bench.db"))?))
        .tool(Custom::new("Look", "Looks slowly.", look).read_only())
        .allow("Look")
        .start()
        .await?;
    let mut walls = Vec::new();
    for number in 0..REPEATS {
        let started = time::now();
        let run = windlass.session(format!("conversation:{number}")).send("go").await?;
        match run.end().await? {
            End::Finished(_) => walls.push(started.elapsed().as_secs_f64() * 1e3),
            other => bail!("it did not finish: {other:?}"),
        }
    }
    Ok(walls)
}
