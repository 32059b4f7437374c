//! Opens the file; one that is not ours, too new or damaged is reported and left unchanged.

use std::fs;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use windlass_runtime::ports::StoreError;

use super::database_file::DatabaseFile;
use super::error::{explain_sqlite_error, is_busy};
use super::schema_migration::SchemaState;
use super::write_queue::WriteQueue;
use super::{database_file, schema_migration};
use crate::validation::invalid_argument;

/// The application id "WNDL", which marks the file as a Windlass store.
pub(super) const APPLICATION_ID: i32 = 0x574e_444c;

/// How long one attempt for a lock waits inside SQLite. Repeated short attempts find the gap
/// between two transactions of a busy process, where SQLite's own waits grow until they miss it.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// Settings of a SQLite store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteSettings {
    /// How long to wait for another process that holds the file.
    pub busy_timeout: Duration,
    /// Maximum size of the file, in pages of 4 KiB; without it the disk is the limit.
    pub max_pages: Option<u32>,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(5), max_pages: None }
    }
}

/// Opens or creates the database; returns the write connection.
pub(super) fn open_database(
    path: &Path,
    settings: &SqliteSettings,
) -> Result<(DatabaseFile, Connection), StoreError> {
    let location = path.display().to_string();
    let is_new = fs::symlink_metadata(path).is_err();
    create_folder(path)?;
    let files = [path.to_owned(), sibling_path(path, "-wal"), sibling_path(path, "-shm")];
    files.iter().try_for_each(|file| refuse_foreign(file))?;
    let prepare = || -> Result<Connection, StoreError> {
        let explain =
            |error: rusqlite::Error| explain_sqlite_error(&location, settings.busy_timeout, &error);
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(explain)?;
        if is_new {
            restrict_permissions(path)?;
        }
        let schema = schema_migration::check_schema(&connection, &location, settings.busy_timeout)?;
        // Not before: the file may belong to another program whose users must be able to read it.
        files.iter().try_for_each(|file| check_private_file(file))?;
        check_writable(&connection, &location)?;
        // A new file is made by one process, and the others wait for it.
        let _turn = match schema {
            SchemaState::Newest => None,
            SchemaState::Older => WriteQueue::open(path).wait(settings.busy_timeout),
        };
        retry_while_busy(settings.busy_timeout, || configure(&connection, settings))
            .map_err(explain)?;
        let migrate = || {
            schema_migration::migrate_schema(
                &mut connection,
                &location,
                schema_migration::MIGRATIONS,
            )
        };
        retry_while_busy(settings.busy_timeout, migrate).map_err(explain)??;
        reject_triggers(&connection, &location, settings.busy_timeout)?;
        database_file::check_if_small(&connection, path, settings.busy_timeout)?;
        Ok(connection)
    };
    let connection = prepare()?;
    let file = DatabaseFile::new(path.to_owned(), settings.busy_timeout)?;
    if is_new {
        sync_folder(path);
        file.sync()?;
    }
    Ok((file, connection))
}

/// Opens a read-only connection.
pub(super) fn open_reader(file: &DatabaseFile) -> rusqlite::Result<Connection> {
    let connection = connect(file.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(file.busy_timeout())?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA mmap_size = 0")?;
    Ok(connection)
}

fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    let create = match mode.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        true => OpenFlags::SQLITE_OPEN_CREATE,
        false => OpenFlags::empty(),
    };
    // Each connection is used by one thread at a time, so SQLite needs no mutex of its own.
    let connection =
        Connection::open_with_flags(path, mode | create | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Plans that depend on bound values would be compiled anew at every use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(LOCK_RETRY_INTERVAL)?;
    Ok(connection)
}

fn configure(connection: &Connection, settings: &SqliteSettings) -> rusqlite::Result<()> {
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
    match settings.max_pages {
        None => Ok(()),
        Some(limit) => {
            connection.pragma_update_and_check(None, "max_page_count", limit, |_| Ok(()))
        }
    }
}

/// Retries while another process holds the file, until the timeout.
pub(super) fn retry_while_busy<T>(
    busy_timeout: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let mut waited = Duration::ZERO;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && waited < busy_timeout => {
                std::thread::park_timeout(LOCK_RETRY_INTERVAL);
                waited =
                    waited.saturating_add(LOCK_RETRY_INTERVAL).saturating_add(LOCK_RETRY_INTERVAL);
            }
            outcome => return outcome,
        }
    }
}

fn create_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        invalid_argument(format!(
            "cannot create the folder {} ({error}); choose another with --store",
            folder.display()
        ))
    })
}

fn sibling_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Rejects an existing file unless it is a regular file of this user.
fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let location = path.display();
    if found.file_type().is_symlink() {
        return Err(invalid_argument(format!(
            "{location} is a symbolic link; pass its target with --store"
        )));
    }
    if found.is_dir() {
        // SQLite reports what is wrong with it.
        return Ok(());
    }
    if !found.is_file() {
        return Err(invalid_argument(format!(
            "{location} is not a regular file; choose another with --store"
        )));
    }
    let is_ours = fs::metadata("/proc/self").map_or(true, |own| own.uid() == found.uid());
    if !is_ours {
        return Err(invalid_argument(format!(
            "{location} is owned by another user (uid {}); choose another with --store, or change \
             its owner with chown",
            found.uid()
        )));
    }
    Ok(())
}

/// Checks the file and restricts its permissions to this user, even if it was created readable for
/// others.
fn check_private_file(path: &Path) -> Result<(), StoreError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let mode = found.mode() & 0o777;
    // A file that cannot be written is reported as such.
    if !found.is_file() {
        return Ok(());
    }
    if mode & 0o077 != 0 && mode & 0o200 != 0 { restrict_permissions(path) } else { Ok(()) }
}

/// Restricts the permissions by path and before the first page is written: a descriptor of our own
/// on this file would, when closed, drop the locks that SQLite holds on it elsewhere in this
/// process.
fn restrict_permissions(path: &Path) -> Result<(), StoreError> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(|error| {
        invalid_argument(format!("cannot restrict the permissions of {} ({error})", path.display()))
    })
}

/// Syncs the folder, so that the new name survives a power cut. Some file systems cannot; then only
/// the file itself is synced.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}

/// Rejects a file with triggers. Windlass creates none; a foreign trigger would run with every
/// statement and may not terminate.
fn reject_triggers(
    connection: &Connection,
    location: &str,
    busy_timeout: Duration,
) -> Result<(), StoreError> {
    let find = "SELECT name FROM sqlite_schema WHERE type = 'trigger' LIMIT 1";
    let found = connection.query_row(find, [], |row| row.get::<_, String>(0)).optional();
    match found.map_err(|error| explain_sqlite_error(location, busy_timeout, &error))? {
        None => Ok(()),
        Some(name) => Err(invalid_argument(format!(
            "{location} has a trigger {name:?} that windlass did not create; remove it with DROP TRIGGER"
        ))),
    }
}

fn check_writable(connection: &Connection, location: &str) -> Result<(), StoreError> {
    match connection.is_readonly("main") {
        Ok(false) => Ok(()),
        Ok(true) => Err(StoreError::ReadOnly { location: location.to_owned() }),
        Err(error) => Err(explain_sqlite_error(location, Duration::ZERO, &error)),
    }
}
