//! Which thread writes: the caller's own where there is only one, the store's writer thread
//! otherwise. Callers must not notice the difference.

use std::sync::Arc;
use std::task::{Context, Waker};

use rusqlite::Connection;
use windlass_runtime::ports::Store;

use crate::kit::{append_one, claim_new_lane, file, folder, lane, message, open};

/// Number of lanes that append concurrently.
const LANES: usize = 20;

async fn all_at_once(store: &Arc<windlass_store::SqliteStore>) -> u64 {
    let mut epochs = Vec::new();
    for no in 0..LANES {
        epochs.push(claim_new_lane(store.as_ref(), &no.to_string()).await);
    }
    let before = store.commits();
    let appends: Vec<_> = (0..LANES)
        .zip(epochs)
        .map(|(no, epoch)| {
            let store = Arc::clone(store);
            tokio::spawn(
                async move { store.append(append_one(&no.to_string(), epoch, 0, "{}")).await },
            )
        })
        .collect();
    for append in appends {
        append.await.unwrap().unwrap();
    }
    store.commits() - before
}

#[tokio::test]
async fn one_thread_commits_everything_that_is_ready_at_once() {
    let folder = folder();
    let store = Arc::new(open(&folder));
    assert_eq!(all_at_once(&store).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_threads_share_the_one_that_writes() {
    let folder = folder();
    let store = Arc::new(open(&folder));
    assert!((1..=LANES as u64).contains(&all_at_once(&store).await));
    for no in 0..LANES {
        assert_eq!(store.lane_info(lane(&no.to_string())).await.unwrap().unwrap().head, 1);
    }
}

#[tokio::test]
async fn a_file_that_somebody_holds_is_waited_for() {
    let folder = folder();
    let store = Arc::new(open(&folder));
    let epoch = claim_new_lane(store.as_ref(), "a").await;
    let other = Connection::open(file(&folder)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let appending = Arc::clone(&store);
    let append =
        tokio::spawn(async move { appending.append(append_one("a", epoch, 0, "{}")).await });
    for _ in 0..9 {
        tokio::task::yield_now().await;
    }
    assert!(!append.is_finished(), "it was written while somebody else wrote");
    other.execute_batch("ROLLBACK").unwrap();
    append.await.unwrap().unwrap();
}

#[test]
fn what_was_handed_over_is_done_although_its_runtime_ended() {
    let folder = folder();
    let store = open(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    {
        let _inside = runtime.enter();
        let mut deliver = store.enqueue_message(lane("a"), message("k"));
        let mut nobody = Context::from_waker(Waker::noop());
        assert!(deliver.as_mut().poll(&mut nobody).is_pending());
    }
    drop(runtime);
    drop(store);
    let again = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let waiting = again.block_on(async { open(&folder).read_inbox(lane("a"), 9).await.unwrap() });
    assert_eq!(waiting.len(), 1);
}

#[test]
fn another_runtime_goes_on_after_the_first_ended() {
    let folder = folder();
    let store = open(&folder);
    for key in ["one", "two", "three"] {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async { store.enqueue_message(lane("a"), message(key)).await.unwrap() });
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let waiting = runtime.block_on(async {
        store.enqueue_message(lane("a"), message("four")).await.unwrap();
        store.read_inbox(lane("a"), 9).await.unwrap()
    });
    assert_eq!(waiting.len(), 4);
}
