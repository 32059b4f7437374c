//! Files that only their user can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Replaces a file: a reader finds the old content or the new one.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = parent.join(format!(".{name}.{}.new", uuid::Uuid::now_v7()));
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| std::fs::rename(&new, path)) {
        std::fs::remove_file(&new)?;
        return Err(error);
    }
    Ok(())
}

/// Locks a file against other processes until the result is dropped.
pub(crate) fn lock(path: &Path) -> std::io::Result<File> {
    let parent = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}
