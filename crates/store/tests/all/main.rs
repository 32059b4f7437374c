//! The stores, each against the suite they share and against what only it can do wrong.

#[cfg(test)]
mod kit;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod memory_crash;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod sqlite_disk;
#[cfg(test)]
mod sqlite_faults;
#[cfg(test)]
mod sqlite_open;
#[cfg(test)]
mod sqlite_shared;
#[cfg(test)]
mod sqlite_tables;
