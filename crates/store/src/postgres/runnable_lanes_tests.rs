//! Statements that a worker polls must not become slower with the number of idle lanes.

use tokio_postgres::types::Type;

use super::super::PostgresStore;
use super::super::connection::{PgConnection, TypedSql};
use super::super::heartbeats::OWNER_HEARTBEATS;
use super::{CLAIM_RUNNABLE, LANES_WITH_MESSAGES};

/// Parked lanes, with messages that were read long ago. Scanning them takes hundreds of pages.
const PARKED_LANES: &str = "INSERT INTO lane (id, epoch, head, active_run)
        SELECT 'parked:' || n, 1, 1, 'run' FROM generate_series(1, 20000) n;
    INSERT INTO inbox (lane_no, message_id, idempotency_key, kind, read_seq)
        SELECT no, 1, 'k', 'prompt', 1 FROM lane";

/// Maximum number of pages that a statement may read: a few for each index that is probed.
const MAX_PAGES: u64 = 60;

/// Returns how many pages the statement reads when it finds nothing.
async fn count_pages(connection: &mut PgConnection, name: &str, sql: &TypedSql) -> u64 {
    let given = sql.types.iter().map(|kind| match *kind {
        Type::TEXT_ARRAY => "'{}'",
        Type::INT8 => "1",
        _ => "'w'",
    });
    let given: Vec<&str> = given.collect();
    let given = if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) };
    let types: Vec<&str> = sql.types.iter().map(Type::name).collect();
    let types = if types.is_empty() { String::new() } else { format!("({})", types.join(", ")) };
    connection.execute_batch(&format!("PREPARE {name} {types} AS {}", sql.text)).await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE {name} {given}");
    let explain: &'static TypedSql = Box::leak(Box::new(TypedSql::new(&explain, &[])));
    let steps = connection.query(explain, &[]).await.unwrap();
    let steps: Vec<String> = steps.iter().map(|row| row.get(0)).collect();
    // The first `Buffers` line is that of the whole statement.
    let whole = steps.iter().find(|step| step.trim().starts_with("Buffers: shared"));
    let counts = whole.into_iter().flat_map(|step| step.split(['=', ' ']));
    counts.filter_map(|word| word.parse::<u64>().ok()).sum()
}

// spec: FAULT-59
#[tokio::test]
async fn looking_for_work_walks_no_lane_that_is_parked() {
    let store = PostgresStore::open(&windlass_cluster::fresh_database().await.unwrap()).await;
    let store = store.unwrap();
    let mut connection = PgConnection::connect(&store.config).await.unwrap();
    connection.execute_batch(PARKED_LANES).await.unwrap();
    for (name, analyse) in [("before", "SELECT 1"), ("after", "ANALYZE lane; ANALYZE inbox")] {
        connection.execute_batch(analyse).await.unwrap();
        let statements = [
            ("claim", &*CLAIM_RUNNABLE),
            ("owners", &*OWNER_HEARTBEATS),
            ("with_messages", &*LANES_WITH_MESSAGES),
        ];
        for (what, sql) in statements {
            let looked_at = count_pages(&mut connection, &format!("{what}_{name}"), sql).await;
            assert!(
                looked_at < MAX_PAGES,
                "{what} looks at {looked_at} pages {name} the tables are known"
            );
        }
        let all = TypedSql::new("SELECT id FROM lane WHERE head = 2", &[]);
        assert!(count_pages(&mut connection, &format!("all_{name}"), &all).await > MAX_PAGES);
    }
}
