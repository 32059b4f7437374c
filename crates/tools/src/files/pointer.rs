//! Small files that say where another one is.

use std::fs;
use std::path::{Path, PathBuf};

use super::path::absolute;
use super::resolve::{Real, real};
use crate::limits::MAX_POINTER_BYTES;

/// Where a small file that holds a path points to.
pub(super) fn pointer(file: &Path, mark: &str) -> Option<PathBuf> {
    let size = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?.len();
    let text = (size <= MAX_POINTER_BYTES).then(|| fs::read_to_string(file).ok())??;
    let target = text.strip_prefix(mark)?.trim();
    Some(settled(&file.parent()?.join(target)))
}

/// The place itself if it can be found, else the name it would have.
pub(super) fn settled(path: &Path) -> PathBuf {
    match real(path) {
        Real::At(real) => real,
        Real::Nowhere => absolute(Path::new("/"), path),
    }
}
