//! The store that is measured, fresh for every measurement, and what it uses up.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use windlass_cluster::{Cluster, Disk, ask};
use windlass_core::record::Durability;
use windlass_runtime::ports::Store;
use windlass_store::{MemoryStore, PostgresStore, SqliteStore};

use crate::arguments::Engine;
use crate::clock;
use crate::load::{Load, Used};

/// An engine, with its server if it needs one.
pub(crate) enum Subject {
    Memory,
    Sqlite,
    Postgres(Box<Cluster>),
}

/// Reads what was used up so far.
pub(crate) enum Meter {
    Memory,
    Sqlite(Arc<SqliteStore>),
    Postgres(Arc<PostgresStore>),
}

impl Subject {
    pub(crate) fn new(engine: Engine, folder: &Path) -> Result<Self> {
        Ok(match engine {
            Engine::Memory => Self::Memory,
            Engine::Sqlite => Self::Sqlite,
            Engine::Postgres => Self::Postgres(Box::new(server_in(folder)?)),
        })
    }

    /// On PostgreSQL every commit waits for the disk, so there is one figure.
    pub(crate) fn durabilities(&self) -> Vec<Durability> {
        match self {
            Self::Memory | Self::Sqlite => vec![Durability::Commit, Durability::Barrier],
            Self::Postgres(_) => vec![Durability::Barrier],
        }
    }

    pub(crate) async fn measure(&self, load: &Load, folder: &Path) -> Result<String> {
        let name = format!("{:?}_{}", load.durability, load.conversations).to_lowercase();
        let (store, meter): (Arc<dyn Store>, Meter) = match self {
            Self::Memory => (Arc::new(MemoryStore::new()), Meter::Memory),
            Self::Sqlite => {
                let store = Arc::new(SqliteStore::open(folder.join(name).with_extension("db"))?);
                (store.clone(), Meter::Sqlite(store))
            }
            Self::Postgres(cluster) => {
                ask(&cluster.url("postgres"), &format!("CREATE DATABASE {name}")).await?;
                let store = Arc::new(PostgresStore::open(&cluster.url(&name)).await?);
                (store.clone(), Meter::Postgres(store))
            }
        };
        load.run(store, &meter).await
    }
}

/// The server may run as somebody else, who has to get into the folder.
fn server_in(folder: &Path) -> Result<Cluster> {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
    Cluster::start_in(folder, Disk::Synced)
}

impl Meter {
    pub(crate) fn read(&self) -> Used {
        let cpu = clock::cpu();
        match self {
            Self::Memory => Used { cpu, ..Used::default() },
            Self::Sqlite(store) => Used { cpu, syncs: store.syncs(), commits: store.commits() },
            // One commit is one wait for the server's disk.
            Self::Postgres(store) => {
                let commits = store.commits();
                Used { cpu: cpu + server_cpu(), syncs: commits, commits }
            }
        }
    }
}

/// CPU of all living processes named `postgres` that are not this one.
fn server_cpu() -> Duration {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let servers = stats.filter(|stat| stat.contains("(postgres)"));
    let ticks: u64 = servers.filter_map(|stat| ticks(&stat)).sum();
    // The kernel counts in hundredths of a second for everybody.
    Duration::from_millis(ticks * 10)
}

/// User and system time.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    let user: u64 = words.next()?.parse().ok()?;
    let system: u64 = words.next()?.parse().ok()?;
    Some(user + system)
}
