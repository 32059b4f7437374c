//! Parallel execution of the reads of one reply.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde::Deserialize;
use tempfile::TempDir;
use windlass::core::call::outcome::ToolError;
use windlass::ports::CallContext;
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::tools::FunctionTool;
use windlass::tools::schemars::{self, JsonSchema};
use windlass::{RunOutcome, Windlass};
use windlass_bench::time_stats;

/// Number of reads in one reply, and the duration of each.
const READS: usize = 6;
const READ_MS: u64 = 100;

const REPEATS: usize = 15;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LookInput {
    /// Which
    number: usize,
}

#[expect(clippy::disallowed_methods, reason = "a read that takes its time")]
async fn slow_read(_call: CallContext, asked: LookInput) -> Result<String, ToolError> {
    tokio::time::sleep(Duration::from_millis(READ_MS)).await;
    Ok(asked.number.to_string())
}

/// Measures the runtime of the binary in this process: no file takes 100 ms to read, so the tool is
/// simulated.
pub(crate) fn report() -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let walls = runtime.block_on(measure_wall_times())?;
    println!(
        "{READS} reads of {READ_MS} ms in one reply: {:.1} ms at least, {:.1} ms in the middle of \
         {REPEATS}, prompt to answer",
        time_stats::minimum(&walls),
        time_stats::median(walls)
    );
    Ok(())
}

async fn measure_wall_times() -> Result<Vec<f64>> {
    let place = TempDir::new()?;
    let calls: String =
        (0..READS).map(|number| format!("  call Look {{\"number\": {number}}}\n")).collect();
    let script = format!("when results 0\n{calls}when any\n  say \"done\"\n");
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(&script)?)
        .shared_store(Arc::new(SqliteStore::open(place.path().join("bench.db"))?))
        .tool(FunctionTool::new("Look", "Looks slowly.", slow_read).read_only())
        .allow("Look")
        .start()
        .await?;
    let mut walls = Vec::new();
    for number in 0..REPEATS {
        let started = time_stats::current_time();
        let run = windlass.session(format!("conversation:{number}")).send("go").await?;
        match run.wait_for_end().await? {
            RunOutcome::Finished(_) => walls.push(started.elapsed().as_secs_f64() * 1e3),
            other => bail!("it did not finish: {other:?}"),
        }
    }
    Ok(walls)
}
