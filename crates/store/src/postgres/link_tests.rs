//! What every connection of ours is told, whatever the server says by default.

use super::super::PostgresStore;
use super::{Link, Sql};

async fn setting(link: &mut Link, name: &str) -> String {
    let ask: &'static Sql =
        Box::leak(Box::new(Sql::new(&format!("SELECT current_setting('{name}')"), &[])));
    link.query(ask, &[]).await.unwrap().first().unwrap().get(0)
}

// spec: SCALE-07
#[tokio::test]
async fn commits_wait_for_the_disk_also_where_the_server_would_not() {
    let url = windlass_cluster::fresh_database().await.unwrap();
    let name = url.rsplit('/').next().unwrap();
    let lax = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    windlass_cluster::ask(&url, &lax).await.unwrap();
    let store = PostgresStore::open(&url).await.unwrap();
    let mut bare = Link::bare(&store.home).await.unwrap();
    assert_eq!(setting(&mut bare, "synchronous_commit").await, "off");
    let mut link = Link::connect(&store.home).await.unwrap();
    assert_eq!(setting(&mut link, "synchronous_commit").await, "on");
}
