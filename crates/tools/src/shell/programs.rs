//! Where the programs are that a command's names lead to.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::files::Zones;

/// Names that a shell runs by itself, without looking for a program.
const BUILTIN: &[&str] =
    &["echo", "pwd", "true", "false", "test", "[", "cd", "printf", "kill", ":", "type", "exit"];

/// The folders of `PATH`, in the order in which they are searched.
#[derive(Debug, Clone, Default)]
pub(crate) struct Programs {
    folders: Vec<PathBuf>,
}

impl Programs {
    /// The folders of a `PATH`.
    pub(crate) fn of(path: &OsStr) -> Self {
        Self { folders: std::env::split_paths(path).collect() }
    }

    /// The file that a name leads to.
    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        let mut files = self.folders.iter().map(|folder| folder.join(name));
        files.find(|file| !name.contains('/') && file.is_file())
    }

    /// The program of the workspace that this name leads to, or may lead to once it is there: a
    /// folder of the workspace that is searched before the name is found elsewhere decides.
    pub(crate) fn in_workspace(&self, name: &str, zones: &Zones) -> Option<String> {
        if name.contains('/') || name.is_empty() || BUILTIN.contains(&name) {
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
