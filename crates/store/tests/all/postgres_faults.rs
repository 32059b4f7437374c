//! Servers that are cut off, crash or freeze while work is in flight: nothing is lost and nothing
//! is written twice.

use std::sync::Arc;
use std::time::Duration;

use windlass_cluster::{DiskMode, FaultProxy, PostgresCluster, ProxyMode, ShutdownMode};
use windlass_core::stop::RunState;
use windlass_runtime::ports::{AppendRequest, Store, StoreError};
use windlass_store::PostgresStore;
use windlass_store::postgres::PostgresSettings;

use crate::kit::{append_synced, claim_new_lane, lane, message};
use crate::postgres_kit::strings;

/// Starts a server and a proxy in front of it; returns both with their addresses.
fn wired() -> (PostgresCluster, FaultProxy, String, String) {
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let proxy = FaultProxy::listen_for(cluster.port()).unwrap();
    let direct = cluster.url("postgres");
    let url = direct.replace(&cluster.port().to_string(), &proxy.port().to_string());
    (cluster, proxy, url, direct)
}

fn line(lane: &str, head: u64) -> String {
    format!("{lane}:{head}")
}

/// Checks that the log is exactly what was acknowledged, each entry once.
async fn is_whole(store: &PostgresStore, name: &str, entries: u64) {
    let log = store.read_log(lane(name), 0, usize::MAX).await.unwrap();
    let lines: Vec<_> = log.iter().map(|entry| entry.line.to_string()).collect();
    let wanted: Vec<_> = (0..entries).map(|head| line(name, head)).collect();
    assert_eq!(lines, wanted);
    assert_eq!(store.lane_info(lane(name)).await.unwrap().unwrap().head, entries);
}

/// Covers faults 16 and 17: cut before the server receives the commit, and before its reply
/// arrives.
// spec: STORE-05
// spec: FAULT-16, FAULT-17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_before_and_after_the_commit() {
    let (_cluster, proxy, url, direct) = wired();
    let store = PostgresStore::open(&url).await.unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    for head in 0..40 {
        proxy.set_mode(if head % 2 == 0 { ProxyMode::CutRequest } else { ProxyMode::CutAnswer });
        let out = lane(&format!("child{}", head % 3));
        let mut append = append_synced("a", epoch, head, &line("a", head));
        if head % 4 > 1 {
            append.outbox = vec![(out, message(&head.to_string()))];
        }
        store.append(append).await.unwrap();
    }
    assert!(proxy.cuts() >= 40, "{} cuts", proxy.cuts());
    proxy.set_mode(ProxyMode::Pass);
    is_whole(&store, "a", 40).await;
    let messages =
        "SELECT count(*)::text FROM inbox JOIN lane ON no = lane_no WHERE id LIKE 'child%'";
    assert_eq!(strings(&direct, messages).await, ["20"]);
}

/// Rows that a retry does not replace are not duplicated either.
#[tokio::test]
async fn rows_of_a_lost_answer_are_there_once() {
    let (_cluster, proxy, url, direct) = wired();
    let store = PostgresStore::open(&url).await.unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    for head in 0..6 {
        proxy.set_mode(ProxyMode::CutAnswer);
        let event = windlass_core::projection::EventRow {
            run: None,
            agent: "".into(),
            profile: "".into(),
            seq: head + 1,
            at: windlass_core::log::ids::UnixMillis(3),
            name: "agent_run.started",
            fields: windlass_core::message::raw_json::RawJson::parse("{}").unwrap(),
        };
        let rows = vec![windlass_core::projection::Row::Event(event)];
        let append = AppendRequest { rows, ..append_synced("a", epoch, head, &line("a", head)) };
        store.append(append).await.unwrap();
    }
    is_whole(&store, "a", 6).await;
    assert_eq!(strings(&direct, "SELECT count(*)::text FROM event").await, ["6"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_work_survives_cuts_too() {
    let (_cluster, proxy, url, _direct) = wired();
    let store = PostgresStore::open(&url).await.unwrap();
    for no in 0..12_u64 {
        for mode in [ProxyMode::CutRequest, ProxyMode::CutAnswer] {
            let name = format!("{no}{mode:?}");
            proxy.set_mode(mode);
            let first = store.enqueue_message(lane(&name), message("k")).await.unwrap();
            assert_eq!(store.enqueue_message(lane(&name), message("k")).await.unwrap(), first);
            proxy.set_mode(mode);
            let claim = store.claim_lane(lane(&name), Arc::from("w"), None).await.unwrap();
            proxy.set_mode(mode);
            store.record_heartbeat(Arc::from("w")).await.unwrap();
            proxy.set_mode(mode);
            store.append(append_synced(&name, claim.epoch, 0, &line(&name, 0))).await.unwrap();
            proxy.set_mode(mode);
            store.fork_lane(lane(&name), 1, lane(&format!("fork of {name}"))).await.unwrap();
            proxy.set_mode(mode);
            store.release_lane(lane(&name), Arc::from("w"), claim.epoch).await.unwrap();
            proxy.set_mode(mode);
            assert_eq!(store.read_inbox(lane(&name), 9).await.unwrap().len(), 1);
        }
    }
}

/// Covers fault 17 with an owner change: the reply is lost and another owner claims the lane
/// meanwhile.
#[tokio::test]
async fn a_lost_answer_is_not_mistaken_for_the_next_owner() {
    let (_cluster, proxy, url, direct) = wired();
    let store = PostgresStore::open(&url).await.unwrap();
    let thief = PostgresStore::open(&direct).await.unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    let Err(StoreError::Busy { owner, .. }) =
        thief.claim_lane(lane("a"), Arc::from("v"), None).await
    else {
        panic!("the lane is free")
    };
    let taken = thief.claim_lane(lane("a"), Arc::from("v"), Some(owner)).await.unwrap();
    let append = append_synced("a", taken.epoch, 0, &line("a", 0));
    thief.append(AppendRequest { owner: Arc::from("v"), ..append }).await.unwrap();
    proxy.set_mode(ProxyMode::CutAnswer);
    let late = store.append(append_synced("a", epoch, 0, &line("a", 0))).await;
    assert_eq!(late, Err(StoreError::Fenced { lane: lane("a") }));
    is_whole(&thief, "a", 1).await;
}

async fn drive(store: Arc<PostgresStore>, name: String, entries: u64) {
    let mut epoch = claim_new_lane(&*store, &name).await;
    let first = store.append(append_synced(&name, epoch, 0, &line(&name, 0))).await;
    if first != Ok(()) {
        // A claim does not wait for the disk, so a crash may lose it until the first append.
        assert_eq!(first, Err(StoreError::Fenced { lane: lane(&name) }));
        epoch = store.claim_lane(lane(&name), Arc::from("w"), None).await.unwrap().epoch;
        store.append(append_synced(&name, epoch, 0, &line(&name, 0))).await.unwrap();
    }
    for head in 1..entries {
        store.append(append_synced(&name, epoch, head, &line(&name, head))).await.unwrap();
    }
}

/// Drives lanes until all are done, while `nemesis` injects faults.
async fn under(cluster: Arc<PostgresCluster>, nemesis: fn(&PostgresCluster)) {
    // A loaded machine may take long to start a server.
    let (statement_timeout, retry_timeout) = (Duration::from_secs(1), Duration::from_secs(90));
    let settings =
        PostgresSettings { statement_timeout, retry_timeout, ..PostgresSettings::default() };
    let store = PostgresStore::open_with(&cluster.url("postgres"), &settings).await.unwrap();
    let store = Arc::new(store);
    let entries = 150;
    let lanes: Vec<_> = (0..6)
        .map(|no| tokio::spawn(drive(Arc::clone(&store), format!("l{no}"), entries)))
        .collect();
    let storm = tokio::task::spawn_blocking(move || {
        (0..3).for_each(|_| nemesis(&cluster));
        cluster
    });
    for lane in lanes {
        lane.await.unwrap();
    }
    let _cluster = storm.await.unwrap();
    for no in 0..6 {
        is_whole(&store, &format!("l{no}"), entries).await;
    }
    assert_eq!(store.list_runs(None, 9).await.unwrap().iter().filter(is_running).count(), 0);
}

fn is_running(run: &&windlass_runtime::ports::RunInfo) -> bool {
    run.state == RunState::Running
}

fn crash(cluster: &PostgresCluster) {
    std::thread::park_timeout(Duration::from_millis(40));
    cluster.restart(ShutdownMode::Immediate).unwrap();
}

fn freeze(cluster: &PostgresCluster) {
    std::thread::park_timeout(Duration::from_millis(30));
    let frozen = cluster.freeze().unwrap();
    std::thread::park_timeout(Duration::from_millis(1_500));
    drop(frozen);
}

/// Covers fault 18.
// spec: STORE-05
// spec: FAULT-18
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes() {
    under(Arc::new(PostgresCluster::start(DiskMode::Trusted).unwrap()), crash).await;
}

// spec: FAULT-40
/// Freezes for longer than the statement timeout, so every connection is dropped while the server
/// still has what was sent on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_freezes() {
    under(Arc::new(PostgresCluster::start(DiskMode::Trusted).unwrap()), freeze).await;
}

// spec: FAULT-21, FAULT-40
/// Covers fault 21: every other connection is busy, and the heartbeat connection is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_beat_needs_nobodys_leave() {
    let (cluster, _proxy, _url, direct) = wired();
    let settings =
        PostgresSettings { retry_timeout: Duration::from_secs(3), ..PostgresSettings::default() };
    let store = PostgresStore::open_with(&direct, &settings).await.unwrap();
    let store = Arc::new(store);
    let epoch = claim_new_lane(&*store, "a").await;
    // Another client holds the lane's row, so appends and claims wait.
    let (client, connection) =
        tokio_postgres::connect(&direct, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; SELECT * FROM lane FOR UPDATE").await.unwrap();
    let stuck = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.append(append_synced("a", epoch, 0, &line("a", 0))).await })
    };
    let more: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.release_lane(lane("a"), Arc::from("w"), 99).await })
        })
        .collect();
    tokio::time::timeout(Duration::from_secs(1), store.record_heartbeat(Arc::from("w")))
        .await
        .unwrap()
        .unwrap();
    client.batch_execute("ROLLBACK").await.unwrap();
    stuck.await.unwrap().unwrap();
    for one in more {
        _ = one.await.unwrap();
    }
    drop(cluster);
}

/// The retry timeout elapses: the error says that the outcome is unknown, and a reload finds it.
#[tokio::test]
async fn a_server_that_stays_away() {
    let (cluster, _proxy, _url, direct) = wired();
    let settings = PostgresSettings {
        retry_timeout: Duration::from_millis(700),
        statement_timeout: Duration::from_millis(300),
        ..PostgresSettings::default()
    };
    let store = PostgresStore::open_with(&direct, &settings).await.unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_synced("a", epoch, 0, &line("a", 0))).await.unwrap();
    let frozen = cluster.freeze().unwrap();
    let unsure = store.append(append_synced("a", epoch, 1, &line("a", 1))).await;
    assert!(matches!(unsure, Err(StoreError::Broken { .. })), "{unsure:?}");
    let unheard = store.lane_info(lane("a")).await;
    assert!(matches!(unheard, Err(StoreError::Unreachable { .. })), "{unheard:?}");
    drop(frozen);
    cluster.restart(ShutdownMode::Fast).unwrap();
    let head = store.lane_info(lane("a")).await.unwrap().unwrap().head;
    assert!((1..=2).contains(&head), "{head}");
    store.append(append_synced("a", epoch, head, &line("a", head))).await.unwrap();
    is_whole(&store, "a", head + 1).await;
}
