//! The files of a project that its commands run: those that a hook, an MCP server or a helper names
//! as a word, and everything beneath `.claude/hooks`. Trust is bound to their content.
//!
//! Not included: what such a file runs in turn, and files of which a command names only the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use windlass_core::message::raw_json::sha256_hex;

use crate::config::claude::config_file::{FileOwner, list_files};

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod scripts_tests;

/// Maximum number of files that are read.
const MOST_FILES: usize = 500;

/// Maximum size of all files together in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Maximum number of words of all commands together.
const MOST_WORDS: usize = 20_000;

/// Maximum depth of nested folders beneath `.claude/hooks`.
const MOST_DEPTH: usize = 32;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// The folder in which projects keep the scripts of their hooks.
const HOOKS_FOLDER: &str = ".claude/hooks";

/// The variable that names the project in a hook.
const PROJECT_VARIABLES: [&str; 2] = ["$CLAUDE_PROJECT_DIR", "${CLAUDE_PROJECT_DIR}"];

/// The files that commands of a project run, each with a hash of its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScriptFiles {
    /// The hash of each file, by its name from the folder of the project.
    pub(crate) hashes: BTreeMap<String, String>,
    /// Why the files cannot be read completely.
    pub(crate) too_much: Option<String>,
}

impl ScriptFiles {
    /// Reads all files that the strings in `commands` name.
    pub(crate) fn read(workspace: &Path, commands: &[Value]) -> Self {
        let mut files = Self::default();
        let mut bytes_left = MOST_BYTES;
        let (named, too_many_words) = named_files(workspace, commands);
        let kept = list_files(
            workspace,
            Path::new(HOOKS_FOLDER),
            FileOwner::Project,
            MOST_DEPTH,
            MOST_FILES + 1,
        );
        let kept = kept.iter().map(|file| file.name().to_path_buf());
        let all: BTreeSet<PathBuf> = named.into_iter().chain(kept).collect();
        if too_many_words || all.len() > MOST_FILES {
            files.too_much = Some(format!("more than {MOST_FILES} files"));
        }
        for name in all.into_iter().take(MOST_FILES) {
            let hash = match hash(&workspace.join(&name), &mut bytes_left) {
                Ok(Some(hash)) => hash,
                Ok(None) => {
                    let limit = MOST_BYTES >> 20;
                    files.too_much = Some(format!("more than {limit} MiB of files"));
                    break;
                }
                // A file that this user cannot read cannot be run by this user either.
                Err(error) => error.kind().to_string(),
            };
            files.hashes.insert(name.display().to_string(), hash);
        }
        files
    }
}

/// Hashes the whole file, chunk by chunk; `None` if it has more than `bytes_left` bytes.
fn hash(path: &Path, bytes_left: &mut u64) -> std::io::Result<Option<String>> {
    let mut file = std::fs::File::open(path)?;
    let (mut chunk, mut hash) = (Vec::with_capacity(CHUNK_BYTES), String::new());
    loop {
        chunk.clear();
        let read = (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        if read == 0 && !hash.is_empty() {
            return Ok(Some(hash));
        }
        let Some(remaining) = bytes_left.checked_sub(read as u64) else { return Ok(None) };
        *bytes_left = remaining;
        // Each hash covers the previous one, and so everything that was read.
        hash = sha256_hex(&[hash.as_bytes(), chunk.as_slice()].concat());
    }
}

/// The regular files of the workspace that the strings name, and whether there were too many words.
fn named_files(workspace: &Path, commands: &[Value]) -> (BTreeSet<PathBuf>, bool) {
    let (mut files, mut words_left) = (BTreeSet::new(), MOST_WORDS);
    let mut strings = Vec::new();
    commands.iter().for_each(|value| collect_strings(value, &mut strings));
    for string in strings {
        let words = words(string);
        let Some(remaining) = words_left.checked_sub(words.len()) else { return (files, true) };
        words_left = remaining;
        // A command may change into a folder first: names relative to it count, too.
        let mut folders = vec![PathBuf::new()];
        let beneath = |folder: &Path, word: &str| {
            let name = beneath(workspace, folder, word)?;
            let found = workspace.join(&name).metadata().ok()?;
            Some((name, found))
        };
        for word in &words {
            if let Some((name, found)) = beneath(Path::new(""), word)
                && found.is_dir()
                && folders.len() < MOST_DEPTH
            {
                folders.push(name);
            }
        }
        for (folder, word) in folders.iter().flat_map(|f| words.iter().map(move |word| (f, word))) {
            if let Some((name, found)) = beneath(folder, word)
                && found.is_file()
            {
                files.insert(name);
            }
        }
    }
    (files, false)
}

/// Collects the strings of a value; the parts of a list also as the one command that they form.
fn collect_strings<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(list) => list.iter().for_each(|value| collect_strings(value, into)),
        Value::Object(table) => table.values().for_each(|value| collect_strings(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The path beneath the workspace that a word names, relative to `folder`.
fn beneath(workspace: &Path, folder: &Path, word: &str) -> Option<PathBuf> {
    let in_project = PROJECT_VARIABLES.iter().find_map(|name| word.strip_prefix(name));
    let path = match in_project {
        Some(rest) => PathBuf::from(rest.trim_start_matches('/')),
        None if Path::new(word).is_absolute() => {
            Path::new(word).strip_prefix(workspace).ok()?.to_path_buf()
        }
        None => folder.join(word),
    };
    let mut name = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => name.push(part),
            Component::CurDir => {}
            Component::ParentDir if name.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!name.as_os_str().is_empty()).then_some(name)
}

/// Everything in a command that may be the name of a file: its words with the quotes removed, and
/// the words within quotes, for a shell that is given a command.
///
/// A file that is only written to, or only tested, is left out: it may change with every run, and
/// nothing runs it.
fn words(command: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    split(command, Quotes::Kept, &mut words);
    split(command, Quotes::Separators, &mut words);
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// Quoted text is part of its word.
    Kept,
    /// A quote ends a word.
    Separators,
}

/// Commands that neither run nor print the files they are given.
const SILENT_COMMANDS: [&str; 9] =
    ["test", "[", "[[", "touch", "mkdir", "rmdir", "rm", "chmod", "exit"];

/// Commands that print their arguments, which is harmless if nothing reads the output.
const PRINTING_COMMANDS: [&str; 2] = ["echo", "printf"];

/// Keywords of the shell that may precede a command.
const KEYWORDS: [&str; 10] =
    ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"];

/// A simple command of the shell while its words are read.
#[derive(Default)]
struct SimpleCommand {
    /// The name of the command, its first word.
    name: Option<String>,
    /// Whether the next word is a file that output is redirected to.
    is_output: bool,
    /// Whether the command prints nothing, as `grep -q` does.
    is_quiet: bool,
    /// Whether something may read the output.
    is_read: bool,
}

impl SimpleCommand {
    /// Takes the next word of the command, and returns it if it may name a file that is run.
    fn take(&mut self, word: String) -> Option<String> {
        if word.is_empty() || std::mem::take(&mut self.is_output) {
            return None;
        }
        let Some(name) = &self.name else {
            if !KEYWORDS.contains(&word.as_str()) {
                self.name = Some(word.clone());
            }
            return Some(word);
        };
        self.is_quiet |= name == "grep" && word == "-q";
        let prints = PRINTING_COMMANDS.contains(&name.as_str()) && !self.is_read;
        let is_silent = self.is_quiet || prints || SILENT_COMMANDS.contains(&name.as_str());
        (!is_silent).then_some(word)
    }
}

/// Returns whether one part of a command may read the output of another part.
fn is_output_read(command: &str) -> bool {
    let has_pipe = command.replace("||", "").contains('|');
    has_pipe || ["$(", "`", "<(", ">(", "eval"].iter().any(|way| command.contains(way))
}

fn split(command: &str, quotes: Quotes, into: &mut BTreeSet<String>) {
    let is_read = is_output_read(command);
    let begin = || SimpleCommand { is_read, ..SimpleCommand::default() };
    let (mut word, mut quote, mut current) = (String::new(), None, begin());
    let within = match quotes {
        Quotes::Kept => "<",
        Quotes::Separators => "<=,:@",
    };
    let mut characters = command.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => word.extend(characters.next()),
            '\'' | '"' if quotes == Quotes::Separators => {
                into.extend(current.take(std::mem::take(&mut word)));
            }
            _ if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            _ if quote.is_some() => word.push(c),
            // A descriptor, as in `2>&1`, is not a file.
            '&' if current.is_output => {}
            '>' => {
                into.extend(current.take(std::mem::take(&mut word)));
                current.is_output = true;
            }
            '\n' | ';' | '&' | '|' | '(' | ')' | '`' => {
                into.extend(current.take(std::mem::take(&mut word)));
                current = begin();
            }
            c if c.is_whitespace() || within.contains(c) => {
                into.extend(current.take(std::mem::take(&mut word)));
            }
            c => word.push(c),
        }
    }
    into.extend(current.take(word));
}
