//! A claim is acknowledged before it is on the server's disk. A server that crashes right after it
//! may lose it and give its epoch to another worker: there are never two that can write.

use std::sync::Arc;

use windlass_cluster::{DiskMode, FaultProxy, PostgresCluster, ProxyMode, ShutdownMode};
use windlass_runtime::ports::{AppendRequest, Store, StoreError};
use windlass_store::PostgresStore;

use crate::kit::{append_synced, lane, message};

/// Number of crashes after a claim. In few of them the claim is on the disk by chance.
const CRASHES: u64 = 6;

/// Starts a server that does not flush by itself what no client waits for.
fn server() -> PostgresCluster {
    PostgresCluster::start_with(DiskMode::Trusted, "wal_writer_delay = 10s").unwrap()
}

fn by(worker: &str, name: &str, epoch: u64) -> AppendRequest {
    // Both write the same: the bytes do not distinguish one owner's append from the other's.
    AppendRequest { owner: Arc::from(worker), ..append_synced(name, epoch, 0, "x") }
}

async fn entries(store: &PostgresStore, name: &str) -> usize {
    store.read_log(lane(name), 0, 9).await.unwrap().len()
}

// spec: STORE-03, STORE-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_a_crash_forgets_is_fenced() {
    let cluster = server();
    let proxy = FaultProxy::listen_for(cluster.port()).unwrap();
    let direct = cluster.url("postgres");
    let url = direct.replace(&cluster.port().to_string(), &proxy.port().to_string());
    let one = PostgresStore::open(&url).await.unwrap();
    let two = PostgresStore::open(&direct).await.unwrap();
    let mut forgotten = 0;
    for no in 0..CRASHES {
        let name = format!("l{no}");
        one.enqueue_message(lane(&name), message("k")).await.unwrap();
        let claim = one.claim_lane(lane(&name), Arc::from("w"), None).await.unwrap();
        cluster.restart(ShutdownMode::Immediate).unwrap();
        match two.claim_lane(lane(&name), Arc::from("v"), None).await {
            Ok(next) => {
                forgotten += 1;
                assert_eq!(next.epoch, claim.epoch, "the next owner is given the same epoch");
                two.append(by("v", &name, next.epoch)).await.unwrap();
                // When uncertain, it must not take the other owner's entry for its own.
                proxy.set_mode(ProxyMode::CutAnswer);
                let late = one.append(by("w", &name, claim.epoch)).await;
                assert_eq!(late, Err(StoreError::Fenced { lane: lane(&name) }));
                one.release_lane(lane(&name), Arc::from("w"), claim.epoch).await.unwrap();
                let known = two.lane_info(lane(&name)).await.unwrap().unwrap();
                assert!(known.is_owned_by(&Arc::from("v"), next.epoch), "{known:?}");
            }
            Err(StoreError::Busy { .. }) => {
                one.append(by("w", &name, claim.epoch)).await.unwrap();
            }
            Err(other) => panic!("{other}"),
        }
        assert_eq!(entries(&two, &name).await, 1);
    }
    assert!(forgotten > 0, "no claim was forgotten: they wait for the disk");
}

/// Without another claimant: the claim is lost all the same, and what was appended is not.
// spec: STORE-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_appended_with_a_claim_keeps_it() {
    let cluster = server();
    let store = PostgresStore::open(&cluster.url("postgres")).await.unwrap();
    for name in ["kept", "gone"] {
        store.enqueue_message(lane(name), message("k")).await.unwrap();
    }
    let kept = store.claim_lane(lane("kept"), Arc::from("w"), None).await.unwrap();
    store.append(by("w", "kept", kept.epoch)).await.unwrap();
    let gone = store.claim_lane(lane("gone"), Arc::from("w"), None).await.unwrap();
    cluster.restart(ShutdownMode::Immediate).unwrap();
    let known = store.lane_info(lane("kept")).await.unwrap().unwrap();
    assert!(known.is_owned_by(&Arc::from("w"), kept.epoch), "{known:?}");
    let survived = store.lane_info(lane("gone")).await.unwrap().unwrap().owner.is_some();
    let outcome = store.append(by("w", "gone", gone.epoch)).await;
    assert_eq!(outcome.is_ok(), survived, "{outcome:?}");
    assert_eq!(entries(&store, "gone").await, usize::from(survived));
}
