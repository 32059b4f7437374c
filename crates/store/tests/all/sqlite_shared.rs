//! One file, several processes and stores.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use windlass_runtime::ports::{AppendRequest, Store, StoreError};
use windlass_store::SqliteStore;
use windlass_store::sqlite::SqliteSettings;

use crate::kit::{append_one, append_synced, claim_new_lane, file, folder, lane, message, open};

// spec: STORE-10
// spec: FAULT-25
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_on_one_file_both_progress() {
    let folder = folder();
    let path = file(&folder);
    // Opened at the same moment, before the file exists.
    let opened = [0, 1].map(|_| {
        let path = path.clone();
        tokio::task::spawn_blocking(move || SqliteStore::open(path))
    });
    let mut drivers = Vec::new();
    for (no, store) in opened.into_iter().enumerate() {
        let store = Arc::new(store.await.unwrap().unwrap());
        for part in 0..8 {
            let store = Arc::clone(&store);
            drivers.push(tokio::spawn(async move {
                let name = format!("{no}-{part}");
                let epoch = claim_new_lane(&*store, &name).await;
                for head in 0..150 {
                    let step = if head % 10 == 0 { append_synced } else { append_one };
                    store.append(step(&name, epoch, head, &"x".repeat(800))).await.unwrap();
                }
            }));
        }
    }
    for driver in drivers {
        driver.await.unwrap();
    }
    let store = open(&folder);
    store.check().await.unwrap();
    for name in (0..2).flat_map(|no| (0..8).map(move |part| format!("{no}-{part}"))) {
        assert_eq!(store.read_log(lane(&name), 0, 999).await.unwrap().len(), 150);
    }
}

// spec: STORE-03, STORE-10
// spec: FAULT-37
#[tokio::test]
async fn a_lane_has_one_owner_across_stores() {
    let folder = folder();
    let (one, two) = (open(&folder), open(&folder));
    let epoch = claim_new_lane(&one, "a").await;
    let refused = two.claim_lane(lane("a"), Arc::from("v"), None).await;
    let Err(StoreError::Busy { owner, .. }) = refused else { panic!("{refused:?}") };
    two.enqueue_message(lane("a"), message("from two")).await.unwrap();
    assert_eq!(one.read_inbox(lane("a"), 9).await.unwrap().len(), 2);
    let taken = two.claim_lane(lane("a"), Arc::from("v"), Some(owner)).await.unwrap().epoch;
    let stale = one.append(append_one("a", epoch, 0, "1")).await;
    assert_eq!(stale, Err(StoreError::Fenced { lane: lane("a") }));
    two.append(AppendRequest { owner: Arc::from("v"), ..append_one("a", taken, 0, "1") })
        .await
        .unwrap();
}

#[tokio::test]
async fn held_for_too_long_is_said_and_passes() {
    let folder = folder();
    let settings =
        SqliteSettings { busy_timeout: Duration::from_millis(60), ..SqliteSettings::default() };
    let store = SqliteStore::open_with(file(&folder), &settings).unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    let holder = Connection::open(file(&folder)).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.append(append_one("a", epoch, 0, "1")).await;
    let Err(StoreError::Locked { waited_ms, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(waited_ms, 60);
    assert_eq!(store.read_log(lane("a"), 0, 9).await.unwrap(), []);
    holder.execute_batch("ROLLBACK").unwrap();
    store.append(append_one("a", epoch, 0, "1")).await.unwrap();
}

#[tokio::test]
async fn a_reader_of_another_program_blocks_nobody() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    let reader = Connection::open(file(&folder)).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry").unwrap();
    // Enough for several checkpoints that cannot restart the log.
    for head in 0..120 {
        store.append(append_one("a", epoch, head, &"x".repeat(200_000))).await.unwrap();
    }
    drop(reader);
    assert_eq!(store.read_log(lane("a"), 110, 99).await.unwrap().len(), 10);
}
