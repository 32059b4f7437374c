//! Servers that are cut off, crash or freeze while work is under way: nothing is lost, nothing is
//! there twice.

use std::sync::Arc;
use std::time::Duration;

use windlass_cluster::{Cluster, Disk, Mode, Proxy, Stop};
use windlass_core::stop::RunState;
use windlass_runtime::ports::{Append, Store, StoreError};
use windlass_store::PostgresStore;
use windlass_store::postgres::Settings;

use crate::kit::{barrier, lane, letter, owned};
use crate::postgres_kit::strings;

/// A server, a wire to it, and the address of both.
fn wired() -> (Cluster, Proxy, String, String) {
    let cluster = Cluster::start(Disk::Trusted).unwrap();
    let proxy = Proxy::to(cluster.port()).unwrap();
    let direct = cluster.url("postgres");
    let url = direct.replace(&cluster.port().to_string(), &proxy.port().to_string());
    (cluster, proxy, url, direct)
}

fn line(lane: &str, head: u64) -> String {
    format!("{lane}:{head}")
}

/// The log is exactly what was answered, each once.
async fn is_whole(store: &PostgresStore, name: &str, entries: u64) {
    let log = store.read_log(lane(name), 0, usize::MAX).await.unwrap();
    let lines: Vec<_> = log.iter().map(|entry| entry.line.to_string()).collect();
    let wanted: Vec<_> = (0..entries).map(|head| line(name, head)).collect();
    assert_eq!(lines, wanted);
    assert_eq!(store.lane(lane(name)).await.unwrap().unwrap().head, entries);
}

/// Faults 16 and 17: cut before the server hears of the commit, and before we hear of it.
// spec: STORE-05
// spec: FAULT-16, FAULT-17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_before_and_after_the_commit() {
    let (_cluster, proxy, url, direct) = wired();
    let store = PostgresStore::open(&url).await.unwrap();
    let epoch = owned(&store, "a").await;
    for head in 0..40 {
        proxy.set(if head % 2 == 0 { Mode::CutRequest } else { Mode::CutAnswer });
        let out = lane(&format!("child{}", head % 3));
        let mut append = barrier("a", epoch, head, &line("a", head));
        if head % 4 > 1 {
            append.mail_out = vec![(out, letter(&head.to_string()))];
        }
        store.append(append).await.unwrap();
    }
    assert!(proxy.cuts() >= 40, "{} cuts", proxy.cuts());
    proxy.set(Mode::Pass);
    is_whole(&store, "a", 40).await;
    let mails = "SELECT count(*)::text FROM mail JOIN lane ON no = lane_no WHERE id LIKE 'child%'";
    assert_eq!(strings(&direct, mails).await, ["20"]);
}

/// Rows that are not replaced by a second try are not there twice either.
#[tokio::test]
async fn rows_of_a_lost_answer_are_there_once() {
    let (_cluster, proxy, url, direct) = wired();
    let store = PostgresStore::open(&url).await.unwrap();
    let epoch = owned(&store, "a").await;
    for head in 0..6 {
        proxy.set(Mode::CutAnswer);
        let event = windlass_core::project::EventRow {
            run: None,
            agent: "".into(),
            profile: "".into(),
            seq: head + 1,
            at: windlass_core::ids::Millis(3),
            name: "agent_run.started",
            fields: windlass_core::raw::Raw::parse("{}").unwrap(),
        };
        let rows = vec![windlass_core::project::Row::Event(event)];
        let append = Append { rows, ..barrier("a", epoch, head, &line("a", head)) };
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
        for mode in [Mode::CutRequest, Mode::CutAnswer] {
            let name = format!("{no}{mode:?}");
            proxy.set(mode);
            let first = store.deliver(lane(&name), letter("k")).await.unwrap();
            assert_eq!(store.deliver(lane(&name), letter("k")).await.unwrap(), first);
            proxy.set(mode);
            let claim = store.claim(lane(&name), Arc::from("w"), None).await.unwrap();
            proxy.set(mode);
            store.beat(Arc::from("w")).await.unwrap();
            proxy.set(mode);
            store.append(barrier(&name, claim.epoch, 0, &line(&name, 0))).await.unwrap();
            proxy.set(mode);
            store.fork(lane(&name), 1, lane(&format!("fork of {name}"))).await.unwrap();
            proxy.set(mode);
            store.release(lane(&name), Arc::from("w"), claim.epoch).await.unwrap();
            proxy.set(mode);
            assert_eq!(store.read_mail(lane(&name), 9).await.unwrap().len(), 1);
        }
    }
}

/// Fault 17 with a thief: the answer is lost and another owner takes the lane meanwhile.
#[tokio::test]
async fn a_lost_answer_is_not_mistaken_for_the_next_owner() {
    let (_cluster, proxy, url, direct) = wired();
    let store = PostgresStore::open(&url).await.unwrap();
    let thief = PostgresStore::open(&direct).await.unwrap();
    let epoch = owned(&store, "a").await;
    let Err(StoreError::Busy { owner, .. }) = thief.claim(lane("a"), Arc::from("v"), None).await
    else {
        panic!("the lane is free")
    };
    let taken = thief.claim(lane("a"), Arc::from("v"), Some(owner)).await.unwrap();
    let append = barrier("a", taken.epoch, 0, &line("a", 0));
    thief.append(Append { owner: Arc::from("v"), ..append }).await.unwrap();
    proxy.set(Mode::CutAnswer);
    let late = store.append(barrier("a", epoch, 0, &line("a", 0))).await;
    assert_eq!(late, Err(StoreError::Fenced { lane: lane("a") }));
    is_whole(&thief, "a", 1).await;
}

async fn drive(store: Arc<PostgresStore>, name: String, entries: u64) {
    let epoch = owned(&*store, &name).await;
    for head in 0..entries {
        store.append(barrier(&name, epoch, head, &line(&name, head))).await.unwrap();
    }
}

/// Drives lanes until all are done, while `nemesis` does its worst.
async fn under(cluster: Arc<Cluster>, nemesis: fn(&Cluster)) {
    // A loaded machine may take long to start a server.
    let (answer, patience) = (Duration::from_secs(1), Duration::from_secs(90));
    let settings = Settings { answer, patience, ..Settings::default() };
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
    assert_eq!(store.runs(None, 9).await.unwrap().iter().filter(is_running).count(), 0);
}

fn is_running(run: &&windlass_runtime::ports::RunInfo) -> bool {
    run.state == RunState::Running
}

fn crash(cluster: &Cluster) {
    std::thread::park_timeout(Duration::from_millis(40));
    cluster.restart(Stop::Immediate).unwrap();
}

fn freeze(cluster: &Cluster) {
    std::thread::park_timeout(Duration::from_millis(30));
    let frozen = cluster.freeze().unwrap();
    std::thread::park_timeout(Duration::from_millis(1_500));
    drop(frozen);
}

/// Fault 18.
// spec: STORE-05
// spec: FAULT-18
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes() {
    under(Arc::new(Cluster::start(Disk::Trusted).unwrap()), crash).await;
}

// spec: FAULT-40
/// Longer than anybody waits for an answer, so every connection is given up while the server still
/// has what was sent on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_freezes() {
    under(Arc::new(Cluster::start(Disk::Trusted).unwrap()), freeze).await;
}

// spec: FAULT-21, FAULT-40
/// Fault 21: everything is busy, and the beat is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_beat_needs_nobodys_leave() {
    let (cluster, _proxy, _url, direct) = wired();
    let settings = Settings { patience: Duration::from_secs(3), ..Settings::default() };
    let store = PostgresStore::open_with(&direct, &settings).await.unwrap();
    let store = Arc::new(store);
    let epoch = owned(&*store, "a").await;
    // Somebody holds the lane's row, so appends and claims wait.
    let (client, connection) =
        tokio_postgres::connect(&direct, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; SELECT * FROM lane FOR UPDATE").await.unwrap();
    let stuck = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.append(barrier("a", epoch, 0, &line("a", 0))).await })
    };
    let more: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.release(lane("a"), Arc::from("w"), 99).await })
        })
        .collect();
    tokio::time::timeout(Duration::from_secs(1), store.beat(Arc::from("w")))
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

/// Patience ends: it is said what is not known, and a reload finds it.
#[tokio::test]
async fn a_server_that_stays_away() {
    let (cluster, _proxy, _url, direct) = wired();
    let settings = Settings {
        patience: Duration::from_millis(700),
        answer: Duration::from_millis(300),
        ..Settings::default()
    };
    let store = PostgresStore::open_with(&direct, &settings).await.unwrap();
    let epoch = owned(&store, "a").await;
    store.append(barrier("a", epoch, 0, &line("a", 0))).await.unwrap();
    let frozen = cluster.freeze().unwrap();
    let unsure = store.append(barrier("a", epoch, 1, &line("a", 1))).await;
    assert!(matches!(unsure, Err(StoreError::Broken { .. })), "{unsure:?}");
    let unheard = store.lane(lane("a")).await;
    assert!(matches!(unheard, Err(StoreError::Unreachable { .. })), "{unheard:?}");
    drop(frozen);
    cluster.restart(Stop::Fast).unwrap();
    let head = store.lane(lane("a")).await.unwrap().unwrap().head;
    assert!((1..=2).contains(&head), "{head}");
    store.append(barrier("a", epoch, head, &line("a", head))).await.unwrap();
    is_whole(&store, "a", head + 1).await;
}
