//! Errors that a server reports now and then: disk full, conflicts, clocks that jump. A trigger
//! raises them, so that they arrive over the wire like any other.

use std::sync::Arc;

use windlass_cluster::run_query;
use windlass_runtime::ports::{Store, StoreError};

use crate::kit::{
    append_one, append_synced, check_only_a_unreadable, claim_new_lane, lane, message,
};
use crate::postgres_kit::{database, open, strings};

/// Makes inserts into a table fail with `code`, as long as `condition` holds.
async fn fails(url: &str, table: &str, code: &str, condition: &str) {
    let function = format!(
        "CREATE FUNCTION fails_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF {condition} THEN RAISE EXCEPTION 'made to fail' USING ERRCODE = '{code}'; END IF;
             RETURN NEW; END $$"
    );
    run_query(url, &function).await.unwrap();
    let trigger = format!(
        "CREATE TRIGGER fails BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fails_{table}()"
    );
    run_query(url, &trigger).await.unwrap();
}

// spec: FAULT-22
/// Covers fault 22.
#[tokio::test]
async fn full_disk_loses_nothing_and_passes() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    let other = claim_new_lane(&store, "b").await;
    store.append(append_one("a", epoch, 0, "1")).await.unwrap();
    fails(&url, "entry", "53100", "octet_length(NEW.body) > 100").await;
    let huge = store.append(append_one("a", epoch, 1, &"x".repeat(200)));
    // An append that fits is not affected, also in the same batch.
    let (huge, small) = tokio::join!(huge, store.append(append_one("b", other, 0, "1")));
    let Err(error @ StoreError::DiskFull { .. }) = &huge else { panic!("{huge:?}") };
    assert!(error.to_string().contains("free some space"), "{error}");
    small.unwrap();
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 1);
    run_query(&url, "DROP TRIGGER fails ON entry").await.unwrap();
    store.append(append_one("a", epoch, 1, &"x".repeat(200))).await.unwrap();
}

// spec: FAULT-20
/// Covers fault 20: a sequence counts the attempts, because it is not rolled back with the
/// transaction.
#[tokio::test]
async fn conflicts_are_tried_again() {
    for code in ["40001", "40P01"] {
        let url = database().await;
        let store = open(&url).await;
        let epoch = claim_new_lane(&store, "a").await;
        run_query(&url, "CREATE SEQUENCE tries").await.unwrap();
        let often = "nextval('tries') % 4 <> 0";
        fails(&url, "entry", code, often).await;
        fails(&url, "inbox", code, often).await;
        for head in 0..5 {
            store.append(append_synced("a", epoch, head, "x")).await.unwrap();
            store.enqueue_message(lane("a"), message(&format!("k{head}"))).await.unwrap();
        }
        assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 5);
        assert_eq!(store.read_inbox(lane("a"), 9).await.unwrap().len(), 6);
        let tries: i64 =
            strings(&url, "SELECT last_value::text FROM tries").await[0].parse().unwrap();
        assert!(tries >= 40, "{tries}");
    }
}

// spec: FAULT-20
#[tokio::test]
async fn conflicts_without_end_end() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    fails(&url, "entry", "40001", "true").await;
    let refused = store.append(append_one("a", epoch, 0, "x")).await;
    assert!(matches!(refused, Err(StoreError::Broken { .. })), "{refused:?}");
    assert_eq!(store.lane_info(lane("a")).await.unwrap().unwrap().head, 0);
}

// spec: FAULT-36
/// Covers fault 36: claims compare heartbeat counts, and the times in the table are for people.
#[tokio::test]
async fn clocks_that_jump_change_nothing() {
    let url = database().await;
    let store = open(&url).await;
    store.record_heartbeat(Arc::from("w")).await.unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    for time in ["1970-01-01", "now() + interval '1 hour'", "now() - interval '1 hour'"] {
        let quoted = if time.starts_with("now") { time.to_owned() } else { format!("'{time}'") };
        run_query(&url, &format!("UPDATE worker SET heartbeat_at = {quoted}")).await.unwrap();
        let refused = store.claim_lane(lane("a"), Arc::from("v"), None).await;
        assert!(matches!(refused, Err(StoreError::Busy { .. })), "{time}: {refused:?}");
    }
    store.append(append_one("a", epoch, 0, "x")).await.unwrap();
}

#[tokio::test]
async fn damage_found_while_reading_is_said() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_one("a", epoch, 0, &"x".repeat(100_000))).await.unwrap();
    run_query(&url, "UPDATE inbox SET body = '{\"unknown/9\":{}}'").await.unwrap();
    run_query(&url, "UPDATE blob SET bytes = '\\xff'").await.unwrap();
    let message = store.read_inbox(lane("a"), 9).await;
    let Err(StoreError::Corrupt { reason, .. }) = &message else { panic!("{message:?}") };
    assert!(reason.contains("unknown/9"));
    let log = store.read_log(lane("a"), 0, 9).await;
    assert!(matches!(log, Err(StoreError::Corrupt { .. })), "{log:?}");
}

#[tokio::test]
async fn mail_that_cannot_be_read_keeps_no_other_lane_from_being_claimed() {
    let url = database().await;
    let store = open(&url).await;
    for name in ["a", "b"] {
        store.enqueue_message(lane(name), message("k")).await.unwrap();
    }
    let damaged = "UPDATE inbox SET body = '{\"unknown/9\":{}}'
         WHERE lane_no = (SELECT no FROM lane WHERE id = 'a')";
    run_query(&url, damaged).await.unwrap();
    check_only_a_unreadable(&store).await;
}
