//! Looks up programs in `PATH`.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::files::PathZones;

/// Names that a shell runs by itself, without looking up a program.
const SHELL_BUILTINS: &[&str] =
    &["echo", "pwd", "true", "false", "test", "[", "cd", "printf", "kill", ":", "type", "exit"];

/// The folders of `PATH`, in the order in which they are searched.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramLookup {
    folders: Vec<PathBuf>,
}

impl ProgramLookup {
    /// Returns the lookup for a value of `PATH`.
    pub(crate) fn from_path(path: &OsStr) -> Self {
        Self { folders: std::env::split_paths(path).collect() }
    }

    /// Returns the file that a name leads to.
    pub(crate) fn find_file(&self, name: &str) -> Option<PathBuf> {
        let mut files = self.folders.iter().map(|folder| folder.join(name));
        files.find(|file| !name.contains('/') && file.is_file())
    }

    /// Returns the program of the workspace that this name leads to, or may lead to once it exists:
    /// a folder of the workspace that is searched before the name is found elsewhere decides.
    pub(crate) fn find_in_workspace(&self, name: &str, zones: &PathZones) -> Option<String> {
        if name.contains('/') || name.is_empty() || SHELL_BUILTINS.contains(&name) {
            return None;
        }
        let first = self
            .folders
            .iter()
            .find(|folder| zones.is_in_workspace(folder) || folder.join(name).is_file())?;
        let program = first.join(name);
        zones.is_in_workspace(&program).then(|| program.display().to_string())
    }
}
