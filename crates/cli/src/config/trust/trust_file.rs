//! The file with the user's trust decisions about folders. An entry that cannot be parsed is an
//! error and never trust: the file is read completely or not at all.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use windlass::tools::read_following_links;

use crate::config::paths;

/// Maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The user's decision about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrustDecision {
    /// The folder's grants take effect.
    Trusted,
    /// The user was asked and declined: the folder's grants have no effect.
    Declined,
}

/// One recorded decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustEntry {
    /// The folder itself; folders below it are not included.
    pub(crate) path: String,
    pub(crate) decision: TrustDecision,
    /// The hash of each kind of grant that the user reviewed.
    pub(crate) grants: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustFile {
    version: u32,
    folders: Vec<TrustEntry>,
}

/// The file version that this program writes and reads.
const TRUST_FILE_VERSION: u32 = 1;

/// The path of the trust file.
pub(crate) fn trust_file_path() -> anyhow::Result<PathBuf> {
    Ok(paths::state_folder()?.join("trust.json"))
}

/// Finds the decision about exactly this folder.
pub(crate) fn find_entry(folder: &Path) -> anyhow::Result<Option<TrustEntry>> {
    let Ok(path) = trust_file_path() else { return Ok(None) };
    let entries = read_entries(&path)?;
    Ok(entries.into_iter().find(|entry| Path::new(&entry.path) == folder))
}

/// Replaces or removes the decision about a folder, and returns the previous one.
pub(crate) fn replace_entry(
    folder: &Path,
    entry: Option<TrustEntry>,
) -> anyhow::Result<Option<TrustEntry>> {
    let path = trust_file_path()?;
    let parent = path.parent().unwrap_or(Path::new("."));
    let failed = || format!("cannot write {}; make it writable", path.display());
    DirBuilder::new().recursive(true).mode(0o700).create(parent).with_context(failed)?;
    // Two processes that decide at once must not lose a decision.
    let lock = open_private(&parent.join("trust.lock")).with_context(failed)?;
    flock(&lock, FlockOperation::LockExclusive).with_context(failed)?;
    let mut folders = read_entries(&path)?;
    let known = folders.iter().position(|known| Path::new(&known.path) == folder);
    let before = known.map(|at| folders.remove(at));
    folders.extend(entry);
    let text =
        serde_json::to_string_pretty(&TrustFile { version: TRUST_FILE_VERSION, folders })? + "\n";
    write_atomically(&path, &text).with_context(failed)?;
    Ok(before)
}

/// Opens a file that only its user can read.
fn open_private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Writes the file atomically: a reader finds the old content or the new one.
fn write_atomically(path: &Path, text: &str) -> std::io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let new = parent.join(format!("trust.{}.new", std::process::id()));
    let written = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new);
    let written = match written {
        // Left by a process that died: the process id is ours now, and so is the lock.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(&new)?;
            OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new)
        }
        written => written,
    };
    let mut file = written?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    File::open(parent)?.sync_all()
}

fn read_entries(place: &Path) -> anyhow::Result<Vec<TrustEntry>> {
    let shown = place.display();
    let advice = "fix it, or remove it and trust your folders again";
    let begun = read_following_links(place, MAX_FILE_BYTES);
    let text = begun.and_then(|begun| begun.map(|b| b.into_text(MAX_FILE_BYTES)).transpose());
    let Some(text) = text.map_err(|why| anyhow::anyhow!("the file {shown} {why}"))? else {
        return Ok(Vec::new());
    };
    let others = 0o022;
    if std::fs::metadata(place).is_ok_and(|found| found.mode() & others != 0) {
        bail!("{shown} is writable by other users; check it, then run `chmod 600 {shown}`");
    }
    let entries: TrustFile = serde_json::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{shown} is not valid ({error}); {advice}"))?;
    if entries.version != TRUST_FILE_VERSION {
        bail!(
            "{shown} has version {}, which this program does not know; {advice}",
            entries.version
        );
    }
    match entries.folders.iter().find(|entry| !Path::new(&entry.path).is_absolute()) {
        Some(bad) => {
            bail!("{shown} contains the relative path {:?}; {advice}", bad.path)
        }
        None => Ok(entries.folders),
    }
}
