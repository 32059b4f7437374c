//! Stores of lanes behind the runtime's `Store` port.
//!
//! `memory` is the reference model that the others are compared with, `sqlite` is the default, and
//! `postgres` is for several machines. Not here: what an entry means (`windlass-core`) and when one
//! is written (`windlass-runtime`).

#![cfg_attr(
    not(all(feature = "sqlite", feature = "postgres")),
    expect(dead_code, reason = "a part serves one of the databases alone")
)]

pub mod crash_points;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;

mod column_values;
mod encoding;
mod inbox_hints;
mod migrations;
mod pending_runs;
mod run_changes;
mod tenant_limits;
mod validation;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;

/// Locks a mutex whose value is valid at any moment, so that a panic while it was held is harmless.
fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
