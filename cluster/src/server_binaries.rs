//! Finds the server's programs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folder of Debian's packages, with one folder per version.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";

/// The oldest supported version.
const MIN_VERSION: u32 = 15;

/// Finds the folder with `initdb` and `pg_ctl`.
pub(crate) fn find_binaries() -> Result<PathBuf> {
    let found = find_on_path().or_else(|| find_newest(Path::new(DEBIAN_FOLDER)));
    found.context(
        "there is no PostgreSQL 15 or newer here; install it (Debian: `apt-get install postgresql`), \
         or set WINDLASS_TEST_POSTGRES_URL to a server that may be used",
    )
}

fn find_on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|folder| has_all_programs(folder))
}

fn find_newest(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let versions = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut versions: Vec<u32> = versions.filter(|version| *version >= MIN_VERSION).collect();
    versions.sort_unstable();
    let bins = versions.iter().rev().map(|version| folder.join(version.to_string()).join("bin"));
    bins.into_iter().find(|bin| has_all_programs(bin))
}

fn has_all_programs(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).exists())
}
