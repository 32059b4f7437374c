//! Memory files: what people wrote down for whoever works in a folder, `CLAUDE.md` and `AGENTS.md`.
//!
//! Those of the workspace and above are said before a conversation begins. One that lies deeper is
//! told when a tool first touches its folder: it goes to the conversation as mail, so it is told
//! once however often it is found, it stands behind the results of the call, and it outlives every
//! compaction.
//!
//! Not here: whether a folder is trusted. A memory file is text for the model and changes no rule.

mod remembering;

use std::io::Read;
use std::path::{Path, PathBuf};

pub use remembering::remembering;

use crate::limits::MAX_MEMORY_BYTES;
use crate::workplace::Workplace;

/// What a folder's memory may be called.
const NAMES: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says, cut to what a model should have to read.
    pub text: String,
}

/// The memory files of one folder; a second one that says the same is left out.
#[must_use]
pub fn memory_files(folder: &Path) -> Vec<MemoryFile> {
    let open = |path: &Path| path.is_file().then(|| std::fs::File::open(path).ok())?;
    found_in(folder, open)
}

/// The same for a folder that a tool touched: what leads out of the workspace, and what no tool may
/// read, is not there.
fn found_in_workspace(workplace: &Workplace, folder: &Path) -> Vec<MemoryFile> {
    let open = |path: &Path| {
        // Most folders have none, and looking is cheaper than resolving.
        path.symlink_metadata().ok()?;
        let place = workplace.zones().place(path.to_str()?).ok()?;
        let is_shown = !workplace.hides(&place.real(), false);
        is_shown.then(|| place.open_file().ok())?
    };
    found_in(folder, open)
}

fn found_in(folder: &Path, open: impl Fn(&Path) -> Option<std::fs::File>) -> Vec<MemoryFile> {
    let mut found: Vec<MemoryFile> = Vec::new();
    for path in NAMES.map(|name| folder.join(name)) {
        let Some(text) = open(&path).and_then(text) else { continue };
        if !found.iter().any(|known| known.text == text) {
            found.push(MemoryFile { path, text });
        }
    }
    found
}

fn text(file: std::fs::File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(MAX_MEMORY_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
