//! The measured store, new for every measurement, and the resources it uses.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use windlass_bench::time_stats;
use windlass_cluster::{DiskMode, PostgresCluster, run_query};
use windlass_core::log::record::Durability;
use windlass_runtime::ports::Store;
use windlass_store::{MemoryStore, PostgresStore, SqliteStore};

use crate::append_load::{AppendLoad, ResourceUse};
use crate::bench_args::StoreEngine;

/// A store engine, with its server if it needs one.
pub(crate) enum TestedStore {
    Memory,
    Sqlite,
    Postgres(Box<PostgresCluster>),
}

/// Reads the resources used so far.
pub(crate) enum ResourceMeter {
    Memory,
    Sqlite(Arc<SqliteStore>),
    Postgres(Arc<PostgresStore>),
}

impl TestedStore {
    pub(crate) fn new(engine: StoreEngine, folder: &Path) -> Result<Self> {
        Ok(match engine {
            StoreEngine::Memory => Self::Memory,
            StoreEngine::Sqlite => Self::Sqlite,
            StoreEngine::Postgres => Self::Postgres(Box::new(start_server(folder)?)),
        })
    }

    /// The durabilities to measure. On PostgreSQL every commit waits for the disk, so there is one.
    pub(crate) fn durabilities(&self) -> Vec<Durability> {
        match self {
            Self::Memory | Self::Sqlite => vec![Durability::Commit, Durability::Barrier],
            Self::Postgres(_) => vec![Durability::Barrier],
        }
    }

    pub(crate) async fn measure(&self, load: &AppendLoad, folder: &Path) -> Result<String> {
        let name = format!("{:?}_{}", load.durability, load.conversations).to_lowercase();
        let (store, meter): (Arc<dyn Store>, ResourceMeter) = match self {
            Self::Memory => (Arc::new(MemoryStore::new()), ResourceMeter::Memory),
            Self::Sqlite => {
                let store = Arc::new(SqliteStore::open(folder.join(name).with_extension("db"))?);
                (store.clone(), ResourceMeter::Sqlite(store))
            }
            Self::Postgres(cluster) => {
                run_query(&cluster.url("postgres"), &format!("CREATE DATABASE {name}")).await?;
                let store = Arc::new(PostgresStore::open(&cluster.url(&name)).await?);
                (store.clone(), ResourceMeter::Postgres(store))
            }
        };
        load.run(store, &meter).await
    }
}

/// Starts a server. It may run as another account, which needs access to the folder.
fn start_server(folder: &Path) -> Result<PostgresCluster> {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
    PostgresCluster::start_in(folder, DiskMode::Synced)
}

impl ResourceMeter {
    pub(crate) fn read(&self) -> ResourceUse {
        let cpu = time_stats::cpu_time();
        match self {
            Self::Memory => ResourceUse { cpu, ..ResourceUse::default() },
            Self::Sqlite(store) => {
                ResourceUse { cpu, syncs: store.syncs(), commits: store.commits() }
            }
            // One commit is one wait for the server's disk.
            Self::Postgres(store) => {
                let commits = store.commits();
                ResourceUse { cpu: cpu + server_cpu(), syncs: commits, commits }
            }
        }
    }
}

/// CPU time of all running processes named `postgres` that are not this one.
fn server_cpu() -> Duration {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let servers = stats.filter(|stat| stat.contains("(postgres)"));
    let ticks: u64 = servers.filter_map(|stat| cpu_ticks(&stat)).sum();
    // The kernel counts in hundredths of a second on all machines.
    Duration::from_millis(ticks * 10)
}

/// User and system time, in ticks.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    let user: u64 = words.next()?.parse().ok()?;
    let system: u64 = words.next()?.parse().ok()?;
    Some(user + system)
}
