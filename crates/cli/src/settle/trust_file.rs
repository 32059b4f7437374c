//! The file in which the user's decisions about folders are kept. An entry that cannot be understood
//! is an error and never trust: the file is read whole or not at all.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use windlass::tools::read_linked;

use super::paths;

/// Bytes of the file.
const FILE_BYTES: u64 = 4 << 20;

/// What the user decided about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// What it grants counts.
    Trusted,
    /// It does not, and the question was answered.
    Declined,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustEntry {
    /// The folder itself; folders below it are not meant.
    pub(crate) path: String,
    pub(crate) decision: Decision,
    /// The hash of each kind of grant that was looked at.
    pub(crate) grants: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries {
    version: u32,
    folders: Vec<TrustEntry>,
}

/// The version that this program writes and reads.
const VERSION: u32 = 1;

/// Where the file is.
pub(crate) fn place() -> anyhow::Result<PathBuf> {
    Ok(paths::state()?.join("trust.json"))
}

/// The decision about exactly this folder.
pub(crate) fn find(folder: &Path) -> anyhow::Result<Option<TrustEntry>> {
    let Ok(place) = place() else { return Ok(None) };
    let entries = read(&place)?;
    Ok(entries.into_iter().find(|entry| Path::new(&entry.path) == folder))
}

/// Replaces the decision about a folder, or removes it. Gives the one that there was.
pub(crate) fn replace(
    folder: &Path,
    entry: Option<TrustEntry>,
) -> anyhow::Result<Option<TrustEntry>> {
    let place = place()?;
    let parent = place.parent().unwrap_or(Path::new("."));
    let failed = || format!("{} cannot be written; make it writable", place.display());
    DirBuilder::new().recursive(true).mode(0o700).create(parent).with_context(failed)?;
    // Two processes that decide at once must not lose a decision.
    let lock = private(&parent.join("trust.lock")).with_context(failed)?;
    flock(&lock, FlockOperation::LockExclusive).with_context(failed)?;
    let mut folders = read(&place)?;
    let known = folders.iter().position(|known| Path::new(&known.path) == folder);
    let before = known.map(|at| folders.remove(at));
    folders.extend(entry);
    let text = serde_json::to_string_pretty(&Entries { version: VERSION, folders })? + "\n";
    write(&place, &text).with_context(failed)?;
    Ok(before)
}

/// A file that only its user can read.
fn private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Writes the file whole: a reader finds the old one or the new one.
fn write(place: &Path, text: &str) -> std::io::Result<()> {
    let parent = place.parent().unwrap_or(Path::new("."));
    let new = parent.join(format!("trust.{}.new", std::process::id()));
    let written = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new);
    let written = match written {
        // Left by a process that died; nobody else has our id, and the lock is ours.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            std::fs::remove_file(&new)?;
            OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new)
        }
        written => written,
    };
    let mut file = written?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, place)?;
    File::open(parent)?.sync_all()
}

fn read(place: &Path) -> anyhow::Result<Vec<TrustEntry>> {
    let shown = place.display();
    let advice = "fix it, or remove it and trust your folders again";
    let begun = read_linked(place, FILE_BYTES);
    let text = begun.and_then(|begun| begun.map(|b| b.into_whole_text(FILE_BYTES)).transpose());
    let Some(text) = text.map_err(|why| anyhow::anyhow!("the file {shown} {why}"))? else {
        return Ok(Vec::new());
    };
    let others = 0o022;
    if std::fs::metadata(place).is_ok_and(|found| found.mode() & others != 0) {
        bail!("{shown} can be changed by other users; run `chmod 600 {shown}` after checking it");
    }
    let entries: Entries = serde_json::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{shown} is not valid ({error}); {advice}"))?;
    if entries.version != VERSION {
        bail!(
            "{shown} has version {}, which this program does not know; {advice}",
            entries.version
        );
    }
    match entries.folders.iter().find(|entry| !Path::new(&entry.path).is_absolute()) {
        Some(bad) => {
            bail!("{shown} has {:?} where a folder's whole path belongs; {advice}", bad.path)
        }
        None => Ok(entries.folders),
    }
}
