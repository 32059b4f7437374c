//! Stores of lanes behind the runtime's `Store` port.
//!
//! `memory` is the reference model that the others are compared with, `sqlite` is the default, and
//! `postgres` is for several machines. Not here: what an entry means (`windlass-core`) and when one
//! is written (`windlass-runtime`).

pub mod conformance;
pub mod crash_points;
pub mod memory;
pub mod postgres;
pub mod sqlite;

mod column_values;
mod inbox_hints;
mod migrations;
mod pending_runs;
mod validation;

pub use memory::MemoryStore;
pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;
