//! One file that configures runs, opened with care: what a project brings is read beneath its folder
//! without following links, what the user keeps may be a link of the user's own. Both are regular
//! files of bounded size that belong to the user or to root.

use std::path::{Path, PathBuf};

use windlass::tools::{FileRefusal, read_beneath, read_linked};

/// Whose folder a file lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user's own settings.
    User,
    /// A project, which somebody else may have written.
    Project,
}

/// A file beneath a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    folder: PathBuf,
    name: PathBuf,
    owner: Owner,
}

impl ConfigFile {
    /// The file `name` beneath `folder`.
    pub(crate) fn new(folder: &Path, name: impl Into<PathBuf>, owner: Owner) -> Self {
        Self { folder: folder.to_owned(), name: name.into(), owner }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// Its name beneath its folder.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Its text, if there is such a file, of at most `limit` bytes.
    pub(crate) fn read(&self, limit: u64) -> Result<Option<String>, FileRefusal> {
        let begun = match self.owner {
            Owner::User => read_linked(&self.path(), limit)?,
            Owner::Project => read_beneath(&self.folder, &self.name, limit)?,
        };
        begun.map(|begun| begun.into_whole_text(limit)).transpose()
    }
}

/// The files beneath `folder/sub`, each by its name from `folder`, at most `depth` folders deep and
/// `limit` in number. In a project no link is followed.
pub(crate) fn list(
    folder: &Path,
    sub: &Path,
    owner: Owner,
    depth: usize,
    limit: usize,
) -> Vec<ConfigFile> {
    let mut files = Vec::new();
    let parts: Vec<PathBuf> = sub.ancestors().map(Path::to_path_buf).collect();
    let links = |name: &PathBuf| {
        let found = folder.join(name).symlink_metadata();
        !name.as_os_str().is_empty() && found.is_ok_and(|found| found.is_symlink())
    };
    if owner == Owner::Project && parts.iter().any(links) {
        return files;
    }
    walk(folder, sub, owner, (depth, limit), &mut files);
    files
}

fn walk(
    folder: &Path,
    sub: &Path,
    owner: Owner,
    bounds: (usize, usize),
    into: &mut Vec<ConfigFile>,
) {
    let (depth, limit) = bounds;
    let Ok(entries) = std::fs::read_dir(folder.join(sub)) else { return };
    let mut names: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| sub.join(entry.file_name())).collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let found = match owner {
            Owner::User => path.metadata(),
            Owner::Project => path.symlink_metadata(),
        };
        let Ok(found) = found else { continue };
        if into.len() >= limit {
            return;
        } else if found.is_dir() && depth > 1 {
            walk(folder, &name, owner, (depth - 1, limit), into);
        } else if found.is_file() {
            into.push(ConfigFile::new(folder, name, owner));
        }
    }
}
