//! Files of versions from before the first release: rejected with one sentence, and left unchanged.

use rusqlite::Connection;
use windlass_runtime::ports::StoreError;
use windlass_store::SqliteStore;

use crate::kit::{file, folder, open};

#[test]
fn a_file_of_a_development_version_is_left_as_it_is() {
    for found in [1, 12] {
        let folder = folder();
        let raw = Connection::open(file(&folder)).unwrap();
        raw.execute_batch("CREATE TABLE lane (no INTEGER); INSERT INTO lane VALUES (7)").unwrap();
        raw.pragma_update(None, "application_id", pragma_of_a_new_file("application_id")).unwrap();
        raw.pragma_update(None, "user_version", found).unwrap();
        drop(raw);
        let before = std::fs::read(file(&folder)).unwrap();
        let refused = SqliteStore::open(file(&folder)).map(drop).unwrap_err();
        let place = file(&folder).display().to_string();
        assert_eq!(refused, StoreError::OlderSchema { location: place.clone(), found });
        assert_eq!(
            refused.to_string(),
            format!(
                "{place} was made by a development version of windlass (schema {found}), which this \
                 one cannot read; move it away, or choose another with --store"
            )
        );
        assert_eq!(std::fs::read(file(&folder)).unwrap(), before);
    }
}

/// Returns the version that a new file has.
pub(crate) fn newest_schema() -> i64 {
    pragma_of_a_new_file("user_version")
}

fn pragma_of_a_new_file(name: &str) -> i64 {
    let folder = folder();
    drop(open(&folder));
    let ours = Connection::open(file(&folder)).unwrap();
    ours.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}
