use std::fs::File;
use std::path::Path;

use tempfile::TempDir;

use super::evict_oldest_files;

/// Creates a sparse file of this size.
fn file(folder: &Path, name: &str, bytes: u64, age: u64) {
    let file = File::create(folder.join(name)).unwrap();
    file.set_len(bytes).unwrap();
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 - age);
    file.set_modified(then).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_oldest_files_go_when_there_are_too_many_or_too_many_bytes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for (name, bytes, age) in [("a", 400, 4), ("b", 10, 3), ("c", 500, 2), ("d", 20, 1)] {
        file(folder, name, bytes, age);
    }
    evict_oldest_files(folder, 10, 1_000);
    assert_eq!(names(folder), ["a", "b", "c", "d"]);
    evict_oldest_files(folder, 4, 1_000);
    assert_eq!(names(folder), ["b", "c", "d"], "one more must find room");
    evict_oldest_files(folder, 10, 520);
    assert_eq!(names(folder), ["c", "d"]);
    evict_oldest_files(folder, 10, 0);
    assert_eq!(names(folder), [""; 0]);
}
