//! What a server says now and then: full, in conflict, at another time. Said by a trigger, heard over
//! the wire like any other.

use std::sync::Arc;

use windlass_cluster::ask;
use windlass_runtime::ports::{Store, StoreError};

use crate::kit::{barrier, lane, letter, only_the_mail_of_a_is_unreadable, owned, step};
use crate::postgres_kit::{database, open, strings};

/// Makes inserts into a table fail with `code`, as long as `condition` holds.
async fn fails(url: &str, table: &str, code: &str, condition: &str) {
    let function = format!(
        "CREATE FUNCTION fails_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF {condition} THEN RAISE EXCEPTION 'made to fail' USING ERRCODE = '{code}'; END IF;
             RETURN NEW; END $$"
    );
    ask(url, &function).await.unwrap();
    let trigger = format!(
        "CREATE TRIGGER fails BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fails_{table}()"
    );
    ask(url, &trigger).await.unwrap();
}

// spec: FAULT-22
/// Fault 22.
#[tokio::test]
async fn full_disk_loses_nothing_and_passes() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = owned(&store, "a").await;
    let other = owned(&store, "b").await;
    store.append(step("a", epoch, 0, "1")).await.unwrap();
    fails(&url, "entry", "53100", "octet_length(NEW.body) > 100").await;
    let huge = store.append(step("a", epoch, 1, &"x".repeat(200)));
    // What fits is spared, also in the same batch.
    let (huge, small) = tokio::join!(huge, store.append(step("b", other, 0, "1")));
    let Err(error @ StoreError::Full { .. }) = &huge else { panic!("{huge:?}") };
    assert!(error.to_string().contains("free some space"), "{error}");
    small.unwrap();
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 1);
    ask(&url, "DROP TRIGGER fails ON entry").await.unwrap();
    store.append(step("a", epoch, 1, &"x".repeat(200))).await.unwrap();
}

// spec: FAULT-20
/// Fault 20: a sequence counts, because it is not undone with the transaction.
#[tokio::test]
async fn conflicts_are_tried_again() {
    for code in ["40001", "40P01"] {
        let url = database().await;
        let store = open(&url).await;
        let epoch = owned(&store, "a").await;
        ask(&url, "CREATE SEQUENCE tries").await.unwrap();
        let often = "nextval('tries') % 4 <> 0";
        fails(&url, "entry", code, often).await;
        fails(&url, "mail", code, often).await;
        for head in 0..5 {
            store.append(barrier("a", epoch, head, "x")).await.unwrap();
            store.deliver(lane("a"), letter(&format!("k{head}"))).await.unwrap();
        }
        assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap().len(), 5);
        assert_eq!(store.read_mail(lane("a"), 9).await.unwrap().len(), 6);
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
    let epoch = owned(&store, "a").await;
    fails(&url, "entry", "40001", "true").await;
    let refused = store.append(step("a", epoch, 0, "x")).await;
    assert!(matches!(refused, Err(StoreError::Broken { .. })), "{refused:?}");
    assert_eq!(store.lane(lane("a")).await.unwrap().unwrap().head, 0);
}

// spec: FAULT-36
/// Fault 36: takeovers compare counts, and the times in the table are for people.
#[tokio::test]
async fn clocks_that_jump_change_nothing() {
    let url = database().await;
    let store = open(&url).await;
    store.beat(Arc::from("w")).await.unwrap();
    let epoch = owned(&store, "a").await;
    for time in ["1970-01-01", "now() + interval '1 hour'", "now() - interval '1 hour'"] {
        let quoted = if time.starts_with("now") { time.to_owned() } else { format!("'{time}'") };
        ask(&url, &format!("UPDATE worker SET beat_at = {quoted}")).await.unwrap();
        let refused = store.claim(lane("a"), Arc::from("v"), None).await;
        assert!(matches!(refused, Err(StoreError::Busy { .. })), "{time}: {refused:?}");
    }
    store.append(step("a", epoch, 0, "x")).await.unwrap();
}

#[tokio::test]
async fn damage_found_while_reading_is_said() {
    let url = database().await;
    let store = open(&url).await;
    let epoch = owned(&store, "a").await;
    store.append(step("a", epoch, 0, &"x".repeat(100_000))).await.unwrap();
    ask(&url, "UPDATE mail SET body = '{\"unknown/9\":{}}'").await.unwrap();
    ask(&url, "UPDATE blob SET bytes = '\\xff'").await.unwrap();
    let mail = store.read_mail(lane("a"), 9).await;
    let Err(StoreError::Corrupt { reason, .. }) = &mail else { panic!("{mail:?}") };
    assert!(reason.contains("unknown/9"));
    let log = store.read_log(lane("a"), 0, 9).await;
    assert!(matches!(log, Err(StoreError::Corrupt { .. })), "{log:?}");
}

#[tokio::test]
async fn mail_that_cannot_be_read_keeps_no_other_lane_from_being_claimed() {
    let url = database().await;
    let store = open(&url).await;
    for name in ["a", "b"] {
        store.deliver(lane(name), letter("k")).await.unwrap();
    }
    let damaged = "UPDATE mail SET body = '{\"unknown/9\":{}}'
         WHERE lane_no = (SELECT no FROM lane WHERE id = 'a')";
    ask(&url, damaged).await.unwrap();
    only_the_mail_of_a_is_unreadable(&store).await;
}
