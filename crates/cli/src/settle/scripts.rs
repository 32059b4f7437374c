//! The files of a project that its commands run: those that a hook, an MCP server or a helper names as
//! a word, and everything beneath `.claude/hooks`. Trust is bound to what stands in them.
//!
//! Not here: what such a file runs in turn, and files of which a command knows only the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use windlass_core::raw::sha256_hex;

use super::config_file::{Owner, list};

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod scripts_tests;

/// Files that are looked at, at most.
const MOST_FILES: usize = 500;

/// Bytes of all of them together.
const MOST_BYTES: u64 = 64 << 20;

/// Words of all commands together.
const MOST_WORDS: usize = 20_000;

/// Folders beneath `.claude/hooks`, one in another.
const MOST_DEPTH: usize = 32;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Where projects keep what their hooks run.
const HOOKS_FOLDER: &str = ".claude/hooks";

/// The variable that names the project in a hook.
const PROJECT_VARIABLES: [&str; 2] = ["$CLAUDE_PROJECT_DIR", "${CLAUDE_PROJECT_DIR}"];

/// The files that commands of a project run, each with a hash of its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScriptFiles {
    /// By their names from the folder of the project.
    pub(crate) hashes: BTreeMap<String, String>,
    /// Why not all of them can be looked at.
    pub(crate) too_much: Option<String>,
}

impl ScriptFiles {
    /// Looks at everything that the strings in `commands` name.
    pub(crate) fn read(workspace: &Path, commands: &[Value]) -> Self {
        let mut files = Self::default();
        let mut bytes_left = MOST_BYTES;
        let (named, too_many_words) = named_files(workspace, commands);
        let kept =
            list(workspace, Path::new(HOOKS_FOLDER), Owner::Project, MOST_DEPTH, MOST_FILES + 1);
        let kept = kept.iter().map(|file| file.name().to_path_buf());
        let all: BTreeSet<PathBuf> = named.into_iter().chain(kept).collect();
        if too_many_words || all.len() > MOST_FILES {
            files.too_much = Some(format!("more than {MOST_FILES} files"));
        }
        for name in all.into_iter().take(MOST_FILES) {
            let hash = match hash(&workspace.join(&name), &mut bytes_left) {
                Ok(Some(hash)) => hash,
                Ok(None) => {
                    let most = MOST_BYTES >> 20;
                    files.too_much = Some(format!("more than {most} MiB of files"));
                    break;
                }
                // A file that cannot be read cannot be run by this user either.
                Err(error) => error.kind().to_string(),
            };
            files.hashes.insert(name.display().to_string(), hash);
        }
        files
    }
}

/// A hash of the whole file, chunk by chunk; nothing if it has more bytes than are left.
fn hash(path: &Path, bytes_left: &mut u64) -> std::io::Result<Option<String>> {
    let mut file = std::fs::File::open(path)?;
    let (mut chunk, mut hash) = (Vec::with_capacity(CHUNK_BYTES), String::new());
    loop {
        chunk.clear();
        let read = (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
        if read == 0 && !hash.is_empty() {
            return Ok(Some(hash));
        }
        let Some(left) = bytes_left.checked_sub(read as u64) else { return Ok(None) };
        *bytes_left = left;
        // Each hash covers the one before it, and so all that was read.
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
        let Some(left) = words_left.checked_sub(words.len()) else { return (files, true) };
        words_left = left;
        // A command may go into a folder first: what it names counts from there, too.
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

/// The strings of a value, the parts of a list also as the one command that they are.
fn collect_strings<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(list) => list.iter().for_each(|value| collect_strings(value, into)),
        Value::Object(table) => table.values().for_each(|value| collect_strings(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The path beneath the workspace that a word means, counted from `folder`.
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

/// Everything in a command that may be the name of a file: its words with the quotes taken away, and
/// the words within quotes, for a shell that is given a command.
///
/// A file that is only written to, or only asked about, is left out: it may change with every run,
/// and nothing runs it.
fn words(command: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    split(command, Quotes::Kept, &mut words);
    split(command, Quotes::Separators, &mut words);
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// What is quoted is part of its word.
    Kept,
    /// A quote ends a word.
    Separators,
}

/// Commands that run none of the files they are given and print nothing of them.
const SILENT_COMMANDS: [&str; 9] =
    ["test", "[", "[[", "touch", "mkdir", "rmdir", "rm", "chmod", "exit"];

/// Commands that print what they are given, which is harmless where nothing reads it.
const PRINTING_COMMANDS: [&str; 2] = ["echo", "printf"];

/// Words of the shell that stand before a command.
const KEYWORDS: [&str; 10] =
    ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"];

/// A command of the shell while its words are read.
#[derive(Default)]
struct SimpleCommand {
    /// Its first word.
    name: Option<String>,
    /// Whether the next word is a file that output goes to.
    is_output: bool,
    /// Whether it prints nothing, as `grep -q` does.
    is_quiet: bool,
    /// Whether something may read what is printed.
    is_read: bool,
}

impl SimpleCommand {
    /// Takes its next word, and gives it if it may name a file that is run.
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

/// Whether some part of a command may read what another part prints.
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
