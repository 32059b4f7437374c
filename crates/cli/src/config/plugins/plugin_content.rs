//! The files of a plugin: their hash, to which an installation is bound, and their copy.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::json;
use windlass::tools::read_beneath;
use windlass_core::message::raw_json::{RawJson, sha256_hex};

/// Maximum number of files and folders of a plugin.
const MAX_ENTRIES: usize = 5_000;

/// Maximum size of all files of a plugin together in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 32;

/// Folders that are no part of a plugin.
const LEFT_OUT: [&str; 1] = [".git"];

/// A file of a plugin.
struct ContentFile {
    /// Its path from the folder of the plugin.
    name: PathBuf,
    bytes: Vec<u8>,
    is_executable: bool,
}

/// The hash of everything in the folder of a plugin.
pub(crate) fn content_hash(root: &Path) -> anyhow::Result<String> {
    Ok(hash_of(&read_files(root)?))
}

/// Copies a plugin into a new folder, and returns the hash of what was copied.
pub(crate) fn copy_plugin(root: &Path, into: &Path) -> anyhow::Result<String> {
    let files = read_files(root)?;
    for file in &files {
        let path = into.join(&file.name);
        let parent = path.parent().unwrap_or(into);
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        let mode = if file.is_executable { 0o700 } else { 0o600 };
        let mut copy = OpenOptions::new().create_new(true).write(true).mode(mode).open(&path)?;
        copy.write_all(&file.bytes).and_then(|()| copy.sync_all())?;
    }
    Ok(hash_of(&files))
}

fn hash_of(files: &[ContentFile]) -> String {
    let line = |file: &ContentFile| {
        json!([file.name.to_string_lossy(), file.is_executable, sha256_hex(&file.bytes)])
    };
    RawJson::encode(&files.iter().map(line).collect::<Vec<_>>()).canonical_hash_hex()
}

/// Reads all files, in the order of their names. A link is an error: what it leads to could change
/// after it was approved.
fn read_files(root: &Path) -> anyhow::Result<Vec<ContentFile>> {
    let mut names = Vec::new();
    let mut entries = 0;
    list_names(root, Path::new(""), 0, (&mut entries, &mut names))?;
    names.sort();
    let mut left = MAX_BYTES;
    let mut files = Vec::new();
    for name in names {
        let shown = root.join(&name);
        let found = read_beneath(root, &name, left)
            .map_err(|why| anyhow::anyhow!("the file {} {why}", shown.display()))?;
        let found = found.with_context(|| format!("{} no longer exists", shown.display()))?;
        if found.is_truncated {
            bail!("the plugin {} has more than {} MiB", root.display(), MAX_BYTES >> 20);
        }
        left = left.saturating_sub(u64::try_from(found.bytes.len()).unwrap_or(u64::MAX));
        let is_executable = std::fs::metadata(&shown)?.permissions().mode() & 0o100 != 0;
        files.push(ContentFile { name, bytes: found.bytes, is_executable });
    }
    Ok(files)
}

fn list_names(
    root: &Path,
    sub: &Path,
    depth: usize,
    (entries, names): (&mut usize, &mut Vec<PathBuf>),
) -> anyhow::Result<()> {
    let folder = root.join(sub);
    let shown = root.display();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
        let entry = entry?;
        let name = sub.join(entry.file_name());
        *entries += 1;
        if *entries > MAX_ENTRIES || depth > MAX_DEPTH {
            bail!("the plugin {shown} has too many files; the limit is {MAX_ENTRIES}");
        }
        let kind = entry.file_type()?;
        if kind.is_dir() && LEFT_OUT.iter().any(|left_out| entry.file_name() == *left_out) {
            continue;
        }
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => list_names(root, &name, depth + 1, (&mut *entries, &mut *names))?,
            (_, true) => names.push(name),
            (false, false) => bail!(
                "{} is a link, a pipe or a device; replace it by a regular file",
                root.join(&name).display()
            ),
        }
    }
    Ok(())
}
