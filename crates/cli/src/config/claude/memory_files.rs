//! Memory files, which come first in the context: those of the user, of the folders above, and of
//! the project, as far as their settings source is in use. They are only text for the model, so they
//! are read in untrusted folders too; only what they import with `@` needs trust.

use std::path::{Path, PathBuf};

use windlass::tools::{
    FolderMemory, ImportPolicy, MemoryKind, read_memory_files, read_user_memory_files,
};

use crate::config::paths;
use crate::config::trust::folder_trust::{FolderTrust, TrustState};

/// Maximum number of files that are read.
const MAX_FILES: usize = 48;

/// The kinds of memory files in a project whose settings source is in use.
pub(crate) fn memory_kinds(reads: impl Fn(&str) -> bool) -> Vec<MemoryKind> {
    let source = |kind: &MemoryKind| match kind {
        MemoryKind::Project => "project",
        MemoryKind::Local => "local",
    };
    MemoryKind::ALL.iter().copied().filter(|kind| reads(source(kind))).collect()
}

/// Loads every memory file that applies in the folder: the user's first, the nearest last.
pub(crate) fn load_memory_files(here: &FolderTrust, reads: impl Fn(&str) -> bool) -> FolderMemory {
    let mut folders: Vec<PathBuf> = here.folder.ancestors().map(Path::to_path_buf).collect();
    folders.reverse();
    let user = paths::user_settings_folder();
    let own = user.as_deref().filter(|_| reads("user"));
    let own = own.map(|user| read_user_memory_files(user, paths::home_folder().as_deref()));
    let mut all = FolderMemory::default();
    merge_memory(&mut all, own.unwrap_or_default());
    let kinds = memory_kinds(reads);
    for folder in folders {
        let imports = || {
            if is_trusted(here, &folder) { ImportPolicy::Allowed } else { ImportPolicy::Ignored }
        };
        merge_memory(&mut all, read_memory_files(&folder, user.as_deref(), &kinds, imports));
    }
    all
}

/// Returns whose instructions a memory file has, as hooks are told.
pub(crate) fn memory_type(file: &Path) -> &'static str {
    let is_users = paths::user_settings_folder().is_some_and(|user| file.starts_with(user));
    match file.file_name().is_some_and(|name| name == "CLAUDE.local.md") {
        _ if is_users => "User",
        true => "Local",
        false => "Project",
    }
}

/// Returns whether a folder is trusted. A folder above the project must be trusted by itself.
fn is_trusted(here: &FolderTrust, folder: &Path) -> bool {
    let above =
        || FolderTrust::load(folder, |_| true).is_ok_and(|at| at.trust == TrustState::Trusted);
    if folder == here.folder { here.trust == TrustState::Trusted } else { above() }
}

fn merge_memory(all: &mut FolderMemory, more: FolderMemory) {
    for file in more.files {
        if all.files.iter().any(|known| known.text == file.text) {
            continue;
        }
        if all.files.len() >= MAX_FILES {
            let path = file.path.display();
            all.problems
                .push(format!("{path} is ignored: at most {MAX_FILES} memory files are read"));
            continue;
        }
        all.files.push(file);
    }
    all.problems.extend(more.problems);
}
