//! Memory files (`CLAUDE.md`, `AGENTS.md`): instructions for work in a folder.
//!
//! Those of the workspace and above are part of the system prompt. One in a deeper folder is context
//! of the result of the first call that touches its folder: the conversation records it once, the
//! model sees it after the results of the round, and every compaction keeps it.
//!
//! A memory file is a regular file of the user or of root and is never reached through a link: its
//! text goes to the model's provider. A file of a trusted folder may import others with `@path`.
//!
//! Not here: whether a folder is trusted. A memory file is text for the model and changes no rule.

mod folder_memory;
mod frame;
mod imports;

#[cfg(test)]
#[path = "memory_files/imports_tests.rs"]
mod imports_tests;

use std::path::{Path, PathBuf};

pub use folder_memory::{MemoryNotes, with_folder_memory};
pub use frame::frame_memory_file;

use crate::files::{ConfigFileError, FilePrefix, is_absent, read_beneath, read_following_links};
use crate::limits::MAX_MEMORY_BYTES;
use crate::tool_context::ToolContext;

/// The names of memory files in a folder, in the order in which they are read, and whether they
/// belong to the project or to its user.
const MEMORY_FILE_NAMES: [(&str, MemoryKind); 4] = [
    ("CLAUDE.md", MemoryKind::Project),
    (".claude/CLAUDE.md", MemoryKind::Project),
    ("AGENTS.md", MemoryKind::Project),
    ("CLAUDE.local.md", MemoryKind::Local),
];

/// The names of the user's own memory files.
const USER_MEMORY_FILE_NAMES: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

/// A memory file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// The file's path.
    pub path: PathBuf,
    /// The file's text, truncated to the limit.
    pub text: String,
}

/// The kind of a memory file in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// Shared by everyone who works on the project.
    Project,
    /// The user's own for this project.
    Local,
}

impl MemoryKind {
    /// All kinds.
    pub const ALL: &'static [Self] = &[Self::Project, Self::Local];
}

/// The memory files of a folder, and the problems with those that were ignored or truncated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderMemory {
    /// The files, each followed by what it imports.
    pub files: Vec<MemoryFile>,
    /// The problems, one sentence each.
    pub problems: Vec<String>,
}

/// Whether the files of a folder may import others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportPolicy {
    /// The files may import files beneath the folder, and Markdown files beneath the user's
    /// settings folder.
    Allowed,
    /// The files may import nothing: the folder is not trusted.
    Ignored,
}

/// Reads the memory files of these kinds in one folder of a project; a second one with the same text
/// is left out. `imports` is called only if a file imports something. `user_folder` is the user's settings folder.
#[must_use]
pub fn read_memory_files(
    folder: &Path,
    user_folder: Option<&Path>,
    kinds: &[MemoryKind],
    imports: impl Fn() -> ImportPolicy,
) -> FolderMemory {
    let mut found = FolderMemory::default();
    for name in memory_file_names(kinds) {
        let path = folder.join(name);
        match read_beneath(folder, Path::new(name), MAX_MEMORY_BYTES) {
            Ok(Some(prefix)) => {
                let scope = imports::ImportScope { base_folder: folder, user_folder };
                found.add_with_imports(&path, prefix, &scope, &imports);
            }
            Ok(None) => {}
            Err(ConfigFileError::SymbolicLink) if is_alias_of_memory_file(&path) => {}
            Err(error) => found.problems.push(omission_message(&path, &error)),
        }
    }
    found
}

/// Reads the user's own memory files, which may import any file of the user beneath `home`.
#[must_use]
pub fn read_user_memory_files(folder: &Path, home: Option<&Path>) -> FolderMemory {
    let mut found = FolderMemory::default();
    for path in USER_MEMORY_FILE_NAMES.map(|name| folder.join(name)) {
        match read_following_links(&path, MAX_MEMORY_BYTES) {
            Ok(Some(prefix)) => {
                let scope = imports::ImportScope {
                    base_folder: home.unwrap_or(folder),
                    user_folder: Some(folder),
                };
                found.add_with_imports(&path, prefix, &scope, &|| ImportPolicy::Allowed);
            }
            Ok(None) => {}
            Err(error) => found.problems.push(omission_message(&path, &error)),
        }
    }
    found
}

impl FolderMemory {
    fn add_with_imports(
        &mut self,
        path: &Path,
        prefix: FilePrefix,
        place: &imports::ImportScope<'_>,
        imports: &dyn Fn() -> ImportPolicy,
    ) {
        if let Some(file) = self.add_file(path, prefix) {
            imports::follow_imports(self, &file, place, imports);
        }
    }

    /// Adds a file, unless it is empty or has the text of another one.
    fn add_file(&mut self, path: &Path, prefix: FilePrefix) -> Option<MemoryFile> {
        let is_cut = prefix.is_truncated;
        let text = shown_text(&prefix)?;
        if self.files.iter().any(|known| known.text == text || known.path == path) {
            return None;
        }
        if is_cut {
            let (path, limit) = (path.display(), MAX_MEMORY_BYTES >> 10);
            self.problems.push(format!("{path} is longer than {limit} KiB; the rest is ignored"));
        }
        let file = MemoryFile { path: path.to_owned(), text };
        self.files.push(file.clone());
        Some(file)
    }
}

fn memory_file_names(kinds: &[MemoryKind]) -> impl Iterator<Item = &'static str> {
    let names = MEMORY_FILE_NAMES.into_iter();
    names.filter(|(_, kind)| kinds.contains(kind)).map(|(name, _)| name)
}

/// Returns whether a link is only a second name of another memory file of the folder, as in many
/// projects.
fn is_alias_of_memory_file(path: &Path) -> bool {
    let target = std::fs::read_link(path).ok();
    let is_named = |target: PathBuf| {
        MEMORY_FILE_NAMES.iter().any(|(name, _)| target.as_path() == Path::new(name))
    };
    target.is_some_and(is_named)
}

fn omission_message(path: &Path, error: &ConfigFileError) -> String {
    format!("the instructions in {} are ignored: the file {error}", path.display())
}

/// Reads the memory files of a folder that a tool touched, without files outside of the workspace
/// and files that no tool may read. They import files of the workspace, where that is allowed.
fn memory_files_in_workspace(
    tool_context: &ToolContext,
    folder: &Path,
    kinds: &[MemoryKind],
    imports: ImportPolicy,
) -> FolderMemory {
    let zones = tool_context.zones();
    let mut found = FolderMemory::default();
    let Some(root) = zones.root_containing(folder) else { return found };
    // Trust applies to the workspace and not to folders that were added.
    let imports = if root == zones.root() { imports } else { ImportPolicy::Ignored };
    for path in memory_file_names(kinds).map(|name| folder.join(name)) {
        let Ok(name) = path.strip_prefix(root) else { continue };
        // This runs after every call, and nearly always there is no such file: then the rules need
        // not be checked either.
        if is_absent(&path) || tool_context.is_hidden(&path, false) {
            continue;
        }
        match read_beneath(root, name, MAX_MEMORY_BYTES) {
            Ok(Some(prefix)) => {
                let scope = imports::ImportScope { base_folder: root, user_folder: None };
                found.add_with_imports(&path, prefix, &scope, &|| imports);
            }
            Ok(None) => {}
            Err(ConfigFileError::SymbolicLink) if is_alias_of_memory_file(&path) => {}
            Err(error) => found.problems.push(omission_message(&path, &error)),
        }
    }
    found.files.retain(|file| !tool_context.is_hidden(&file.path, false));
    found
}

fn shown_text(prefix: &FilePrefix) -> Option<String> {
    let text = String::from_utf8_lossy(&prefix.bytes);
    let text = text.trim().to_owned();
    let cut = "\n[The file is longer; the rest is not shown here. Read it if you need it.]";
    (!text.is_empty()).then(|| if prefix.is_truncated { text + cut } else { text })
}
