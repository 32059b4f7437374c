//! Memory files that are said first: `CLAUDE.md` and `AGENTS.md` of the user, of the folders above, and
//! of the project. They are text for the model and nothing else, so they are read in untrusted folders too.

use std::path::{Path, PathBuf};

use windlass::tools::{MemoryFile, memory_files};

use super::paths;

/// Files that are read at most.
const MOST_FILES: usize = 16;

/// Every memory file that applies in `workspace`: the user's first, the nearest last.
pub(crate) fn files(workspace: &Path) -> Vec<MemoryFile> {
    let mut folders: Vec<PathBuf> = workspace.ancestors().map(Path::to_path_buf).collect();
    folders.reverse();
    let user = paths::shared_settings().into_iter();
    let mut found: Vec<MemoryFile> = Vec::new();
    for folder in user.chain(folders) {
        for memory in memory_files(&folder) {
            if found.len() < MOST_FILES && !found.iter().any(|known| known.text == memory.text) {
                found.push(memory);
            }
        }
    }
    found
}

/// What the summary of a long conversation must keep: the section of a memory file that says so.
pub(crate) fn preserve(files: &[MemoryFile]) -> Option<String> {
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
