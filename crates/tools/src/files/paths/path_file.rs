//! Small files that contain a path (`.git` files, `commondir`).

use std::fs;
use std::path::{Path, PathBuf};

use super::lexical::lexical_absolute;
use super::symlinks::{LinkResolution, resolve_links};
use crate::limits::MAX_POINTER_BYTES;

/// Returns the path that a small file contains.
pub(crate) fn read_path_file(file: &Path, mark: &str) -> Option<PathBuf> {
    let size = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?.len();
    let text = (size <= MAX_POINTER_BYTES).then(|| fs::read_to_string(file).ok())??;
    let target = text.strip_prefix(mark)?.trim();
    Some(real_or_lexical(&file.parent()?.join(target)))
}

/// Returns the path with its links resolved, or the lexical path if that is not possible.
pub(crate) fn real_or_lexical(path: &Path) -> PathBuf {
    match resolve_links(path) {
        LinkResolution::Path(real) => real,
        LinkResolution::Unresolvable => lexical_absolute(Path::new("/"), path),
    }
}
