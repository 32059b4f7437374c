//! Helpers that the tests of PostgreSQL share.

use windlass_store::PostgresStore;

pub(crate) async fn database() -> String {
    windlass_cluster::fresh_database().await.unwrap()
}

pub(crate) async fn open(url: &str) -> PostgresStore {
    PostgresStore::open(url).await.unwrap()
}

/// Returns the first column of a query's result, as text.
pub(crate) async fn strings(url: &str, sql: &str) -> Vec<String> {
    let rows = windlass_cluster::run_query(url, sql).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}
