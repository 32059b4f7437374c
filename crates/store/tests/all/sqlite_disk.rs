//! Disks that are full, fail or lose the file.

use std::fs;

use rusqlite::Connection;
use windlass_runtime::ports::{Store, StoreError};
use windlass_store::SqliteStore;
use windlass_store::sqlite::SqliteSettings;

use crate::kit::{
    append_one, append_synced, check_only_a_unreadable, claim_new_lane, file, folder, lane,
    message, open,
};

// spec: FAULT-22
#[tokio::test]
async fn full_disk_loses_nothing_and_passes() {
    let folder = folder();
    let settings = SqliteSettings { max_pages: Some(100), ..SqliteSettings::default() };
    let store = SqliteStore::open_with(file(&folder), &settings).unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    let mut head = 0;
    let full = loop {
        match store.append(append_one("a", epoch, head, &"x".repeat(10_000))).await {
            Ok(()) => head += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, StoreError::DiskFull { .. }), "{full}");
    assert!(head > 3);
    assert_eq!(store.lane_info(lane("a")).await.unwrap().unwrap().head, head);
    assert_eq!(store.read_log(lane("a"), 0, 999).await.unwrap().len() as u64, head);
    drop(store);
    let store = open(&folder);
    store.check().await.unwrap();
    store.append(append_synced("a", epoch, head, &"x".repeat(10_000))).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_spares_what_fits() {
    let folder = folder();
    let settings = SqliteSettings { max_pages: Some(100), ..SqliteSettings::default() };
    let store = SqliteStore::open_with(file(&folder), &settings).unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    let huge = store.append(append_one("a", epoch, 0, &"x".repeat(5_000_000)));
    let (huge, small) = tokio::join!(huge, store.enqueue_message(lane("b"), message("k")));
    assert!(matches!(huge, Err(StoreError::DiskFull { .. })), "{huge:?}");
    small.unwrap();
    store.append(append_one("a", epoch, 0, "1")).await.unwrap();
}

// spec: FAULT-24
#[tokio::test]
async fn a_file_replaced_under_us_ends_it() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_synced("a", epoch, 0, "1")).await.unwrap();
    fs::remove_file(file(&folder)).unwrap();
    let lost = store.append(append_synced("a", epoch, 1, "2")).await;
    let Err(StoreError::Broken { reason, .. }) = &lost else { panic!("{lost:?}") };
    assert!(reason.contains("deleted or replaced"));
    let after = store.append(append_one("a", epoch, 2, "3")).await;
    assert!(matches!(after, Err(StoreError::Broken { .. })), "{after:?}");
    let after = store.enqueue_message(lane("b"), message("k")).await;
    assert!(matches!(after, Err(StoreError::Broken { .. })), "{after:?}");
    drop(store);
    assert!(!file(&folder).exists());
}

#[tokio::test]
async fn damage_found_while_reading_is_said() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_synced("a", epoch, 0, &"x".repeat(100_000))).await.unwrap();
    drop(store);
    let raw = Connection::open(file(&folder)).unwrap();
    raw.execute_batch(
        "UPDATE inbox SET body = '{\"unknown/9\":{}}'; UPDATE blob SET bytes = x'ff'",
    )
    .unwrap();
    drop(raw);
    let store = open(&folder);
    let message = store.read_inbox(lane("a"), 9).await;
    let Err(StoreError::Corrupt { reason, .. }) = &message else { panic!("{message:?}") };
    assert!(reason.contains("unknown/9"));
    let log = store.read_log(lane("a"), 0, 9).await;
    assert!(matches!(log, Err(StoreError::Corrupt { .. })), "{log:?}");
}

#[tokio::test]
async fn mail_that_cannot_be_read_keeps_no_other_lane_from_being_claimed() {
    let folder = folder();
    let store = open(&folder);
    for name in ["a", "b"] {
        store.enqueue_message(lane(name), message("k")).await.unwrap();
    }
    let raw = Connection::open(file(&folder)).unwrap();
    let damaged = "UPDATE inbox SET body = '{\"unknown/9\":{}}'
         WHERE lane_no = (SELECT no FROM lane WHERE id = 'a')";
    raw.execute_batch(damaged).unwrap();
    check_only_a_unreadable(&store).await;
}

// spec: STORE-06
#[tokio::test]
async fn only_a_barrier_syncs() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    let before = store.syncs();
    for head in 0..20 {
        store.append(append_one("a", epoch, head, "x")).await.unwrap();
    }
    store.record_heartbeat("w".into()).await.unwrap();
    assert_eq!(store.syncs(), before);
    store.append(append_synced("a", epoch, 20, "x")).await.unwrap();
    assert_eq!(store.syncs(), before + 1);
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    assert_eq!(store.syncs(), before + 2);
}

/// The statement that an operator runs on a restored database, from `docs/scale.md`.
const MOVE_ON: &str = "UPDATE lane SET epoch = epoch + 1000000, owner = NULL";

// spec: FAULT-19, FAULT-58
#[tokio::test]
async fn an_older_copy_fences_whoever_knows_more() {
    let (new, old) = (folder(), folder());
    let store = open(&new);
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_one("a", epoch, 0, "1")).await.unwrap();
    drop(store);
    fs::copy(file(&new), file(&old)).unwrap();
    let store = open(&new);
    store.append(append_one("a", epoch, 1, "2")).await.unwrap();
    drop(store);
    // The copy is used instead, and lacks the newest entry.
    let store = open(&old);
    let ahead = store.append(append_one("a", epoch, 2, "3")).await;
    assert!(matches!(ahead, Err(StoreError::Fenced { .. })), "{ahead:?}");
    // An owner that knows no more than the copy is fenced as soon as the epochs are raised.
    drop(store);
    Connection::open(file(&old)).unwrap().execute_batch(MOVE_ON).unwrap();
    let store = open(&old);
    let stale = store.append(append_one("a", epoch, 1, "2")).await;
    assert!(matches!(stale, Err(StoreError::Fenced { .. })), "{stale:?}");
    assert!(
        store.claim_lane(lane("a"), std::sync::Arc::from("v"), None).await.unwrap().epoch > epoch
    );
}
