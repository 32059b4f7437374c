//! Session settings that every connection applies, whatever the server's defaults are.

use super::super::PostgresStore;
use super::{PgConnection, TypedSql};

async fn setting(connection: &mut PgConnection, name: &str) -> String {
    let ask: &'static TypedSql =
        Box::leak(Box::new(TypedSql::new(&format!("SELECT current_setting('{name}')"), &[])));
    connection.query(ask, &[]).await.unwrap().first().unwrap().get(0)
}

// spec: SCALE-07
#[tokio::test]
async fn commits_wait_for_the_disk_also_where_the_server_would_not() {
    let url = windlass_cluster::fresh_database().await.unwrap();
    let name = url.rsplit('/').next().unwrap();
    let lax = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    windlass_cluster::run_query(&url, &lax).await.unwrap();
    let store = PostgresStore::open(&url).await.unwrap();
    let mut bare = PgConnection::connect_without_settings(&store.config).await.unwrap();
    assert_eq!(setting(&mut bare, "synchronous_commit").await, "off");
    let mut connection = PgConnection::connect(&store.config).await.unwrap();
    assert_eq!(setting(&mut connection, "synchronous_commit").await, "on");
}
