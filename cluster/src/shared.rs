//! One server for all tests of a program, and a database of its own for each.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow};
use tokio_postgres::{NoTls, Row};

use crate::cluster::{Cluster, Disk};

/// A server somebody else keeps, with the right to make databases on it.
const GIVEN: &str = "WINDLASS_TEST_POSTGRES_URL";

static SHARED: LazyLock<Result<Cluster>> = LazyLock::new(|| Cluster::start(Disk::Trusted));

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// The address of an empty database.
pub async fn fresh_database() -> Result<String> {
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let name = format!("windlass_{}_{number}", std::process::id());
    let given = std::env::var(GIVEN).ok();
    let (maker, url) = match &given {
        Some(url) => (url.clone(), with_database(url, &name)?),
        None => {
            let shared = SHARED.as_ref().map_err(|error| anyhow!("{error:#}"))?;
            (shared.url("postgres"), shared.url(&name))
        }
    };
    ask(&maker, &format!("CREATE DATABASE {name}")).await?;
    Ok(url)
}

/// The same address with another database.
fn with_database(url: &str, name: &str) -> Result<String> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (server, _) =
        base.rsplit_once('/').with_context(|| format!("{GIVEN} names no database"))?;
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(format!("{server}/{name}{query}"))
}

/// Asks the server something, past the product.
pub async fn ask(url: &str, sql: &str) -> Result<Vec<Row>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let driver = tokio::spawn(connection);
    let rows = client.query(sql, &[]).await;
    drop(client);
    _ = driver.await;
    rows.with_context(|| format!("`{sql}`"))
}
