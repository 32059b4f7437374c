//! Versions of a database's tables, counted the same way in SQLite and PostgreSQL.
//!
//! Not here: how a version is stored, and the transaction in which it changes.

use windlass_runtime::ports::StoreError;

/// The version that the first schema makes. Databases of development versions, which nothing reads
/// any more, are numbered below it.
const FIRST_VERSION: i64 = 100;

/// Schema changes, forward only: the first makes every table, each later one brings the tables from
/// the version before it to its own.
#[derive(Clone, Copy)]
pub(crate) struct Migrations {
    steps: &'static [&'static str],
}

impl Migrations {
    pub(crate) const fn new(steps: &'static [&'static str]) -> Self {
        Self { steps }
    }

    /// The version that every open database has.
    pub(crate) fn newest(self) -> i64 {
        FIRST_VERSION - 1 + self.steps.len().cast_signed() as i64
    }

    /// Returns the changes that a database of version `found` still needs; 0 is an empty one.
    ///
    /// # Errors
    ///
    /// A database of a newer version, or of a development version.
    pub(crate) fn pending(
        self,
        place: &str,
        found: i64,
    ) -> Result<&'static [&'static str], StoreError> {
        if found == 0 {
            return Ok(self.steps);
        }
        let place = || place.to_owned();
        if found < FIRST_VERSION {
            return Err(StoreError::OlderSchema { place: place(), found });
        }
        let done = usize::try_from(found - FIRST_VERSION + 1).unwrap_or(usize::MAX);
        self.steps.get(done..).ok_or_else(|| StoreError::FromTheFuture {
            place: place(),
            found,
            known: self.newest(),
        })
    }
}

#[cfg(test)]
#[path = "migrations_tests.rs"]
mod migrations_tests;
