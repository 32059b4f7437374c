//! A file that configures runs, opened with care: files of a project are read beneath its folder
//! without following links; files of the user may be links that the user made. Both must be regular
//! files of bounded size that belong to the user or to root.

use std::path::{Path, PathBuf};

use windlass::tools::{ConfigFileError, read_beneath, read_following_links};

/// Whether a file belongs to the user or to a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOwner {
    /// The user's own settings.
    User,
    /// A project, which may be written by others.
    Project,
}

/// A configuration file beneath a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    folder: PathBuf,
    name: PathBuf,
    owner: FileOwner,
}

impl ConfigFile {
    /// The file `name` beneath `folder`.
    pub(crate) fn new(folder: &Path, name: impl Into<PathBuf>, owner: FileOwner) -> Self {
        Self { folder: folder.to_owned(), name: name.into(), owner }
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// The file's name beneath its folder.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Whether the file belongs to the user or to a project.
    pub(crate) fn owner(&self) -> FileOwner {
        self.owner
    }

    /// Reads the text of the file, at most `limit` bytes; `None` if the file does not exist.
    pub(crate) fn read(&self, limit: u64) -> Result<Option<String>, ConfigFileError> {
        let begun = match self.owner {
            FileOwner::User => read_following_links(&self.path(), limit)?,
            FileOwner::Project => read_beneath(&self.folder, &self.name, limit)?,
        };
        begun.map(|begun| begun.into_text(limit)).transpose()
    }
}

/// Lists the files beneath `folder/sub`, each by its name from `folder`, at most `depth` folders
/// deep and `limit` in number. In a project no link is followed.
pub(crate) fn list_files(
    folder: &Path,
    sub: &Path,
    owner: FileOwner,
    depth: usize,
    limit: usize,
) -> Vec<ConfigFile> {
    let mut files = Vec::new();
    let parts: Vec<PathBuf> = sub.ancestors().map(Path::to_path_buf).collect();
    let links = |name: &PathBuf| {
        let found = folder.join(name).symlink_metadata();
        !name.as_os_str().is_empty() && found.is_ok_and(|found| found.is_symlink())
    };
    if owner == FileOwner::Project && parts.iter().any(links) {
        return files;
    }
    collect_files(folder, sub, owner, (depth, limit), &mut files);
    files
}

fn collect_files(
    folder: &Path,
    sub: &Path,
    owner: FileOwner,
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
            FileOwner::User => path.metadata(),
            FileOwner::Project => path.symlink_metadata(),
        };
        let Ok(found) = found else { continue };
        if into.len() >= limit {
            return;
        } else if found.is_dir() && depth > 1 {
            collect_files(folder, &name, owner, (depth - 1, limit), into);
        } else if found.is_file() {
            into.push(ConfigFile::new(folder, name, owner));
        }
    }
}
