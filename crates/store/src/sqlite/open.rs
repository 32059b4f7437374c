//! Opening the file: what is not ours, too new or damaged is named and left as it is.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use windlass_runtime::ports::StoreError;

use super::error::{explain, is_busy};
use super::home::Home;
use super::{check, migrate};
use crate::valid::invalid;

/// "WNDL": says that the file is ours.
pub(super) const APPLICATION_ID: i32 = 0x574e_444c;

/// How long one try for a lock waits inside SQLite. Short tries repeated find the gap between two
/// transactions of a busy neighbour, where SQLite's own waits grow until they miss it.
const ONE_TRY: Duration = Duration::from_millis(1);

/// How the store behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How long to wait for another process that holds the file.
    pub patience: Duration,
    /// Largest size of the file, in pages of 4 KiB; as large as the disk if not said.
    pub most_pages: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { patience: Duration::from_secs(5), most_pages: None }
    }
}

/// Opens or makes the database; gives the connection that writes.
pub(super) fn open(path: &Path, settings: &Settings) -> Result<(Home, Connection), StoreError> {
    let place = path.display().to_string();
    let is_new = fs::symlink_metadata(path).is_err();
    make_folder(path)?;
    let files = [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")];
    files.iter().try_for_each(|file| refuse_foreign(file))?;
    let prepare = || -> Result<Connection, StoreError> {
        let told = |error: rusqlite::Error| explain(&place, settings.patience, &error);
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(told)?;
        if is_new {
            keep_private(path)?;
        }
        migrate::inspect(&connection, &place, settings.patience)?;
        // Not before: the file may be of another program, which others are to read.
        files.iter().try_for_each(|file| make_private(file))?;
        writable(&connection, &place)?;
        patiently(settings.patience, || configure(&connection, settings)).map_err(told)?;
        let migrate = || migrate::migrate(&mut connection, &place, migrate::MIGRATIONS);
        patiently(settings.patience, migrate).map_err(told)??;
        refuse_triggers(&connection, &place, settings.patience)?;
        check::brief(&connection, path, settings.patience)?;
        Ok(connection)
    };
    let connection = prepare()?;
    let home = Home::new(path.to_owned(), settings.patience)?;
    if is_new {
        remember_name(path);
        home.sync()?;
    }
    Ok((home, connection))
}

/// A connection that only reads.
pub(super) fn open_reader(home: &Home) -> rusqlite::Result<Connection> {
    let connection = connect(home.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(home.patience())?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA mmap_size = 0")?;
    Ok(connection)
}

fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    let create = match mode.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        true => OpenFlags::SQLITE_OPEN_CREATE,
        false => OpenFlags::empty(),
    };
    // Each connection stays with one thread at a time, so SQLite needs no mutex of its own.
    let connection =
        Connection::open_with_flags(path, mode | create | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Plans that depend on bound values would be compiled anew at every use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(ONE_TRY)?;
    Ok(connection)
}

fn configure(connection: &Connection, settings: &Settings) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA mmap_size = 0;
         PRAGMA cache_size = -2000;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA secure_delete = FAST;",
    )?;
    match settings.most_pages {
        None => Ok(()),
        Some(most) => connection.pragma_update_and_check(None, "max_page_count", most, |_| Ok(())),
    }
}

/// Tries again while somebody else holds the file, until patience ends.
pub(super) fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let mut waited = Duration::ZERO;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && waited < patience => {
                std::thread::park_timeout(ONE_TRY);
                waited = waited.saturating_add(ONE_TRY).saturating_add(ONE_TRY);
            }
            outcome => return outcome,
        }
    }
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        invalid(format!(
            "the folder {} cannot be made ({error}); choose another with --store",
            folder.display()
        ))
    })
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A file that somebody made beforehand is used only if it is a file of this user.
fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let place = path.display();
    if found.file_type().is_symlink() {
        return Err(invalid(format!(
            "{place} is a link; give the file that it points to with --store"
        )));
    }
    if found.is_dir() {
        // SQLite says what is wrong with it.
        return Ok(());
    }
    if !found.is_file() {
        return Err(invalid(format!("{place} is not a file; choose another with --store")));
    }
    let is_ours = fs::metadata("/proc/self").map_or(true, |own| own.uid() == found.uid());
    if !is_ours {
        return Err(invalid(format!(
            "{place} belongs to another user (uid {}); choose another with --store, or give it to \
             this user with chown",
            found.uid()
        )));
    }
    Ok(())
}

/// From here on nobody else can read the file. Whoever made it for others to read had a reason that
/// we do not share.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let mode = found.mode() & 0o777;
    // A file that cannot be written is told as such.
    if !found.is_file() {
        return Ok(());
    }
    if mode & 0o077 != 0 && mode & 0o200 != 0 { keep_private(path) } else { Ok(()) }
}

/// By name and before the first page is written: a descriptor of our own on this file would, when
/// closed, drop the locks that SQLite holds on it elsewhere in this process.
fn keep_private(path: &Path) -> Result<(), StoreError> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
        .map_err(|error| invalid(format!("{} cannot be made private ({error})", path.display())))
}

/// Syncs the folder, so that the new name survives a power cut. Some file systems cannot; then the
/// file's own syncs are all there is.
fn remember_name(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}

/// There are none of ours. One that somebody else put there runs with every statement, and may never
/// come back.
fn refuse_triggers(
    connection: &Connection,
    place: &str,
    patience: Duration,
) -> Result<(), StoreError> {
    let find = "SELECT name FROM sqlite_schema WHERE type = 'trigger' LIMIT 1";
    let found = connection.query_row(find, [], |row| row.get::<_, String>(0)).optional();
    match found.map_err(|error| explain(place, patience, &error))? {
        None => Ok(()),
        Some(name) => Err(invalid(format!(
            "{place} has a trigger {name:?} that windlass did not make; remove it with DROP TRIGGER"
        ))),
    }
}

fn writable(connection: &Connection, place: &str) -> Result<(), StoreError> {
    match connection.is_readonly("main") {
        Ok(false) => Ok(()),
        Ok(true) => Err(StoreError::ReadOnly { place: place.to_owned() }),
        Err(error) => Err(explain(place, Duration::ZERO, &error)),
    }
}
