//! Operands of `mkdir`, `touch`, `mv`, `cp`, `install` and `ln`: the files they read and write.

use std::fs;

use windlass_core::permission::PathAccess;

use super::command_paths::{is_folder, record_hidden_reach, record_named_file, resolve_word};
use super::glob_patterns::{self, ScanDepth};
use crate::limits::MAX_PATTERN_ENTRIES;
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::shell_word::{ShellWord, base_name_of};

/// The supported options of a command.
struct OptionGrammar {
    command: &'static str,
    /// Short options without a value.
    flags: &'static str,
    /// Short options with a value.
    valued: &'static str,
    /// Long options without a value.
    long: &'static [&'static str],
}

const GRAMMARS: &[OptionGrammar] = &[
    OptionGrammar { command: "mkdir", flags: "pv", valued: "m", long: &["--parents", "--verbose"] },
    OptionGrammar { command: "touch", flags: "acm", valued: "", long: &["--no-create"] },
    OptionGrammar {
        command: "mv",
        flags: "fnvTiu",
        valued: "t",
        long: &["--force", "--no-clobber", "--verbose", "--no-target-directory", "--update"],
    },
    OptionGrammar {
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
    OptionGrammar {
        command: "install",
        flags: "DvcCpTds",
        valued: "mogtS",
        long: &["--directory", "--verbose", "--no-target-directory", "--strip"],
    },
    OptionGrammar {
        command: "ln",
        flags: "sfnvTLPir",
        valued: "tS",
        long: &["--symbolic", "--force", "--verbose", "--relative", "--no-target-directory"],
    },
];

/// The long option whose value is the folder to write to.
const TARGET_OPTION: &str = "--target-directory";

/// The words of a command, parsed into options and operands.
#[derive(Default)]
struct ParsedOperands {
    operands: Vec<ShellWord>,
    /// The target folder that an option names.
    target_folder: Option<ShellWord>,
    /// The short and long options that were used.
    options: Vec<String>,
    is_understood: bool,
}

/// The kind of file that is copied or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    /// A regular file, or a missing one: its copy leads nowhere else.
    File,
    Folder,
    /// A link, a special file, or one that an earlier command may have created.
    Other,
}

pub(crate) fn record_written_operands(
    command: &str,
    rest: &[ShellWord],
    found: &mut CommandAnalysis<'_>,
) {
    let line = ParsedOperands::parse(command, rest);
    if !line.is_understood {
        found.add_unsupported(&format!("{command} has an unsupported option"));
    }
    let makes_folders = command == "install" && line.has_option(&["d", "--directory"]);
    match (command, makes_folders) {
        ("mkdir" | "touch", _) | (_, true) => {
            line.operands.iter().for_each(|word| record_change(word, found));
        }
        (_, false) => line.record_transfers(command, found),
    }
}

impl ParsedOperands {
    fn parse(command: &str, rest: &[ShellWord]) -> Self {
        let mut line = Self { is_understood: true, ..Self::default() };
        let grammar = GRAMMARS.iter().find(|grammar| grammar.command == command);
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            match word.text.as_str() {
                "--" => line.operands.extend(words.by_ref().cloned()),
                _ if !word.is_option() => line.operands.push(word.clone()),
                text if text.starts_with("--") => line.parse_long_option(grammar, word, &mut words),
                _ => line.parse_bundle(grammar, word, &mut words),
            }
        }
        line
    }

    fn parse_long_option<'w>(
        &mut self,
        grammar: Option<&OptionGrammar>,
        word: &ShellWord,
        words: &mut impl Iterator<Item = &'w ShellWord>,
    ) {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text.as_str(), None),
        };
        let is_flag = grammar.is_some_and(|grammar| grammar.long.contains(&name));
        match (name.len() > 2 && TARGET_OPTION.starts_with(name), value) {
            (true, Some(value)) => {
                self.target_folder = Some(ShellWord { text: value.to_owned(), kind: word.kind });
            }
            (true, None) => self.target_folder = words.next().cloned(),
            (false, None) if is_flag => self.options.push(name.to_owned()),
            (false, _) => self.is_understood = false,
        }
    }

    fn parse_bundle<'w>(
        &mut self,
        grammar: Option<&OptionGrammar>,
        word: &ShellWord,
        words: &mut impl Iterator<Item = &'w ShellWord>,
    ) {
        let Some(grammar) = grammar else { return };
        let mut letters = word.text.strip_prefix('-').unwrap_or_default().chars();
        while let Some(letter) = letters.next() {
            if grammar.valued.contains(letter) {
                let glued = letters.as_str().to_owned();
                let value = match glued.is_empty() {
                    true => words.next().cloned(),
                    false => Some(ShellWord { text: glued, kind: word.kind }),
                };
                if letter == 't' {
                    self.target_folder = value;
                }
                return;
            }
            self.is_understood &= grammar.flags.contains(letter);
            self.options.push(letter.to_string());
        }
    }

    fn has_option(&self, options: &[&str]) -> bool {
        self.options.iter().any(|used| options.contains(&used.as_str()))
    }

    /// Records files that are copied or moved from one path to another.
    fn record_transfers(&self, command: &str, found: &mut CommandAnalysis<'_>) {
        let (target, sources) = match (&self.target_folder, self.operands.split_last()) {
            (Some(folder), _) => (folder.clone(), self.operands.as_slice()),
            // `ln TARGET` creates a link of the same name here.
            (None, Some((only, []))) if command == "ln" => {
                (ShellWord::plain("."), std::slice::from_ref(only))
            }
            (None, Some((target, sources))) => (target.clone(), sources),
            (None, None) => return,
        };
        for source in sources {
            self.record_source(command, source, found);
            self.record_target(&target, source, found);
        }
        record_change(&target, found);
        let is_deep =
            command == "cp" && self.has_option(&["r", "R", "a", "--recursive", "--archive"]);
        if is_deep && sources.iter().any(copies_contents) {
            found.add_unsupported("it copies files with unknown names");
        }
        if command == "cp" && self.has_option(&["L", "H", "--dereference"]) {
            found.add_scan("/", PathAccess::Read);
        }
        if command == "cp" && sources.iter().any(|source| may_bring_protected(source, found)) {
            found.add_protected_reach("a file that is copied with its folder");
        }
        if command == "ln" {
            found.mark_unknown_files();
        }
    }

    /// Records what happens to a source, and what may be copied along with it.
    fn record_source(&self, command: &str, source: &ShellWord, found: &mut CommandAnalysis<'_>) {
        let is_symbolic = self.has_option(&["s", "--symbolic"]);
        match command {
            // A moved file is removed from its old path, and can be read at its new one.
            "mv" => {
                record_use(source, PathAccess::Read, found);
                record_change(source, found);
            }
            // A hard link to a file is another way to write to it.
            "ln" if !is_symbolic => {
                record_use(source, PathAccess::Read, found);
                record_change(source, found);
            }
            "ln" => record_named_file(source, found),
            _ => record_use(source, PathAccess::Read, found),
        }
        match (source_kind(source, found), command) {
            (SourceKind::File, _) => {}
            (SourceKind::Folder, "mv") | (SourceKind::Other, _) => {
                found.add_unresolved_path(&source.text, PathAccess::Read);
                found.mark_unknown_files();
            }
            (SourceKind::Folder, "cp") => {
                found.add_unsupported(
                    "it copies a folder whose content determines which files are written",
                );
                found.mark_unknown_files();
            }
            (SourceKind::Folder, _) => found.mark_unknown_files(),
        }
        if let Some(path) = resolve_word(source, found).filter(|path| is_folder(path, found)) {
            found.add_scan(&path, PathAccess::Read);
        }
    }

    /// Records the target. If it is a folder, the file in it is written: with `--parents` under its
    /// whole path.
    fn record_target(
        &self,
        target: &ShellWord,
        source: &ShellWord,
        found: &mut CommandAnalysis<'_>,
    ) {
        let (Some(target), Some(path)) = (resolve_word(target, found), resolve_word(source, found))
        else {
            return;
        };
        let name = base_name_of(path.trim_end_matches('/'));
        found.add_path(&format!("{target}/{name}"), PathAccess::Write);
        if self.has_option(&["--parents"]) {
            found
                .add_path(&format!("{target}/{}", path.trim_start_matches('/')), PathAccess::Write);
        }
    }
}

fn source_kind(source: &ShellWord, found: &CommandAnalysis<'_>) -> SourceKind {
    let Some(path) = resolve_word(source, found).filter(|_| found.are_files_known()) else {
        return SourceKind::Other;
    };
    let kind = |folder: &std::path::PathBuf| match fs::symlink_metadata(folder.join(&path)) {
        Ok(found) if found.is_file() => SourceKind::File,
        Ok(found) if found.is_dir() => SourceKind::Folder,
        Ok(_) => SourceKind::Other,
        Err(_) => SourceKind::File,
    };
    let kinds: Vec<SourceKind> = found.folders.iter().map(kind).collect();
    let worst = |wanted: SourceKind| kinds.contains(&wanted).then_some(wanted);
    worst(SourceKind::Other).or_else(|| worst(SourceKind::Folder)).unwrap_or(SourceKind::File)
}

/// Returns whether a name beneath a folder would be protected wherever the folder is copied to.
fn may_bring_protected(source: &ShellWord, found: &CommandAnalysis<'_>) -> bool {
    let Some(path) = resolve_word(source, found) else { return true };
    let whole = |folder: &std::path::PathBuf| folder.join(&path);
    found.folders.iter().map(whole).filter(|path| path.is_dir()).any(|path| {
        let mut remaining = MAX_PATTERN_ENTRIES;
        holds_protected_name(&path, found, &mut remaining)
    })
}

/// Returns whether a folder contains a protected name, or more entries than can be checked.
fn holds_protected_name(
    folder: &std::path::Path,
    found: &CommandAnalysis<'_>,
    left: &mut usize,
) -> bool {
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

fn record_use(word: &ShellWord, access: PathAccess, found: &mut CommandAnalysis<'_>) {
    match resolve_word(word, found) {
        Some(path) => found.add_path(&path, access),
        None => {
            found.add_unresolved_path(&word.text, PathAccess::Read);
            glob_patterns::scan_word(word, access, ScanDepth::Folders, found);
        }
    }
}

fn record_change(word: &ShellWord, found: &mut CommandAnalysis<'_>) {
    match resolve_word(word, found) {
        Some(path) => found.add_path(&path, PathAccess::Write),
        None => {
            found.add_unsupported("it writes to a file whose name is only known at run time");
            glob_patterns::scan_word(word, PathAccess::Write, ScanDepth::Folders, found);
            record_hidden_reach(word, found);
        }
    }
}

/// Returns whether only the contents of a folder are copied: `x/.` copies everything in `x`, and
/// not `x` itself.
fn copies_contents(source: &ShellWord) -> bool {
    matches!(base_name_of(&source.text), "." | ".." | "")
}
