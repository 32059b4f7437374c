//! Imports of memory files: `@docs/style.md` in one file brings another along, as other agents do it.
//!
//! A path counts from the folder of its file; `~/` is the user's home. Code is left alone. Chains of
//! imports are followed [`MAX_DEPTH`] files deep, and every file comes once, so a circle ends.

use std::path::{Component, Path, PathBuf};

use super::{FolderMemory, Imports, MemoryFile, left_out};
use crate::files::{FileRefusal, read_beneath};
use crate::limits::MAX_MEMORY_BYTES;

/// Files on the way from a memory file to the last one that it imports.
const MAX_DEPTH: usize = 5;

/// Files that one folder's memory may consist of.
const MAX_FILES: usize = 32;

/// Signs that end a sentence and not a path.
const CLOSING: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\''];

/// From where files may be imported.
pub(super) struct Place<'a> {
    /// The folder that imported files lie beneath.
    pub(super) base: &'a Path,
    /// The user's settings folder, whose Markdown files may be imported from everywhere.
    pub(super) user: Option<&'a Path>,
}

/// Adds what `file` imports, and what that imports.
pub(super) fn follow(
    found: &mut FolderMemory,
    file: &MemoryFile,
    place: &Place<'_>,
    imports: &dyn Fn() -> Imports,
) {
    let mut waiting: Vec<(PathBuf, PathBuf, usize)> = named_by(file, 1);
    if waiting.is_empty() {
        return;
    }
    if imports() == Imports::Ignored {
        let path = file.path.display();
        let why = "imports count only in a folder that you trust";
        found.problems.push(format!("what {path} imports with `@` is left out: {why}"));
        return;
    }
    while let Some((from, path, depth)) = waiting.pop() {
        if found.files.len() >= MAX_FILES || depth > MAX_DEPTH {
            let limits = format!("at most {MAX_FILES} files, {MAX_DEPTH} deep, are imported");
            found.problems.push(format!("{} is not imported: {limits}", path.display()));
            break;
        }
        match read(&path, place) {
            Ok(Some(begun)) => {
                if let Some(file) = found.add(&path, begun) {
                    waiting.extend(named_by(&file, depth + 1));
                }
            }
            Ok(None) => {}
            Err(why) => {
                let by = format!(" (imported by {})", from.display());
                found.problems.push(left_out(&path, &why) + &by);
            }
        }
    }
}

/// What a file imports, the first one last: it is a stack.
fn named_by(file: &MemoryFile, depth: usize) -> Vec<(PathBuf, PathBuf, usize)> {
    let folder = file.path.parent().unwrap_or(Path::new("/"));
    let mut named: Vec<_> = imported(&file.text)
        .into_iter()
        .filter_map(|path| Some((file.path.clone(), absolute(folder, &path)?, depth)))
        .collect();
    named.reverse();
    named
}

fn read(
    path: &Path,
    place: &Place<'_>,
) -> Result<Option<crate::files::FileBeginning>, FileRefusal> {
    let own = place.user.and_then(|user| Some((user, path.strip_prefix(user).ok()?)));
    let own = own.filter(|(_, name)| name.extension().is_some_and(|ext| ext == "md"));
    match (path.strip_prefix(place.base), own) {
        (_, Some((user, name))) => read_beneath(user, name, MAX_MEMORY_BYTES),
        (Ok(name), None) if !is_hidden(name) => read_beneath(place.base, name, MAX_MEMORY_BYTES),
        (Ok(_), None) => Err(outside("it is hidden (its name begins with a dot)")),
        (Err(_), None) => Err(outside("it lies outside of the folder that imports it")),
    }
}

fn outside(why: &str) -> FileRefusal {
    FileRefusal::Unreadable(std::io::Error::other(why))
}

/// Hidden files often hold secrets; the instructions of `.claude` do not.
fn is_hidden(name: &Path) -> bool {
    let hides = |part: Component<'_>| {
        let part = part.as_os_str().to_string_lossy();
        part.starts_with('.') && part != ".claude"
    };
    name.components().any(hides)
}

/// The path without `.` and `..`.
fn absolute(folder: &Path, path: &str) -> Option<PathBuf> {
    let whole = match path.strip_prefix("~/") {
        Some(rest) => PathBuf::from(std::env::var_os("HOME")?).join(rest),
        None => folder.join(path),
    };
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    Some(plain)
}

/// The paths behind every `@` that begins a word outside of code and looks like a path.
pub(super) fn imported(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => paths.extend(in_line(line)),
        }
    }
    paths
}

fn in_line(line: &str) -> Vec<String> {
    // Every second part is inline code.
    let prose = line.split('`').step_by(2);
    let words = prose.flat_map(str::split_whitespace);
    let paths = words.filter_map(|word| word.strip_prefix('@'));
    let paths = paths.map(|path| path.trim_end_matches(CLOSING));
    paths.filter(|path| path.contains(['/', '.'])).map(str::to_owned).collect()
}
