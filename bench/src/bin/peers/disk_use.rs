//! Pages that a durable turn writes to SQLite's log.

use anyhow::Result;
use windlass_bench::child_process::ServerProcess;
use windlass_bench::read_job::{FILE_BYTES, TURNS};

use crate::contender::Contender;
use crate::library_loop::STORE_FILE;

/// A page and its header in the log.
const LOGGED_PAGE_BYTES: u64 = 4096 + 24;

pub(crate) fn report(server: &ServerProcess) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), "x".repeat(FILE_BYTES))?;
    let log_bytes = || {
        let log = folder.path().join(format!("{STORE_FILE}-wal"));
        log.metadata().map_or(0, |log| log.len())
    };
    let (before, after) = runtime.block_on(async {
        let name = "sqlite";
        let contender = Contender::new(name, &server.url(name), TURNS, folder.path()).await?;
        contender.converse(TURNS, file.path()).await?;
        let before = log_bytes();
        contender.converse(TURNS, file.path()).await?;
        anyhow::Ok((before, log_bytes()))
    })?;
    let pages = after.saturating_sub(before) as f64 / LOGGED_PAGE_BYTES as f64 / TURNS as f64;
    println!("pages written per durable turn on SQLite: {pages:.1}\n");
    Ok(())
}
