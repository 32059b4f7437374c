//! Schema versions and pending migrations, counted alike in SQLite and PostgreSQL.
//!
//! Not here: how a version is stored, and the transaction in which it changes.

use windlass_runtime::ports::StoreError;

/// The version that the first schema creates. Databases of development versions, which are no
/// longer supported, have lower numbers.
const FIRST_VERSION: i64 = 101;

/// Schema changes, forward only: the first creates every table, each later one brings the tables
/// from the version before it to its own.
#[derive(Clone, Copy)]
pub(crate) struct Migrations {
    steps: &'static [&'static str],
}

impl Migrations {
    pub(crate) const fn new(steps: &'static [&'static str]) -> Self {
        Self { steps }
    }

    /// Returns the newest version, which every open database has.
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
            return Err(StoreError::OlderSchema { location: place(), found });
        }
        let done = usize::try_from(found - FIRST_VERSION + 1).unwrap_or(usize::MAX);
        self.steps.get(done..).ok_or_else(|| StoreError::NewerSchema {
            location: place(),
            found,
            known: self.newest(),
        })
    }
}

#[cfg(test)]
#[path = "migrations_tests.rs"]
mod migrations_tests;
