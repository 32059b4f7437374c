//! A PostgreSQL of one's own, for tests, torture and figures: made in a temporary folder, started on a
//! free port, and gone with the process that asked for it, however that ends.
//!
//! Not here: anything that knows what is stored in it.

mod account;
mod binaries;
mod cluster;
mod command;
mod frozen;
mod guard;
mod proxy;
mod shared;

pub use cluster::{Cluster, Disk, Stop};
pub use proxy::{Mode, Proxy};
pub use shared::{ask, fresh_database};
