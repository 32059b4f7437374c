use windlass_runtime::ports::StoreError;

use super::Migrations;

const THREE: Migrations = Migrations::new(&["first", "second", "third"]);

#[test]
fn a_database_gets_the_changes_that_it_lacks() {
    assert_eq!(THREE.newest(), 103);
    for (found, lacks) in [
        (0, &["first", "second", "third"] as &[_]),
        (101, &["second", "third"]),
        (102, &["third"]),
        (103, &[]),
    ] {
        assert_eq!(THREE.pending("db", found).unwrap(), lacks, "{found}");
    }
}

// spec: FAULT-57
#[test]
fn a_newer_database_is_refused() {
    for found in [104, i64::MAX] {
        let refused = THREE.pending("db", found).unwrap_err();
        assert_eq!(refused, StoreError::NewerSchema { location: "db".into(), found, known: 103 });
    }
}

#[test]
fn a_database_of_a_development_version_is_refused_in_one_sentence() {
    for found in [i64::MIN, -1, 1, 12, 99, 100] {
        let refused = THREE.pending("db", found).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!(
                "db was made by a development version of windlass (schema {found}), which this one \
                 cannot read; move it away, or choose another with --store"
            )
        );
    }
}
