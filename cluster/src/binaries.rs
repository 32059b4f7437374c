//! Where the server's programs are.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Where Debian keeps them, one folder per version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The oldest version that counts.
const OLDEST: u32 = 15;

/// The folder with `initdb` and `pg_ctl`.
pub(crate) fn folder() -> Result<PathBuf> {
    let found = on_path().or_else(|| newest_in(Path::new(DEBIAN)));
    found.context(
        "there is no PostgreSQL 15 or newer here; install it (Debian: `apt-get install postgresql`), \
         or set WINDLASS_TEST_POSTGRES_URL to a server that may be used",
    )
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| is_complete(folder))
}

fn newest_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let versions = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut versions: Vec<u32> = versions.filter(|version| *version >= OLDEST).collect();
    versions.sort_unstable();
    let bins = versions.iter().rev().map(|version| folder.join(version.to_string()).join("bin"));
    bins.into_iter().find(|bin| is_complete(bin))
}

fn is_complete(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).exists())
}
