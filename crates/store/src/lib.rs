//! Memory on disk: stores of lanes behind the runtime's store port.
//!
//! `memory` is the model that the others are compared with, `sqlite` is what people run, and
//! `postgres` is for more than one machine. Not here: what an entry means (that is `windlass-core`) and when one is written (`windlass-runtime`).

pub mod conformance;
pub mod fault;
pub mod memory;
pub mod postgres;
pub mod sqlite;

mod hints;
mod migrations;
mod names;
mod pending;
mod valid;

pub use memory::MemoryStore;
pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;
