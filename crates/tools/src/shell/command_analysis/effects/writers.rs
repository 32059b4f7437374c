//! Commands that write the files they name.

use windlass_core::permission::PathAccess;

use super::command_paths::{is_folder, record_hidden_reach, record_mention, resolve_word};
use super::embedded_paths;
use super::glob_patterns::{self, ScanDepth};
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::shell_word::{ShellWord, WordKind};

/// Commands all of whose operands are written to, moved or removed.
const ALL_OPERANDS_WRITTEN: &[&str] = &[
    "tee", "rm", "rmdir", "unlink", "shred", "truncate", "chmod", "chown", "chgrp", "chattr",
    "setfacl", "mkfifo", "mknod",
];

/// Common options that name a file to write to.
const OUTPUT_OPTIONS: &[&str] =
    &["-o", "-O", "--output", "--out", "--output-document", "--output-file", "--outfile"];

pub(crate) fn is_known_writer(command: &str) -> bool {
    ALL_OPERANDS_WRITTEN.contains(&command) || matches!(command, "dd" | "sed" | "rsync" | "scp")
}

pub(crate) fn record_written_files(
    command: &str,
    rest: &[ShellWord],
    found: &mut CommandAnalysis<'_>,
) {
    match command {
        "dd" => record_dd(rest, found),
        "sed" => record_sed(rest, found),
        "rsync" | "scp" => {
            rest.iter().for_each(|word| record_mention(word, found));
            if let Some(target) = rest.last().filter(|word| !word.is_option()) {
                record_changed_file(target, found);
            }
            found.add_scan("/", PathAccess::Read);
            found.mark_unknown_files();
        }
        _ => {
            let (options, operands): (Vec<&ShellWord>, Vec<&ShellWord>) =
                rest.iter().partition(|word| word.is_option());
            options.iter().for_each(|word| record_mention(word, found));
            operands.iter().for_each(|word| record_changed_file(word, found));
        }
    }
}

/// Records the files of `dd if=FROM of=TO`.
fn record_dd(rest: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    for word in rest {
        let operand = |text: &str| ShellWord { text: text.to_owned(), kind: word.kind };
        match word.text.split_once('=') {
            Some(("if", file)) => record_use(&operand(file), PathAccess::Read, found),
            Some(("of", file)) => record_changed_file(&operand(file), found),
            Some(_) => {}
            None => record_mention(word, found),
        }
    }
}

/// Records the files of `sed`. With `-i` it writes to every file it is given; the script is the
/// first word unless an option gives it.
fn record_sed(rest: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    let is_short = |word: &ShellWord| word.is_option() && !word.text.starts_with("--");
    let in_place = |word: &ShellWord| {
        (is_short(word) && word.text.contains('i'))
            || (word.text.len() > 2 && "--in-place".starts_with(option_name(&word.text)))
    };
    let brings_script = |word: &ShellWord| {
        (is_short(word) && word.text.contains(['e', 'f']))
            || word.text.starts_with("--e")
            || word.text.starts_with("--fi")
    };
    let script = if rest.iter().any(brings_script) { 0 } else { 1 };
    let files = rest.iter().filter(|word| !word.is_option()).skip(script);
    if rest.iter().any(in_place) {
        files.for_each(|word| record_changed_file(word, found));
    }
    rest.iter().for_each(|word| record_mention(word, found));
    // A script may name files to read and to write.
    rest.iter().for_each(|word| embedded_paths::record_mentions(word, found));
    rest.iter().filter(|word| word.text.contains(['w', 'r', 'W', 'R', 'e'])).for_each(|word| {
        embedded_paths::record_protected_reach(&word.text, found);
    });
}

/// Records the files of a `find` that is not known to be read-only: everything beneath its folders
/// may change.
pub(crate) fn record_find(rest: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    record_mentions_with_outputs(rest, found);
    let is_folder_word =
        |word: &&ShellWord| !word.is_option() && !matches!(word.text.as_str(), "(" | "!");
    let mut folders: Vec<ShellWord> = rest.iter().take_while(is_folder_word).cloned().collect();
    if folders.is_empty() {
        folders.push(ShellWord::plain("."));
    }
    let removes = rest.iter().any(|word| word.text == "-delete");
    for word in &folders {
        match (resolve_word(word, found), removes) {
            (Some(path), true) => record_changed_file(&ShellWord::plain(path), found),
            (Some(path), false) => found.add_scan(&path, PathAccess::Read),
            (None, _) => {}
        }
    }
    found.mark_files_changed();
}

fn option_name(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

/// Records the words of an unknown command, of which some options name a file to write to.
pub(crate) fn record_mentions_with_outputs(rest: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    let mut is_output = false;
    for word in rest {
        record_mention(word, found);
        if is_output && !word.is_option() {
            record_use(word, PathAccess::Write, found);
        }
        is_output = OUTPUT_OPTIONS.contains(&word.text.as_str());
        let value = word.text.split_once('=').filter(|(name, _)| OUTPUT_OPTIONS.contains(name));
        if let Some((_, value)) = value {
            record_use(
                &ShellWord { text: value.to_owned(), kind: word.kind },
                PathAccess::Write,
                found,
            );
        }
    }
}

/// Records a file that is written to, moved or removed.
pub(crate) fn record_changed_file(word: &ShellWord, found: &mut CommandAnalysis<'_>) {
    record_use(word, PathAccess::Write, found);
    if let Some(path) = resolve_word(word, found).filter(|path| is_folder(path, found)) {
        found.add_scan(&path, PathAccess::Write);
        let holds =
            |folder: &std::path::PathBuf| found.zones.contains_workspace_or_home(folder, &path);
        if found.folders.iter().any(holds) {
            found.add_protected_reach(&path);
        }
    }
}

fn record_use(word: &ShellWord, access: PathAccess, found: &mut CommandAnalysis<'_>) {
    match (resolve_word(word, found), word.kind) {
        (Some(path), _) => found.add_path(&path, access),
        (None, WordKind::Unknown) => {
            found.add_unsupported("it uses a file whose name is only known at run time");
            found.add_scan("/", access);
            if access == PathAccess::Write {
                found.add_protected_reach(&word.text);
            }
        }
        (None, WordKind::Plain | WordKind::Home | WordKind::Pattern) => {
            glob_patterns::scan_word(word, access, ScanDepth::Folders, found);
            record_hidden_reach(word, found);
            // Names are matched in this folder; names of the folders themselves are unknown.
            let folder = word.text.rsplit_once('/').map_or("", |(folder, _)| folder);
            match folder.contains(['*', '?', '[', '~']) {
                true => found.add_unresolved_path(&word.text, access),
                false => found.add_path(&word.text, access),
            }
        }
    }
}

/// Records that ending a process requires approval where it may be the one that enforces the rules.
pub(crate) fn check_process_signals(rest: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    let own = [std::process::id(), std::os::unix::process::parent_id()];
    let is_ours = |word: &ShellWord| {
        let text = word.text.trim_start_matches('-');
        let is_own = own.iter().any(|pid| text == pid.to_string());
        is_own || text.contains("PPID") || text.contains("windlass") || word.text == "-1"
    };
    // `kill -1 123` sends a signal; `kill -9 -1` ends everything.
    let mut words = rest.iter().enumerate();
    if words.any(|(at, word)| is_ours(word) && (at > 0 || word.text != "-1")) {
        found.add_protected_reach("the process that runs this command");
    }
}
