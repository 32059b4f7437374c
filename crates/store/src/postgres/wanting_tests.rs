//! What a worker asks again and again must not grow with the lanes that wait for nothing.

use tokio_postgres::types::Type;

use super::super::PostgresStore;
use super::super::claim::CLAIM_WANTING;
use super::super::link::{Link, Sql};
use super::{MAILED, OWNERS};

/// Lanes that are parked, with mail that was read long ago. Walking them takes hundreds of pages.
const PARKED: &str = "INSERT INTO lane (id, epoch, head, active_run)
        SELECT 'parked:' || n, 1, 1, 'run' FROM generate_series(1, 20000) n;
    INSERT INTO mail (lane_no, mail_id, client_key, kind, read_seq)
        SELECT no, 1, 'k', 'prompt', 1 FROM lane";

/// Pages that may be looked at: a few for each index that is probed.
const FEW: u64 = 60;

/// Pages that the statement looks at, with nothing to be found.
async fn pages(link: &mut Link, name: &str, sql: &Sql) -> u64 {
    let given = sql.types.iter().map(|kind| match *kind {
        Type::TEXT_ARRAY => "'{}'",
        Type::INT8 => "1",
        _ => "'w'",
    });
    let given: Vec<&str> = given.collect();
    let given = if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) };
    let types: Vec<&str> = sql.types.iter().map(Type::name).collect();
    let types = if types.is_empty() { String::new() } else { format!("({})", types.join(", ")) };
    link.batch(&format!("PREPARE {name} {types} AS {}", sql.text)).await.unwrap();
    let explain = format!("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE {name} {given}");
    let explain: &'static Sql = Box::leak(Box::new(Sql::new(&explain, &[])));
    let steps = link.query(explain, &[]).await.unwrap();
    let steps: Vec<String> = steps.iter().map(|row| row.get(0)).collect();
    // The first line of its kind is that of the whole statement.
    let whole = steps.iter().find(|step| step.trim().starts_with("Buffers: shared"));
    let counts = whole.into_iter().flat_map(|step| step.split(['=', ' ']));
    counts.filter_map(|word| word.parse::<u64>().ok()).sum()
}

// spec: FAULT-59
#[tokio::test]
async fn looking_for_work_walks_no_lane_that_is_parked() {
    let store = PostgresStore::open(&windlass_cluster::fresh_database().await.unwrap()).await;
    let store = store.unwrap();
    let mut link = Link::connect(&store.home).await.unwrap();
    link.batch(PARKED).await.unwrap();
    for (name, analyse) in [("before", "SELECT 1"), ("after", "ANALYZE lane; ANALYZE mail")] {
        link.batch(analyse).await.unwrap();
        let statements = [("claim", &*CLAIM_WANTING), ("owners", &*OWNERS), ("mailed", &*MAILED)];
        for (what, sql) in statements {
            let looked_at = pages(&mut link, &format!("{what}_{name}"), sql).await;
            assert!(
                looked_at < FEW,
                "{what} looks at {looked_at} pages {name} the tables are known"
            );
        }
        let all = Sql::new("SELECT id FROM lane WHERE head = 2", &[]);
        assert!(pages(&mut link, &format!("all_{name}"), &all).await > FEW);
    }
}
