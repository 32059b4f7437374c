//! The stores, each against the suite they share and against what only it can do wrong.

mod kit;
mod memory;
mod memory_crash;
mod sqlite;
mod sqlite_disk;
mod sqlite_faults;
mod sqlite_open;
mod sqlite_shared;
mod sqlite_tables;
