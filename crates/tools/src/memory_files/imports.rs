//! `@path` imports in memory files: `@docs/style.md` in one file imports another, as in other
//! agents.
//!
//! A path is relative to the folder of its file; `~/` is the user's home folder. Code is ignored.
//! Chains of imports are followed [`MAX_IMPORT_DEPTH`] files deep, and every file is imported once,
//! so a cycle ends.

use std::path::{Component, Path, PathBuf};

use super::{FolderMemory, ImportPolicy, MemoryFile, omission_message};
use crate::files::{ConfigFileError, read_beneath};
use crate::limits::MAX_MEMORY_BYTES;

/// Maximum length of a chain of imports.
const MAX_IMPORT_DEPTH: usize = 5;

/// Maximum number of files that one folder's memory may consist of.
const MAX_IMPORTED_FILES: usize = 32;

/// Punctuation that ends a sentence and not a path.
const CLOSING_PUNCTUATION: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\''];

/// The folders from which files may be imported.
pub(super) struct ImportScope<'a> {
    /// The folder that contains imported files.
    pub(super) base_folder: &'a Path,
    /// The user's settings folder, whose Markdown files may be imported from everywhere.
    pub(super) user_folder: Option<&'a Path>,
}

/// Adds the imports of `file`, and their imports in turn.
pub(super) fn follow_imports(
    found: &mut FolderMemory,
    file: &MemoryFile,
    place: &ImportScope<'_>,
    imports: &dyn Fn() -> ImportPolicy,
) {
    let mut waiting: Vec<(PathBuf, PathBuf, usize)> = imports_of(file, 1);
    if waiting.is_empty() {
        return;
    }
    if imports() == ImportPolicy::Ignored {
        let path = file.path.display();
        let reason = "imports work only in trusted folders";
        found.problems.push(format!("the `@` imports of {path} are ignored: {reason}"));
        return;
    }
    while let Some((from, path, depth)) = waiting.pop() {
        if found.files.len() >= MAX_IMPORTED_FILES || depth > MAX_IMPORT_DEPTH {
            let limits = format!(
                "at most {MAX_IMPORTED_FILES} files, {MAX_IMPORT_DEPTH} deep, are imported"
            );
            found.problems.push(format!("{} is not imported: {limits}", path.display()));
            break;
        }
        match read_import(&path, place) {
            Ok(Some(prefix)) => {
                if let Some(file) = found.add_file(&path, prefix) {
                    waiting.extend(imports_of(&file, depth + 1));
                }
            }
            Ok(None) => {}
            Err(error) => {
                let by = format!(" (imported by {})", from.display());
                found.problems.push(omission_message(&path, &error) + &by);
            }
        }
    }
}

/// Returns the imports of a file as a stack, the first one last.
fn imports_of(file: &MemoryFile, depth: usize) -> Vec<(PathBuf, PathBuf, usize)> {
    let folder = file.path.parent().unwrap_or(Path::new("/"));
    let mut named: Vec<_> = find_imports(&file.text)
        .into_iter()
        .filter_map(|path| Some((file.path.clone(), resolve_import_path(folder, &path)?, depth)))
        .collect();
    named.reverse();
    named
}

fn read_import(
    path: &Path,
    place: &ImportScope<'_>,
) -> Result<Option<crate::files::FilePrefix>, ConfigFileError> {
    let own = place.user_folder.and_then(|user| Some((user, path.strip_prefix(user).ok()?)));
    let own = own.filter(|(_, name)| name.extension().is_some_and(|ext| ext == "md"));
    match (path.strip_prefix(place.base_folder), own) {
        (_, Some((user, name))) => read_beneath(user, name, MAX_MEMORY_BYTES),
        (Ok(name), None) if !is_hidden_path(name) => {
            read_beneath(place.base_folder, name, MAX_MEMORY_BYTES)
        }
        (Ok(_), None) => Err(import_error("it is hidden (its name begins with a dot)")),
        (Err(_), None) => Err(import_error("it is outside the importing folder")),
    }
}

fn import_error(reason: &str) -> ConfigFileError {
    ConfigFileError::Unreadable(std::io::Error::other(reason))
}

/// Returns whether a path is hidden: hidden files often contain secrets; the instructions of
/// `.claude` do not.
fn is_hidden_path(name: &Path) -> bool {
    let hides = |part: Component<'_>| {
        let part = part.as_os_str().to_string_lossy();
        part.starts_with('.') && part != ".claude"
    };
    name.components().any(hides)
}

/// Resolves an import to a path without `.` and `..`.
fn resolve_import_path(folder: &Path, path: &str) -> Option<PathBuf> {
    let full_path = match path.strip_prefix("~/") {
        Some(rest) => PathBuf::from(std::env::var_os("HOME")?).join(rest),
        None => folder.join(path),
    };
    let mut plain = PathBuf::new();
    for part in full_path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    Some(plain)
}

/// Returns the paths after every `@` that begins a word outside of code and looks like a path.
pub(super) fn find_imports(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => paths.extend(imports_in_line(line)),
        }
    }
    paths
}

fn imports_in_line(line: &str) -> Vec<String> {
    // Every second part is inline code.
    let prose = line.split('`').step_by(2);
    let words = prose.flat_map(str::split_whitespace);
    let paths = words.filter_map(|word| word.strip_prefix('@'));
    let paths = paths.map(|path| path.trim_end_matches(CLOSING_PUNCTUATION));
    paths.filter(|path| path.contains(['/', '.'])).map(str::to_owned).collect()
}
