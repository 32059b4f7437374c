//! The stores, each against the conformance suite and against faults that only it can have.

#[cfg(test)]
mod kit;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod memory_crash;
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod postgres_claims;
#[cfg(test)]
mod postgres_errors;
#[cfg(test)]
mod postgres_faults;
#[cfg(test)]
mod postgres_kit;
#[cfg(test)]
mod postgres_open;
#[cfg(test)]
mod postgres_points;
#[cfg(test)]
mod postgres_pooled;
#[cfg(test)]
mod postgres_portable;
#[cfg(test)]
mod postgres_shared;
#[cfg(test)]
mod postgres_tables;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod sqlite_deferred_rows;
#[cfg(test)]
mod sqlite_disk;
#[cfg(test)]
mod sqlite_faults;
#[cfg(test)]
mod sqlite_migration;
#[cfg(test)]
mod sqlite_older;
#[cfg(test)]
mod sqlite_open;
#[cfg(test)]
mod sqlite_shared;
#[cfg(test)]
mod sqlite_tables;
#[cfg(test)]
mod sqlite_writer;
