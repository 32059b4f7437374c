//! A private PostgreSQL server for tests, torture and benchmarks: created in a temporary folder,
//! started on a free port, and removed when the process that started it ends in any way.
//!
//! Not here: anything that knows what is stored in it.

mod cluster;
mod frozen_server;
pub mod process_table;
mod proxy;
mod server_account;
mod server_binaries;
mod server_guard;
mod server_programs;
mod shared_cluster;

pub use cluster::{DiskMode, PostgresCluster, ShutdownMode};
pub use proxy::{FaultProxy, ProxyMode};
pub use shared_cluster::{fresh_database, run_query};
