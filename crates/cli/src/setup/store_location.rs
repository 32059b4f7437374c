//! The store location, and opening the store.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::memory::MemoryStore;
use windlass::ports::{Clock, Store};
use windlass::postgres::PostgresStore;
use windlass::sqlite::SqliteStore;

use super::OpenConversation;
use crate::args::StoreArgs;
use crate::config::{config_toml, paths};
use crate::exit::UsageError;
use crate::{messages, terminal};

/// Opens the store: a server if an address was given, else a file.
pub(crate) async fn open_store(args: &StoreArgs) -> anyhow::Result<Arc<dyn Store>> {
    let path = store_path(args)?;
    match server_address(&path) {
        Some(url) => Ok(Arc::new(PostgresStore::open(url).await?)),
        None => Ok(Arc::new(open_file(&path)?)),
    }
}

/// Takes the store of the conversation, or opens that of the flags. Runs that end in it are sent as
/// traces, if a variable says where.
pub(super) async fn take_store(
    opened: Option<OpenConversation>,
    args: &StoreArgs,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn Store>> {
    let store = match opened {
        Some(opened) => opened.store,
        None => open_store(args).await?,
    };
    #[cfg(feature = "otel")]
    crate::trace_export::start(&store, clock)?;
    #[cfg(not(feature = "otel"))]
    let _ = clock;
    Ok(store)
}

/// Opens a store in a file, and prints a note if others had access to the file.
pub(crate) fn open_file(path: &Path) -> anyhow::Result<SqliteStore> {
    let mode = || path.metadata().ok().map(|found| found.permissions().mode() & 0o777);
    let is_open = |mode: &u32| mode & 0o077 != 0;
    let before = mode().filter(is_open);
    let store = SqliteStore::open(path)?;
    if let (Some(before), Some(after)) = (before, mode().filter(|mode| !is_open(mode))) {
        terminal::print_note(&messages::made_private(path, before, after));
    }
    Ok(store)
}

/// Opens the store for a command about existing runs: a missing file is not created, and counts as
/// a store without runs.
pub(crate) async fn open_existing_store(args: &StoreArgs) -> anyhow::Result<Arc<dyn Store>> {
    match is_missing(&store_path(args)?) {
        true => Ok(Arc::new(MemoryStore::new())),
        false => open_store(args).await,
    }
}

/// The message if there are no runs. A named file that does not exist may be a typing error.
pub(crate) fn no_runs_message(args: &StoreArgs) -> String {
    let missing = args.store.as_deref().filter(|path| is_missing(path));
    missing.map_or_else(|| messages::NO_RUNS.to_owned(), messages::store_missing)
}

/// Returns whether the file of a store does not exist. An inaccessible one is reported when it is
/// opened.
fn is_missing(path: &Path) -> bool {
    let is_not_found = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    server_address(path).is_none() && path.metadata().err().is_some_and(is_not_found)
}

/// The address, if the store is on a server.
pub(crate) fn server_address(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| PostgresStore::is_address(text))
}

/// The store location: a path or an address.
pub(crate) fn store_path(args: &StoreArgs) -> anyhow::Result<PathBuf> {
    if let Some(path) = &args.store {
        return match unknown_scheme(path) {
            Some(scheme) => unknown_store_error(scheme, "--store"),
            None => Ok(path.clone()),
        };
    }
    if let Some(path) = std::env::var_os("WINDLASS_STORE").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return match unknown_scheme(&path) {
            Some(scheme) => unknown_store_error(scheme, "WINDLASS_STORE"),
            None => Ok(path),
        };
    }
    match config_toml::read()?.store {
        Some(path) => match unknown_scheme(&path) {
            Some(scheme) => unknown_store_error(scheme, "`store` in config.toml"),
            None => Ok(path),
        },
        None => Ok(paths::state_folder()?.join("windlass.db")),
    }
}

fn unknown_store_error(scheme: &str, given: &str) -> anyhow::Result<PathBuf> {
    Err(UsageError::wrap(anyhow::anyhow!(messages::unknown_store_scheme(scheme, given))))
}

/// The scheme of an address that no store supports. A file of that name would be created silently.
fn unknown_scheme(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let is_address =
        rest.starts_with("//") || matches!(scheme, "sqlite" | "postgres" | "postgresql");
    (is_scheme && is_address && server_address(path).is_none()).then_some(scheme)
}
