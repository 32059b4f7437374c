//! What `mkdir`, `touch`, `mv`, `cp`, `install` and `ln` write to.

use std::fs;

use windlass_core::permission::Access;

use super::found::Found;
use super::paths::{is_folder, named, place, reaches_hidden};
use super::patterns::{self, Into};
use super::word::{Word, name_of};
use crate::limits::MAX_PATTERN_ENTRIES;

/// The options of a command that are understood.
struct Grammar {
    command: &'static str,
    /// Letters without a value.
    flags: &'static str,
    /// Letters with one.
    valued: &'static str,
    /// Long options without a value.
    long: &'static [&'static str],
}

const GRAMMARS: &[Grammar] = &[
    Grammar { command: "mkdir", flags: "pv", valued: "m", long: &["--parents", "--verbose"] },
    Grammar { command: "touch", flags: "acm", valued: "", long: &["--no-create"] },
    Grammar {
        command: "mv",
        flags: "fnvTiu",
        valued: "t",
        long: &["--force", "--no-clobber", "--verbose", "--no-target-directory", "--update"],
    },
    Grammar {
        command: "cp",
        flags: "rRapfnvuTLPHdi",
        valued: "t",
        long: &[
            "--recursive",
            "--archive",
            "--force",
            "--no-clobber",
            "--verbose",
            "--parents",
            "--no-target-directory",
            "--update",
            "--dereference",
            "--no-dereference",
        ],
    },
    Grammar {
        command: "install",
        flags: "DvcCpTds",
        valued: "mogtS",
        long: &["--directory", "--verbose", "--no-target-directory", "--strip"],
    },
    Grammar {
        command: "ln",
        flags: "sfnvTLPir",
        valued: "tS",
        long: &["--symbolic", "--force", "--verbose", "--relative", "--no-target-directory"],
    },
];

/// The long option whose value is the folder to write to.
const TARGET: &str = "--target-directory";

/// A command's words, sorted.
#[derive(Default)]
struct Line {
    operands: Vec<Word>,
    /// The folder that an option names.
    folder: Option<Word>,
    /// Letters and long options that were used.
    options: Vec<String>,
    is_understood: bool,
}

/// What a name that is copied or moved stands for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A regular file, or nothing yet: what is made of it leads nowhere else.
    File,
    Folder,
    /// A link, something special, or something that an earlier command may have put there.
    Other,
}

pub(super) fn written(command: &str, rest: &[Word], found: &mut Found<'_>) {
    let line = Line::of(command, rest);
    if !line.is_understood {
        found.doubt(&format!("{command} has an option that is not understood"));
    }
    let makes_folders = command == "install" && line.has(&["d", "--directory"]);
    match (command, makes_folders) {
        ("mkdir" | "touch", _) | (_, true) => {
            line.operands.iter().for_each(|word| changed(word, found));
        }
        (_, false) => line.brought(command, found),
    }
}

impl Line {
    fn of(command: &str, rest: &[Word]) -> Self {
        let mut line = Self { is_understood: true, ..Self::default() };
        let grammar = GRAMMARS.iter().find(|grammar| grammar.command == command);
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "--" => line.operands.extend(words.by_ref().cloned()),
                _ if !word.is_option() => line.operands.push(word.clone()),
                text if text.starts_with("--") => line.long(grammar, word, &mut words),
                _ => line.bundle(grammar, word, &mut words),
            }
        }
        line
    }

    fn long<'w>(
        &mut self,
        grammar: Option<&Grammar>,
        word: &Word,
        words: &mut impl Iterator<Item = &'w Word>,
    ) {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text.as_str(), None),
        };
        let is_flag = grammar.is_some_and(|grammar| grammar.long.contains(&name));
        match (name.len() > 2 && TARGET.starts_with(name), value) {
            (true, Some(value)) => {
                self.folder = Some(Word { text: value.to_owned(), kind: word.kind });
            }
            (true, None) => self.folder = words.next().cloned(),
            (false, None) if is_flag => self.options.push(name.to_owned()),
            (false, _) => self.is_understood = false,
        }
    }

    fn bundle<'w>(
        &mut self,
        grammar: Option<&Grammar>,
        word: &Word,
        words: &mut impl Iterator<Item = &'w Word>,
    ) {
        let Some(grammar) = grammar else { return };
        let mut letters = word.text.strip_prefix('-').unwrap_or_default().chars();
        while let Some(letter) = letters.next() {
            if grammar.valued.contains(letter) {
                let glued = letters.as_str().to_owned();
                let value = match glued.is_empty() {
                    true => words.next().cloned(),
                    false => Some(Word { text: glued, kind: word.kind }),
                };
                if letter == 't' {
                    self.folder = value;
                }
                return;
            }
            self.is_understood &= grammar.flags.contains(letter);
            self.options.push(letter.to_string());
        }
    }

    fn has(&self, options: &[&str]) -> bool {
        self.options.iter().any(|used| options.contains(&used.as_str()))
    }

    /// Files that are brought from somewhere to somewhere.
    fn brought(&self, command: &str, found: &mut Found<'_>) {
        let (target, sources) = match (&self.folder, self.operands.split_last()) {
            (Some(folder), _) => (folder.clone(), self.operands.as_slice()),
            // `ln TARGET` makes a link of the same name here.
            (None, Some((only, []))) if command == "ln" => {
                (Word::plain("."), std::slice::from_ref(only))
            }
            (None, Some((target, sources))) => (target.clone(), sources),
            (None, None) => return,
        };
        for source in sources {
            self.taken(command, source, found);
            self.inside(&target, source, found);
        }
        changed(&target, found);
        let is_deep = command == "cp" && self.has(&["r", "R", "a", "--recursive", "--archive"]);
        if is_deep && sources.iter().any(brings_names) {
            found.doubt("it copies files whose names cannot be seen");
        }
        if command == "cp" && self.has(&["L", "H", "--dereference"]) {
            found.scan("/", Access::Read);
        }
        if command == "cp" && sources.iter().any(|source| may_bring_protected(source, found)) {
            found.reaches("a file that is copied with its folder");
        }
        if command == "ln" {
            found.bring_files();
        }
    }

    /// What becomes of a source, and what it may bring along.
    fn taken(&self, command: &str, source: &Word, found: &mut Found<'_>) {
        let is_symbolic = self.has(&["s", "--symbolic"]);
        match command {
            // What is moved is gone from where it was, and can be read where it is then.
            "mv" => {
                used(source, Access::Read, found);
                changed(source, found);
            }
            // Another name for a file is another way to write to it.
            "ln" if !is_symbolic => {
                used(source, Access::Read, found);
                changed(source, found);
            }
            "ln" => named(source, found),
            _ => used(source, Access::Read, found),
        }
        match (kind_of(source, found), command) {
            (Source::File, _) => {}
            (Source::Folder, "mv") | (Source::Other, _) => {
                found.somewhere(&source.text, Access::Read);
                found.bring_files();
            }
            (Source::Folder, "cp") => {
                found
                    .doubt("it copies a folder, and what is in it decides which files are written");
                found.bring_files();
            }
            (Source::Folder, _) => found.bring_files(),
        }
        if let Some(path) = place(source, found).filter(|path| is_folder(path, found)) {
            found.scan(&path, Access::Read);
        }
    }

    /// If the target is a folder, the file in it is written: with `--parents` under its whole path.
    fn inside(&self, target: &Word, source: &Word, found: &mut Found<'_>) {
        let (Some(target), Some(path)) = (place(target, found), place(source, found)) else {
            return;
        };
        let name = name_of(path.trim_end_matches('/'));
        found.path(&format!("{target}/{name}"), Access::Write);
        if self.has(&["--parents"]) {
            found.path(&format!("{target}/{}", path.trim_start_matches('/')), Access::Write);
        }
    }
}

fn kind_of(source: &Word, found: &Found<'_>) -> Source {
    let Some(path) = place(source, found).filter(|_| found.are_files_known()) else {
        return Source::Other;
    };
    let kind = |folder: &std::path::PathBuf| match fs::symlink_metadata(folder.join(&path)) {
        Ok(found) if found.is_file() => Source::File,
        Ok(found) if found.is_dir() => Source::Folder,
        Ok(_) => Source::Other,
        Err(_) => Source::File,
    };
    let kinds: Vec<Source> = found.folders.iter().map(kind).collect();
    let worst = |wanted: Source| kinds.contains(&wanted).then_some(wanted);
    worst(Source::Other).or_else(|| worst(Source::Folder)).unwrap_or(Source::File)
}

/// Whether a name beneath a folder decides what may run, wherever the folder is brought to.
fn may_bring_protected(source: &Word, found: &Found<'_>) -> bool {
    let Some(path) = place(source, found) else { return true };
    let whole = |folder: &std::path::PathBuf| folder.join(&path);
    found.folders.iter().map(whole).filter(|path| path.is_dir()).any(|path| {
        let mut left = MAX_PATTERN_ENTRIES;
        holds_protected_name(&path, found, &mut left)
    })
}

/// Also if there is more beneath it than can be looked at.
fn holds_protected_name(folder: &std::path::Path, found: &Found<'_>, left: &mut usize) -> bool {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_protected = path.to_str().is_none_or(|text| found.is_protected(text));
            match left.checked_sub(1) {
                Some(less) if !is_protected => *left = less,
                Some(_) | None => return true,
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    false
}

fn used(word: &Word, access: Access, found: &mut Found<'_>) {
    match place(word, found) {
        Some(path) => found.path(&path, access),
        None => {
            found.somewhere(&word.text, Access::Read);
            patterns::scan(word, access, Into::Folders, found);
        }
    }
}

fn changed(word: &Word, found: &mut Found<'_>) {
    match place(word, found) {
        Some(path) => found.path(&path, Access::Write),
        None => {
            found.doubt("it writes to a file whose name is only known when it runs");
            patterns::scan(word, Access::Write, Into::Folders, found);
            reaches_hidden(word, found);
        }
    }
}

/// `x/.` brings everything in `x`, and not `x` itself.
fn brings_names(source: &Word) -> bool {
    matches!(name_of(&source.text), "." | ".." | "")
}
