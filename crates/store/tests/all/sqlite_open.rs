//! Files that cannot be opened: each is named in its error, and none is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;
use windlass_runtime::ports::{Store, StoreError};
use windlass_store::SqliteStore;

use crate::kit::{append_synced, claim_new_lane, file, folder, lane, message, open};
use crate::sqlite_older::newest_schema;

fn refusal(path: &Path) -> StoreError {
    SqliteStore::open(path).err().unwrap()
}

/// Opens the file, expects an error, and checks that the bytes are unchanged.
fn refused_untouched(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = refusal(path);
    assert_eq!(fs::read(path).unwrap(), before, "{error}");
    error
}

/// Opens a file of another program, expects an error, and checks that its permissions are unchanged
/// too: other users may have to read it.
fn refused_as_foreign(path: &Path) -> StoreError {
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = refused_untouched(path);
    let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o644, "{error}");
    error
}

#[tokio::test]
async fn missing_folders_are_made_and_private() {
    let folder = folder();
    let path = folder.path().join("a/b/windlass.db");
    let store = SqliteStore::open(&path).unwrap();
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
}

#[test]
fn folder_that_cannot_be_made() {
    let folder = folder();
    fs::write(folder.path().join("a"), "a file").unwrap();
    let error = refusal(&folder.path().join("a/windlass.db"));
    assert!(
        matches!(&error, StoreError::Invalid { message } if message.contains("--store")),
        "{error}"
    );
}

#[test]
fn folder_instead_of_a_file() {
    let folder = folder();
    let error = refusal(folder.path());
    assert!(
        matches!(&error, StoreError::Invalid { message } if message.contains("--store")),
        "{error}"
    );
}

// spec: FAULT-26
#[test]
fn garbage_is_no_store_and_stays() {
    let folder = folder();
    for bytes in
        [b"no database at all, but long enough for a header of one".repeat(90), vec![0xff; 9000]]
    {
        fs::write(file(&folder), bytes).unwrap();
        let error = refused_as_foreign(&file(&folder));
        assert!(matches!(error, StoreError::Invalid { .. }), "{error}");
    }
}

async fn create_large_store(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    let epoch = claim_new_lane(&store, "a").await;
    for head in 0..200 {
        store.append(append_synced("a", epoch, head, &"x".repeat(1000))).await.unwrap();
    }
}

// spec: FAULT-26
#[tokio::test]
async fn truncated_file_is_damage_and_stays() {
    for remaining in [1000, 4096, 20_000, 100_000] {
        let folder = folder();
        create_large_store(&file(&folder)).await;
        let whole = fs::read(file(&folder)).unwrap();
        fs::write(file(&folder), &whole[..remaining]).unwrap();
        let error = refused_untouched(&file(&folder));
        assert!(matches!(error, StoreError::Corrupt { .. }), "{remaining}: {error}");
    }
}

#[tokio::test]
async fn scribbled_page_is_damage_and_stays() {
    let folder = folder();
    create_large_store(&file(&folder)).await;
    let mut bytes = fs::read(file(&folder)).unwrap();
    let pages = bytes.len() / 4096;
    bytes[(pages / 2) * 4096..(pages / 2 + 3) * 4096].fill(0xaa);
    fs::write(file(&folder), bytes).unwrap();
    let error = refused_untouched(&file(&folder));
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

// spec: FAULT-26
#[tokio::test]
async fn torn_log_costs_only_its_tail() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    for head in 0..50 {
        store.append(append_synced("a", epoch, head, &"x".repeat(500))).await.unwrap();
    }
    // A copy of the files as a power cut would leave them, with the log truncated in the middle.
    let copy = crate::kit::folder();
    fs::copy(file(&folder), file(&copy)).unwrap();
    let log = fs::read(file(&folder).with_extension("db-wal")).unwrap();
    fs::write(file(&copy).with_extension("db-wal"), &log[..log.len() * 2 / 3 + 7]).unwrap();
    let survivor = open(&copy);
    let entries = survivor.read_log(lane("a"), 0, 99).await.unwrap();
    let head = survivor.lane_info(lane("a")).await.unwrap().unwrap().head;
    assert!(!entries.is_empty() && entries.len() < 50);
    assert_eq!(entries.len() as u64, head);
    survivor.check().await.unwrap();
}

// spec: FAULT-57
#[test]
fn schema_from_the_future() {
    let folder = folder();
    drop(open(&folder));
    let raw = Connection::open(file(&folder)).unwrap();
    raw.pragma_update(None, "user_version", 999).unwrap();
    drop(raw);
    let error = refusal(&file(&folder));
    let StoreError::NewerSchema { found, known, .. } = &error else { panic!("{error}") };
    assert_eq!((*found, *known), (999, newest_schema()));
    assert!(error.to_string().contains("upgrade"));
}

#[test]
fn database_of_another_program() {
    let folder = folder();
    let raw = Connection::open(file(&folder)).unwrap();
    raw.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(raw);
    let error = refused_as_foreign(&file(&folder));
    assert!(
        matches!(&error, StoreError::Invalid { message } if message.contains("another program")),
        "{error}"
    );

    let raw = Connection::open(file(&folder)).unwrap();
    raw.pragma_update(None, "application_id", 77).unwrap();
    drop(raw);
    let error = refused_as_foreign(&file(&folder));
    assert!(matches!(error, StoreError::Invalid { .. }), "{error}");
}

// spec: FAULT-24
#[test]
fn read_only_file() {
    let folder = folder();
    drop(open(&folder));
    let Some(_thaw) = FrozenProcess::new(&file(&folder)) else {
        eprintln!("skipped: this user may write everything and this disk cannot freeze files");
        return;
    };
    let error = refused_untouched(&file(&folder));
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

/// A file that cannot be written, also not by root.
struct FrozenProcess(std::path::PathBuf);

impl FrozenProcess {
    fn new(path: &Path) -> Option<Self> {
        fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
        let frozen = Self(path.to_owned());
        if fs::OpenOptions::new().write(true).open(path).is_err() {
            return Some(frozen);
        }
        frozen.flag(rustix::fs::IFlags::IMMUTABLE).ok()?;
        fs::OpenOptions::new().write(true).open(path).is_err().then_some(frozen)
    }

    fn flag(&self, flags: rustix::fs::IFlags) -> rustix::io::Result<()> {
        let file = fs::File::open(&self.0).map_err(|_| rustix::io::Errno::NOENT)?;
        rustix::fs::ioctl_setflags(file, flags)
    }
}

impl Drop for FrozenProcess {
    fn drop(&mut self) {
        _ = self.flag(rustix::fs::IFlags::empty());
    }
}

#[test]
fn empty_file_is_a_new_database() {
    let folder = folder();
    fs::write(file(&folder), b"").unwrap();
    drop(open(&folder));
    drop(open(&folder));
}

#[tokio::test]
async fn clean_close_leaves_one_file_and_an_empty_lock() {
    let folder = folder();
    let store = open(&folder);
    let epoch = claim_new_lane(&store, "a").await;
    store.append(append_synced("a", epoch, 0, "1")).await.unwrap();
    drop(store);
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["windlass.db", "windlass.db-lock"]);
    assert_eq!(fs::metadata(file(&folder).with_extension("db-lock")).unwrap().len(), 0);
}

/// A file that was created readable for all users is private from the first opening on.
#[tokio::test]
async fn a_file_that_others_can_read_is_made_private() {
    let folder = folder();
    fs::write(file(&folder), "").unwrap();
    fs::set_permissions(file(&folder), fs::Permissions::from_mode(0o666)).unwrap();
    let store = open(&folder);
    store.enqueue_message(lane("a"), message("k")).await.unwrap();
    for path in [file(&folder), file(&folder).with_extension("db-wal")] {
        if let Ok(found) = fs::metadata(&path) {
            assert_eq!(found.permissions().mode() & 0o777, 0o600, "{}", path.display());
        }
    }
}

#[test]
fn a_link_and_a_file_of_another_user_are_refused() {
    let folder = folder();
    drop(open(&folder));
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(file(&folder), &link).unwrap();
    let error = refusal(&link);
    assert!(
        matches!(&error, StoreError::Invalid { message } if message.contains("is a symbolic link")),
        "{error}"
    );
    let theirs = folder.path().join("theirs.db");
    fs::write(&theirs, "").unwrap();
    // Only root can change the owner of a file.
    if std::os::unix::fs::chown(&theirs, Some(12_345), None).is_ok() {
        let error = refusal(&theirs);
        let told =
            matches!(&error, StoreError::Invalid { message } if message.contains("another user"));
        assert!(told, "{error}");
    }
}

#[test]
fn a_trigger_that_somebody_put_there_is_refused() {
    let folder = folder();
    drop(open(&folder));
    let other = Connection::open(file(&folder)).unwrap();
    other
        .execute_batch("CREATE TRIGGER evil AFTER INSERT ON lane BEGIN DELETE FROM lane; END")
        .unwrap();
    drop(other);
    let error = refusal(&file(&folder));
    assert!(
        matches!(&error, StoreError::Invalid { message } if message.contains("evil")),
        "{error}"
    );
}
