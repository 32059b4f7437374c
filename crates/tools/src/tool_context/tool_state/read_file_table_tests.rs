use std::path::Path;

use super::read_file_table::ReadFileTable;
use crate::limits::MAX_READ_FILES_PER_BUCKET;

fn contents(number: usize) -> String {
    format!("{number:064x}")
}

#[test]
fn the_last_look_at_a_file_counts() {
    let folder = tempfile::tempdir().unwrap();
    let read_files = ReadFileTable { table: folder.path().join("desk/seen.table") };
    let (a, b) = (Path::new("/a"), Path::new("/b"));
    assert_eq!(read_files.hash_for(a), None, "nobody has made the table");
    read_files.record_hash(a, &contents(1)).unwrap();
    read_files.record_hash(b, &contents(2)).unwrap();
    read_files.record_hash(a, &contents(3)).unwrap();
    assert_eq!(
        (read_files.hash_for(a), read_files.hash_for(b)),
        (Some(contents(3)), Some(contents(2)))
    );
    assert_eq!(read_files.hash_for(Path::new("/c")), None);
}

#[test]
fn the_table_has_an_end_and_the_oldest_go() {
    let folder = tempfile::tempdir().unwrap();
    let read_files = ReadFileTable { table: folder.path().join("seen.table") };
    let path = |number: usize| format!("/file/{number}");
    let many = 256 * MAX_READ_FILES_PER_BUCKET + 2_000;
    for number in 0..many {
        read_files.record_hash(Path::new(&path(number)), &contents(number)).unwrap();
    }
    let size = read_files.table.metadata().unwrap().len();
    assert_eq!(size, (256 * MAX_READ_FILES_PER_BUCKET * 64) as u64);
    let known =
        |number: &usize| read_files.hash_for(Path::new(&path(*number))) == Some(contents(*number));
    assert!((many - 1_000..many).all(|number| known(&number)), "what is new is kept");
    assert!((0..2_000).filter(known).count() < 1_800, "what is old goes");
    assert!(
        (0..many).filter(known).count() > 256 * MAX_READ_FILES_PER_BUCKET - 2_000,
        "the room is used"
    );
}

#[test]
fn files_read_at_once_are_all_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let read_files = ReadFileTable { table: folder.path().join("seen.table") };
    let path = |number: usize| format!("/file/{number}");
    std::thread::scope(|scope| {
        for lot in 0..8 {
            let read_files = &read_files;
            scope.spawn(move || {
                for number in (lot * 200)..(lot * 200 + 200) {
                    read_files.record_hash(Path::new(&path(number)), &contents(number)).unwrap();
                }
            });
        }
    });
    let missed = |number: &usize| read_files.hash_for(Path::new(&path(*number))).is_none();
    assert_eq!((0..1_600).filter(missed).count(), 0);
}

#[test]
fn what_is_no_hash_is_not_noted() {
    let folder = tempfile::tempdir().unwrap();
    let read_files = ReadFileTable { table: folder.path().join("seen.table") };
    read_files.record_hash(Path::new("/a"), "no hash").unwrap_err();
    assert_eq!(read_files.hash_for(Path::new("/a")), None);
}
