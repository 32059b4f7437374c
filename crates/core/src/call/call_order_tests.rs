use std::sync::Arc;

use crate::call::call_order::TouchedResources;

fn reads(keys: &[&str]) -> TouchedResources {
    TouchedResources::Reads(keys.iter().map(|key| Arc::from(*key)).collect())
}

fn writes(keys: &[&str]) -> TouchedResources {
    TouchedResources::Writes(keys.iter().map(|key| Arc::from(*key)).collect())
}

// spec: ROUNDS-02
#[test]
fn what_conflicts_with_what() {
    let rows = [
        (reads(&["/a"]), reads(&["/a"]), false),
        (reads(&["/a"]), writes(&["/a"]), true),
        (writes(&["/a"]), writes(&["/a"]), true),
        (writes(&["/a"]), writes(&["/b"]), false),
        (writes(&["/a", "/b"]), reads(&["/c", "/b"]), true),
        (writes(&[]), writes(&["/a"]), false),
        (reads(&[]), TouchedResources::Exclusive, true),
        (writes(&["/a"]), TouchedResources::Exclusive, true),
        (TouchedResources::Exclusive, TouchedResources::Exclusive, true),
    ];
    for (a, b, expected) in rows {
        assert_eq!(a.conflicts_with(&b), expected, "{a:?} {b:?}");
        assert_eq!(b.conflicts_with(&a), expected, "{b:?} {a:?}");
    }
}

// spec: ROUNDS-02
#[test]
fn a_folder_overlaps_with_what_is_in_it() {
    let rows = [
        ("/a", "/a", true),
        ("/a", "/a/b", true),
        ("/a/", "/a/b/c", true),
        ("/a/", "/a", true),
        ("/a///", "/a/b", true),
        ("/", "/a", true),
        ("/", "/", true),
        ("/a", "/ab", false),
        ("/a/", "/ab", false),
        ("/a/b", "/a/bc", false),
        ("/ab", "/a", false),
        ("a", "/a", false),
        ("db:users", "db:users/7", true),
        ("db:users", "db:users2", false),
        ("", "a", false),
        ("/\u{5d0}", "/\u{5d0}\u{5d1}", false),
        ("/\u{5d0}", "/\u{5d0}/\u{5d1}", true),
    ];
    for (a, b, expected) in rows {
        assert_eq!(writes(&[a]).conflicts_with(&reads(&[b])), expected, "{a} {b}");
        assert_eq!(writes(&[b]).conflicts_with(&reads(&[a])), expected, "{b} {a}");
    }
}

#[test]
fn only_reads_change_nothing() {
    assert!(reads(&[]).is_read());
    assert!(!writes(&[]).is_read() && !TouchedResources::Exclusive.is_read());
}
