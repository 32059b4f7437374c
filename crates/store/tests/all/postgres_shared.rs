//! One database, several stores.

use std::sync::Arc;
use std::time::Duration;

use windlass_core::log::ids::UnixMillis;
use windlass_runtime::ports::{AppendRequest, ClaimQuery, Store, StoreError, WorkerScope};
use windlass_store::PostgresStore;

use crate::kit::{append_one, append_synced, claim_new_lane, lane, message};
use crate::postgres_kit::{database, open};

async fn open_at(url: String) -> PostgresStore {
    open(&url).await
}

/// Of several processes that find an empty database and create the tables at once, the later ones
/// get one of several errors.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_database_is_made_once_however_many_come() {
    for _ in 0..20 {
        let url = database().await;
        let open = |_| tokio::spawn(open_at(url.clone()));
        let guests: Vec<_> = (0..8).map(open).collect();
        for guest in guests {
            drop(guest.await.unwrap());
        }
    }
}

// spec: STORE-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_that_open_at_the_same_moment_all_progress() {
    let url = database().await;
    let mut drivers = Vec::new();
    for no in 0..3 {
        let url = url.clone();
        drivers.push(tokio::spawn(async move {
            let store = Arc::new(open(&url).await);
            let lanes = (0..6).map(|part| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    let name = format!("{no}-{part}");
                    let epoch = claim_new_lane(&*store, &name).await;
                    for head in 0..30 {
                        let step = if head % 10 == 0 { append_synced } else { append_one };
                        store.append(step(&name, epoch, head, &"x".repeat(800))).await.unwrap();
                    }
                })
            });
            for lane in lanes.collect::<Vec<_>>() {
                lane.await.unwrap();
            }
        }));
    }
    for driver in drivers {
        driver.await.unwrap();
    }
    let store = open(&url).await;
    for name in (0..3).flat_map(|no| (0..6).map(move |part| format!("{no}-{part}"))) {
        assert_eq!(store.read_log(lane(&name), 0, 999).await.unwrap().len(), 30);
    }
}

/// Covers faults 37 and 38: of two owners one appends, and the other leaves no trace.
// spec: STORE-03, STORE-10
// spec: FAULT-37
#[tokio::test]
async fn a_lane_has_one_owner_across_stores() {
    let url = database().await;
    let (one, two) = (open(&url).await, open(&url).await);
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
    assert_eq!(one.read_log(lane("a"), 0, 9).await.unwrap().len(), 1);
}

/// Whatever the order of two racing owners, every entry is from one of them and none is written
/// twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_that_race_write_one_log() {
    let url = database().await;
    let first = open(&url).await;
    first.enqueue_message(lane("a"), message("k")).await.unwrap();
    let racers = (0..4).map(|no| {
        let url = url.clone();
        tokio::spawn(async move {
            let store = open(&url).await;
            let worker: Arc<str> = Arc::from(format!("w{no}"));
            let mut landed = 0;
            for _ in 0..25 {
                let dead = match store.claim_lane(lane("a"), Arc::clone(&worker), None).await {
                    Err(StoreError::Busy { owner, .. }) => Some(owner),
                    _ => None,
                };
                let Ok(claim) = store.claim_lane(lane("a"), Arc::clone(&worker), dead).await else {
                    continue;
                };
                let line = format!("{no}");
                let append = append_one("a", claim.epoch, claim.head, &line);
                let append = AppendRequest { owner: Arc::clone(&worker), ..append };
                landed += u64::from(store.append(append).await.is_ok());
            }
            landed
        })
    });
    let mut landed = 0;
    for racer in racers.collect::<Vec<_>>() {
        landed += racer.await.unwrap();
    }
    let log = first.read_log(lane("a"), 0, 999).await.unwrap();
    assert_eq!(log.len() as u64, landed);
    assert_eq!(first.lane_info(lane("a")).await.unwrap().unwrap().head, landed);
    assert!(landed > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn senders_to_one_lane_get_every_number_once() {
    let url = database().await;
    let stores = [Arc::new(open(&url).await), Arc::new(open(&url).await)];
    let senders = (0..40_usize).map(|no| {
        let store = Arc::clone(&stores[no % 2]);
        tokio::spawn(
            async move { store.enqueue_message(lane("a"), message(&format!("k{no}"))).await },
        )
    });
    let mut ids = Vec::new();
    for sender in senders.collect::<Vec<_>>() {
        ids.push(sender.await.unwrap().unwrap().message);
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
}

/// Two owners that send each other messages at the same moment, many times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lanes_that_mail_each_other_do_not_lock() {
    let url = database().await;
    let mut drivers = Vec::new();
    for (name, other) in [("a", "b"), ("b", "a")] {
        let store = open(&url).await;
        drivers.push(tokio::spawn(async move {
            let epoch = claim_new_lane(&store, name).await;
            for head in 0..25 {
                let outbox = vec![(lane(other), message(&format!("{name}{head}")))];
                let append = AppendRequest { outbox, ..append_one(name, epoch, head, "x") };
                store.append(append).await.unwrap();
            }
        }));
    }
    for driver in drivers {
        driver.await.unwrap();
    }
    let store = open(&url).await;
    for name in ["a", "b"] {
        assert_eq!(store.read_inbox(lane(name), 99).await.unwrap().len(), 26);
    }
}

fn looking(now: u64, limit: usize) -> ClaimQuery {
    ClaimQuery { now: UnixMillis(now), limit, scope: WorkerScope::default(), exclude: Vec::new() }
}

#[tokio::test]
async fn a_batch_of_lanes_is_claimed_once() {
    let url = database().await;
    let (one, two) = (open(&url).await, open(&url).await);
    for no in 0..20 {
        one.enqueue_message(lane(&format!("l{no}")), message("k")).await.unwrap();
    }
    let epoch = claim_new_lane(&one, "due").await;
    let read = AppendRequest { messages_read: vec![1], ..append_one("due", epoch, 0, "x") };
    one.append(AppendRequest { wake_at: Some(UnixMillis(500)), ..read }).await.unwrap();
    one.release_lane(lane("due"), Arc::from("w"), epoch).await.unwrap();
    let ask = |store, name| {
        let store: &PostgresStore = store;
        store.claim_runnable_lanes(Arc::from(name), looking(499, 15))
    };
    let (first, second) = tokio::join!(ask(&one, "w"), ask(&two, "v"));
    let mut all: Vec<String> =
        first.unwrap().into_iter().chain(second.unwrap()).map(|(l, _)| l.to_string()).collect();
    let taken = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), taken, "a lane was claimed twice");
    // Lanes that were skipped while the other process held them are found by the next query.
    let rest = two.claim_runnable_lanes(Arc::from("v"), looking(499, 99)).await.unwrap();
    assert_eq!(taken + rest.len(), 20);
    let due = two.claim_runnable_lanes(Arc::from("v"), looking(500, 99)).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!((due[0].0.as_str(), due[0].1.head, due[0].1.epoch), ("due", 1, epoch + 1));
    let step = append_one("due", due[0].1.epoch, 1, "y");
    two.append(AppendRequest { owner: Arc::from("v"), ..step }).await.unwrap();
}

#[tokio::test]
async fn another_process_is_told_of_mail() {
    let url = database().await;
    let (one, two) = (open(&url).await, open(&url).await);
    let hint = tokio::spawn(async move { two.wait_for_message(lane("a")).await });
    // The listener needs a moment to connect; a notification that comes too early is lost.
    let told = async {
        let mut no = 0;
        while !hint.is_finished() {
            one.enqueue_message(lane("a"), message(&format!("k{no}"))).await.unwrap();
            no += 1;
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), told).await.unwrap();
}

#[tokio::test]
async fn another_process_is_told_of_a_lane_that_was_given_back_in_the_middle() {
    let url = database().await;
    let (one, two) = (open(&url).await, open(&url).await);
    let hint = tokio::spawn(async move { two.wait_for_any_message().await });
    // Inserted by hand, so that no store is notified before the lane is released.
    let made = "INSERT INTO lane (id, epoch, wake_at) VALUES ('a', 1, 0)";
    windlass_cluster::run_query(&url, made).await.unwrap();
    let told = async {
        while !hint.is_finished() {
            windlass_cluster::run_query(&url, "UPDATE lane SET owner = 'w'").await.unwrap();
            one.release_lane(lane("a"), Arc::from("w"), 1).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(20), told).await.unwrap();
}

// spec: SCALE-07
#[tokio::test]
async fn mail_of_which_nobody_was_told_is_found_by_looking() {
    let url = database().await;
    let store = open(&url).await;
    store.enqueue_message(lane("told"), message("k")).await.unwrap();
    // As if the notification had been lost: no store is notified of this message.
    let silent = "WITH made AS (INSERT INTO lane (id) VALUES ('silent') RETURNING no)
        INSERT INTO inbox (lane_no, message_id, idempotency_key, kind, body)
        SELECT made.no, 1, 'k', inbox.kind, inbox.body FROM made, inbox";
    windlass_cluster::run_query(&url, silent).await.unwrap();
    let found = store.claim_runnable_lanes(Arc::from("w"), looking(0, 9)).await.unwrap();
    assert!(found.iter().any(|(found, _)| *found == lane("silent")), "{found:?}");
    assert_eq!(store.read_inbox(lane("silent"), 9).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_lanes_share_commits() {
    let url = database().await;
    let store = Arc::new(open(&url).await);
    let lanes = (0..32).map(|no| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let name = format!("l{no}");
            let epoch = claim_new_lane(&*store, &name).await;
            for head in 0..20 {
                store.append(append_synced(&name, epoch, head, "x")).await.unwrap();
            }
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.unwrap();
    }
    assert!(store.commits() < 32 * 20 / 2, "{} commits for 640 appends", store.commits());
}
