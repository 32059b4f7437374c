//! Memory files: `CLAUDE.md` and `AGENTS.md` of the user, of the folders above, and of the project.
//! They are text for the model and nothing else, so they are read in untrusted folders too.

use std::path::{Path, PathBuf};

use super::paths;

/// Bytes of one memory file that are read.
const FILE_BYTES: usize = 64 << 10;

/// Files that are read at most.
const MOST_FILES: usize = 16;

/// What a project may call its memory; of a folder the first is read, and the second too if it says
/// something else.
const NAMES: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it says.
    pub(crate) text: String,
}

/// Every memory file that applies in `workspace`: the user's first, the nearest last.
pub(crate) fn files(workspace: &Path) -> Vec<Memory> {
    let mut folders: Vec<PathBuf> = workspace.ancestors().map(Path::to_path_buf).collect();
    folders.reverse();
    let user = paths::shared_settings().into_iter();
    let mut found: Vec<Memory> = Vec::new();
    for folder in user.chain(folders) {
        for memory in of_folder(&folder) {
            if found.len() < MOST_FILES && !found.iter().any(|known| known.text == memory.text) {
                found.push(memory);
            }
        }
    }
    found
}

/// The memory files of one folder.
pub(crate) fn of_folder(folder: &Path) -> Vec<Memory> {
    NAMES.iter().filter_map(|name| read(&folder.join(name))).collect()
}

fn read(path: &Path) -> Option<Memory> {
    if !path.is_file() {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    let bytes = bytes.get(..bytes.len().min(FILE_BYTES)).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes).trim().to_owned();
    (!text.is_empty()).then(|| Memory { path: path.to_path_buf(), text })
}

/// What the summary of a long conversation must keep: the section of a memory file that says so.
pub(crate) fn preserve(files: &[Memory]) -> Option<String> {
    let sections: Vec<String> = files.iter().filter_map(|file| section(&file.text)).collect();
    (!sections.is_empty()).then(|| sections.join("\n"))
}

/// The section under a heading that speaks of compaction or of what to preserve.
fn section(text: &str) -> Option<String> {
    let is_heading = |line: &str| line.starts_with('#');
    let speaks = |line: &str| {
        let line = line.to_lowercase();
        is_heading(&line) && (line.contains("compact") || line.contains("preserve"))
    };
    let mut lines = text.lines().skip_while(|line| !speaks(line));
    lines.next()?;
    let body: Vec<&str> = lines.take_while(|line| !is_heading(line)).collect();
    let body = body.join("\n").trim().to_owned();
    (!body.is_empty()).then_some(body)
}
