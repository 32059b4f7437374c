//! Memory files: instructions that people wrote down for whoever works in a folder.
//!
//! Those of the workspace and above are said before a conversation begins. One that lies deeper is
//! told when a tool first touches its folder: it goes to the conversation as mail, so it is told
//! once however often it is found, it stands behind the results of the call, and it outlives every
//! compaction.
//!
//! A memory file is a regular file of the user or of root and is never reached through a link: its
//! text goes to the model's provider. A file of a trusted folder may import others with `@path`.
//!
//! Not here: whether a folder is trusted. A memory file is text for the model and changes no rule.

mod frame;
mod imports;
mod remembering;

#[cfg(test)]
#[path = "memory/imports_tests.rs"]
mod imports_tests;

use std::path::{Path, PathBuf};

pub use frame::memory_frame;
pub use remembering::{MemoryNotes, remembering};

use crate::files::{FileBeginning, FileRefusal, is_absent, read_beneath, read_linked};
use crate::limits::MAX_MEMORY_BYTES;
use crate::workplace::Workplace;

/// What a folder's memory may be called, in the order in which it is read.
const NAMES: [&str; 4] = ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", "CLAUDE.local.md"];

/// What the user's own memory may be called.
const USER_NAMES: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says, cut to what a model should have to read.
    pub text: String,
}

/// The memory files of a folder, and what is wrong with those that were left out or cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderMemory {
    /// The files, each with what it imports behind it.
    pub files: Vec<MemoryFile>,
    /// One sentence for each problem.
    pub problems: Vec<String>,
}

/// What the files of a folder may import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imports {
    /// Files beneath the folder, and Markdown files beneath the user's settings folder.
    Allowed,
    /// Nothing: the folder is not trusted.
    Ignored,
}

/// The memory files of one folder of a project; a second one that says the same is left out.
/// `imports` is asked only if a file imports something. `user` is the user's settings folder.
#[must_use]
pub fn memory_files(
    folder: &Path,
    user: Option<&Path>,
    imports: impl Fn() -> Imports,
) -> FolderMemory {
    let mut found = FolderMemory::default();
    for name in NAMES {
        let path = folder.join(name);
        match read_beneath(folder, Path::new(name), MAX_MEMORY_BYTES) {
            Ok(Some(begun)) => {
                let place = imports::Place { base: folder, user };
                found.take(&path, begun, &place, &imports);
            }
            Ok(None) => {}
            Err(FileRefusal::Link) if names_another(&path) => {}
            Err(why) => found.problems.push(left_out(&path, &why)),
        }
    }
    found
}

/// The user's own memory files, which may import whatever belongs to the user beneath `home`.
#[must_use]
pub fn user_memory_files(folder: &Path, home: Option<&Path>) -> FolderMemory {
    let mut found = FolderMemory::default();
    for path in USER_NAMES.map(|name| folder.join(name)) {
        match read_linked(&path, MAX_MEMORY_BYTES) {
            Ok(Some(begun)) => {
                let place = imports::Place { base: home.unwrap_or(folder), user: Some(folder) };
                found.take(&path, begun, &place, &|| Imports::Allowed);
            }
            Ok(None) => {}
            Err(why) => found.problems.push(left_out(&path, &why)),
        }
    }
    found
}

impl FolderMemory {
    fn take(
        &mut self,
        path: &Path,
        begun: FileBeginning,
        place: &imports::Place<'_>,
        imports: &dyn Fn() -> Imports,
    ) {
        if let Some(file) = self.add(path, begun) {
            imports::follow(self, &file, place, imports);
        }
    }

    /// Adds a file, unless it is empty or says what another one says.
    fn add(&mut self, path: &Path, begun: FileBeginning) -> Option<MemoryFile> {
        let is_cut = begun.is_cut;
        let text = text(&begun)?;
        if self.files.iter().any(|known| known.text == text || known.path == path) {
            return None;
        }
        if is_cut {
            let (path, limit) = (path.display(), MAX_MEMORY_BYTES >> 10);
            self.problems.push(format!(
                "{path} is longer than {limit} KiB; what comes after that is not read"
            ));
        }
        let file = MemoryFile { path: path.to_owned(), text };
        self.files.push(file.clone());
        Some(file)
    }
}

/// Whether a link only gives another memory file of the folder a second name, as many projects do.
fn names_another(path: &Path) -> bool {
    let target = std::fs::read_link(path).ok();
    target.is_some_and(|target| NAMES.iter().any(|name| target == Path::new(name)))
}

fn left_out(path: &Path, why: &FileRefusal) -> String {
    format!("the instructions in {} are left out: the file {why}", path.display())
}

/// The memory files of a folder that a tool touched: what leads out of the workspace, and what no
/// tool may read, is not there. They import files of the workspace, where that is allowed.
fn found_in_workspace(workplace: &Workplace, folder: &Path, imports: Imports) -> FolderMemory {
    let zones = workplace.zones();
    let mut found = FolderMemory::default();
    let Some(root) = zones.root_of(folder) else { return found };
    // Trust is of the workspace and says nothing of folders that were added.
    let imports = if root == zones.root() { imports } else { Imports::Ignored };
    for path in NAMES.map(|name| folder.join(name)) {
        let Ok(name) = path.strip_prefix(root) else { continue };
        // This is asked after every call, and nearly always there is no such file: then the rules
        // need not be asked either.
        if is_absent(&path) || workplace.hides(&path, false) {
            continue;
        }
        match read_beneath(root, name, MAX_MEMORY_BYTES) {
            Ok(Some(begun)) => {
                let place = imports::Place { base: root, user: None };
                found.take(&path, begun, &place, &|| imports);
            }
            Ok(None) => {}
            Err(FileRefusal::Link) if names_another(&path) => {}
            Err(why) => found.problems.push(left_out(&path, &why)),
        }
    }
    found.files.retain(|file| !workplace.hides(&file.path, false));
    found
}

fn text(begun: &FileBeginning) -> Option<String> {
    let text = String::from_utf8_lossy(&begun.bytes);
    let text = text.trim().to_owned();
    let cut = "\n[The file is longer; the rest is not shown here. Read it if you need it.]";
    (!text.is_empty()).then(|| if begun.is_cut { text + cut } else { text })
}
