//! Behind PgBouncer in transaction mode, where two consecutive statements may run on two server
//! connections.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use windlass_cluster::{DiskMode, PostgresCluster, run_query};
use windlass_runtime::ports::Store;
use windlass_store::PostgresStore;

use crate::kit::{append_synced, claim_new_lane, lane};

/// A pool of two server connections, stopped when dropped.
struct PgBouncer {
    process: Child,
    folder: PathBuf,
    url: String,
}

impl PgBouncer {
    #[expect(clippy::disallowed_methods, reason = "the pool is a program of its own")]
    fn before(cluster: &PostgresCluster) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let folder = cluster.folder().join("pool");
        fs::create_dir(&folder).unwrap();
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nauth_type = trust\nauth_file = {}\npool_mode = transaction\n\
             default_pool_size = 2\nunix_socket_dir =\n",
            cluster.port(),
            folder.join("users").display(),
        );
        fs::write(folder.join("users"), "\"windlass\" \"\"\n").unwrap();
        fs::write(folder.join("settings"), settings).unwrap();
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
            .into_iter()
            .find(|path| fs::exists(path).unwrap_or(false))
            .expect("pgbouncer is not installed (Debian: `apt-get install pgbouncer`)");
        let mut command = Command::new(program);
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "nobody"]);
        }
        let process = command
            .arg(folder.join("settings"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = format!("postgres://windlass@127.0.0.1:{port}/postgres");
        Self { process, folder, url }
    }

    async fn is_up(&self) {
        let up = async {
            while run_query(&self.url, "SELECT 1").await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), up).await.unwrap();
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
        _ = fs::remove_dir_all(&self.folder);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_of_transactions_is_noticed_and_works() {
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let bouncer = PgBouncer::before(&cluster);
    bouncer.is_up().await;
    for url in [bouncer.url.clone(), format!("{}?prepared=off", bouncer.url)] {
        let stores = [
            Arc::new(PostgresStore::open(&url).await.unwrap()),
            Arc::new(PostgresStore::open(&url).await.unwrap()),
        ];
        let lanes = (0..12_usize).map(|no| {
            let (store, url) = (Arc::clone(&stores[no % 2]), url.clone());
            tokio::spawn(async move {
                let name = format!("{url} {no}");
                let epoch = claim_new_lane(&*store, &name).await;
                store.record_heartbeat(Arc::from("w")).await.unwrap();
                for head in 0..15 {
                    store.append(append_synced(&name, epoch, head, "x")).await.unwrap();
                }
                assert_eq!(store.read_log(lane(&name), 0, 99).await.unwrap().len(), 15);
                store.release_lane(lane(&name), Arc::from("w"), epoch).await.unwrap();
            })
        });
        for lane in lanes.collect::<Vec<_>>() {
            lane.await.unwrap();
        }
    }
}
