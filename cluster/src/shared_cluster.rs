//! One server for all tests of a program, with a separate database for each.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow};
use tokio_postgres::{NoTls, Row};

use crate::cluster::{DiskMode, PostgresCluster};

/// URL of an external server with the right to create databases.
const SERVER_URL_VARIABLE: &str = "WINDLASS_TEST_POSTGRES_URL";

static SHARED_CLUSTER: LazyLock<Result<PostgresCluster>> =
    LazyLock::new(|| PostgresCluster::start(DiskMode::Trusted));

static DATABASE_NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Creates an empty database and returns its URL.
pub async fn fresh_database() -> Result<String> {
    let number = DATABASE_NUMBERS.fetch_add(1, Ordering::Relaxed);
    let name = format!("windlass_{}_{number}", std::process::id());
    let given = std::env::var(SERVER_URL_VARIABLE).ok();
    let (maker, url) = match &given {
        Some(url) => (url.clone(), with_database(url, &name)?),
        None => {
            let shared = SHARED_CLUSTER.as_ref().map_err(|error| anyhow!("{error:#}"))?;
            (shared.url("postgres"), shared.url(&name))
        }
    };
    run_query(&maker, &format!("CREATE DATABASE {name}")).await?;
    Ok(url)
}

/// The URL with another database.
fn with_database(url: &str, name: &str) -> Result<String> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (server, _) = base
        .rsplit_once('/')
        .with_context(|| format!("{SERVER_URL_VARIABLE} names no database"))?;
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(format!("{server}/{name}{query}"))
}

/// Runs a query on the server directly, without the product's code.
pub async fn run_query(url: &str, sql: &str) -> Result<Vec<Row>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let driver = tokio::spawn(connection);
    let rows = client.query(sql, &[]).await;
    drop(client);
    _ = driver.await;
    rows.with_context(|| format!("`{sql}`"))
}
