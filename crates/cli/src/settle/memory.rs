//! Memory files that are said first: those of the user, of the folders above, and of the project. They
//! are text for the model and nothing else, so they are read in untrusted folders too; only what they
//! import with `@` needs trust.

use std::path::{Path, PathBuf};

use windlass::tools::{FolderMemory, Imports, memory_files, user_memory_files};

use super::paths;
use super::trust::{FolderTrust, Trust};

/// Files that are read at most.
const MOST_FILES: usize = 48;

/// Every memory file that applies in the folder: the user's first, the nearest last.
pub(crate) fn files(here: &FolderTrust) -> FolderMemory {
    let mut folders: Vec<PathBuf> = here.folder.ancestors().map(Path::to_path_buf).collect();
    folders.reverse();
    let user = paths::shared_settings();
    let own = user.as_deref().map(|user| user_memory_files(user, paths::home().as_deref()));
    let mut all = FolderMemory::default();
    join(&mut all, own.unwrap_or_default());
    for folder in folders {
        let imports =
            || if is_trusted(here, &folder) { Imports::Allowed } else { Imports::Ignored };
        join(&mut all, memory_files(&folder, user.as_deref(), imports));
    }
    all
}

/// A folder above the project must be trusted by itself.
fn is_trusted(here: &FolderTrust, folder: &Path) -> bool {
    let above = || FolderTrust::look(folder, |_| true).is_ok_and(|at| at.trust == Trust::Given);
    if folder == here.folder { here.trust == Trust::Given } else { above() }
}

fn join(all: &mut FolderMemory, more: FolderMemory) {
    for file in more.files {
        if all.files.iter().any(|known| known.text == file.text) {
            continue;
        }
        if all.files.len() >= MOST_FILES {
            let path = file.path.display();
            all.problems
                .push(format!("{path} is left out: only {MOST_FILES} memory files are read"));
            continue;
        }
        all.files.push(file);
    }
    all.problems.extend(more.problems);
}
