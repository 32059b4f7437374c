//! The files that a command names.

use windlass_core::permission::{
    PathAccess, ReadDepth, ReadOnlyUse, read_only_use, shows_what_it_runs,
};

use super::archives;
use super::embedded_paths;
use super::file_operands;
use super::folder_changes;
use super::git;
use super::glob_patterns::{self, ScanDepth};
use super::writers;
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::readers::grammar_reader::RedirectTarget;
use crate::shell::command_analysis::shell_word::{ShellWord, WordKind};

/// Commands whose words are not files.
const COMMANDS_WITHOUT_FILES: &[&str] = &[
    "echo", "printf", "true", "false", ":", "pwd", "whoami", "uname", "basename", "dirname",
    "which", "type", "sleep", "exit",
];

/// Device paths that are not files.
pub(crate) const STANDARD_DEVICES: &[&str] =
    &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"];

/// Records the file of a redirection.
pub(crate) fn record_redirection(
    to: RedirectTarget,
    target: &ShellWord,
    found: &mut CommandAnalysis<'_>,
) {
    let RedirectTarget::File(access) = to else { return };
    if STANDARD_DEVICES.contains(&target.text.as_str()) {
        return;
    }
    if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
        found.add_unsupported("it redirects to the network");
    }
    match resolve_word(target, found) {
        Some(path) => found.add_redirection(&path, access),
        None => {
            found.add_unsupported("it redirects to a file whose name is only known at run time");
            glob_patterns::scan_word(target, access, ScanDepth::Files, found);
            if access == PathAccess::Write {
                record_hidden_reach(target, found);
            }
        }
    }
}

/// Records the files of a simple command.
pub(crate) fn record_command_paths(words: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    let Some((name, rest)) = words.split_first() else { return };
    if let Some(used) = read_only_use(&found.to_simple_command(words)) {
        return record_reads(words, &used, found);
    }
    match name.program_name() {
        "cd" => folder_changes::change_folder(rest, found),
        "mkdir" | "touch" | "mv" | "cp" | "install" | "ln" => {
            file_operands::record_written_operands(name.program_name(), rest, found);
        }
        "git" => git::record_git_files(rest, found),
        "find" => writers::record_find(rest, found),
        "kill" | "pkill" | "killall" | "skill" | "snice" => {
            writers::check_process_signals(rest, found);
        }
        name if COMMANDS_WITHOUT_FILES.contains(&name) => {}
        name if writers::is_known_writer(name) => writers::record_written_files(name, rest, found),
        name => {
            writers::record_mentions_with_outputs(rest, found);
            record_unknown_command(name, words, found);
        }
    }
}

/// Records the files of an unknown command, from its words alone.
fn record_unknown_command(name: &str, words: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    let rest = words.get(1..).unwrap_or_default();
    let simple = found.to_simple_command(words);
    rest.iter().for_each(|word| embedded_paths::record_mentions(word, found));
    if !shows_what_it_runs(&simple) {
        rest.iter().for_each(|word| embedded_paths::record_protected_reach(&word.text, found));
    }
    if archives::may_unpack_files(name, rest) {
        found.add_protected_reach("what is unpacked");
        found.add_scan("/", PathAccess::Write);
        found.mark_unknown_files();
    }
    if archives::may_follow_links(name, rest) {
        found.add_scan("/", PathAccess::Read);
    }
    found.mark_files_changed();
}

/// Records the files that a read-only command reads.
fn record_reads(words: &[ShellWord], used: &ReadOnlyUse, found: &mut CommandAnalysis<'_>) {
    // A pattern may expand to several words, any of which could be a file.
    for word in words.iter().skip(1).filter(|word| word.kind == WordKind::Pattern) {
        found.add_unresolved_path(&word.text, PathAccess::Read);
        let into = match used.depth {
            ReadDepth::Everything => ScanDepth::Folders,
            ReadDepth::Named | ReadDepth::PlainFiles => ScanDepth::Files,
        };
        glob_patterns::scan_word(word, PathAccess::Read, into, found);
    }
    let files = used.files.iter().filter_map(|at| words.get(*at));
    let files: Vec<ShellWord> =
        files.filter(|word| word.kind != WordKind::Pattern).cloned().collect();
    for word in &files {
        match resolve_word(word, found) {
            Some(path) => record_read_path(&path, used.depth, found),
            None => {
                found.add_unresolved_path(&word.text, PathAccess::Read);
                glob_patterns::scan_word(word, PathAccess::Read, ScanDepth::Folders, found);
            }
        }
    }
    if files.is_empty() && used.depth == ReadDepth::Everything {
        record_read_path(".", used.depth, found);
    }
}

fn record_read_path(path: &str, depth: ReadDepth, found: &mut CommandAnalysis<'_>) {
    found.add_path(path, PathAccess::Read);
    let is_unknown = match depth {
        ReadDepth::Named => false,
        ReadDepth::PlainFiles => is_folder(path, found),
        ReadDepth::Everything => {
            found.add_scan(path, PathAccess::Read);
            let folders = found.folders.clone();
            folders.iter().any(|folder| found.zones.has_private_beneath(folder, path))
        }
    };
    if is_unknown {
        found.add_unresolved_path(path, PathAccess::Read);
    }
}

/// Records a word that may be a file that is read, and also the value after the `=` of an option or
/// the letter of a short one.
pub(crate) fn record_mention(word: &ShellWord, found: &mut CommandAnalysis<'_>) {
    let part = |text: &str| ShellWord { text: text.to_owned(), kind: word.kind };
    let value = word.text.split_once('=').map(|(_, value)| value);
    let glued = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let glued = glued.and_then(|rest| rest.get(1..));
    let whole = (!word.is_option()).then_some(word.text.as_str());
    for text in [whole, value, glued].into_iter().flatten().filter(|text| !text.is_empty()) {
        record_named_file(&part(text), found);
    }
}

/// Records a word that may be a file, of a command that writes no files.
pub(crate) fn record_read_mention(word: &ShellWord, found: &mut CommandAnalysis<'_>) {
    if word.is_option() {
        return record_mention(word, found);
    }
    match resolve_word(word, found) {
        Some(path) => {
            found.add_path(&path, PathAccess::Read);
            if is_folder(&path, found) {
                found.add_scan(&path, PathAccess::Read);
            }
        }
        None => {
            found.add_unresolved_path(&word.text, PathAccess::Read);
            glob_patterns::scan_word(word, PathAccess::Read, ScanDepth::Folders, found);
        }
    }
}

/// Records a file named by a command that may read or write it.
pub(crate) fn record_named_file(word: &ShellWord, found: &mut CommandAnalysis<'_>) {
    match resolve_word(word, found) {
        Some(path) => {
            found.add_path_of_writer(&path);
            if is_folder(&path, found) {
                found.add_scan(&path, PathAccess::Read);
                found.add_scan(&path, PathAccess::Write);
            }
        }
        None => {
            found.add_unresolved_path(&word.text, PathAccess::Read);
            glob_patterns::scan_word(word, PathAccess::Read, ScanDepth::Folders, found);
            glob_patterns::scan_word(word, PathAccess::Write, ScanDepth::Folders, found);
            record_hidden_reach(word, found);
        }
    }
}

/// Records that a pattern that begins with a dot may match a protected name; all of those begin
/// with one.
pub(crate) fn record_hidden_reach(word: &ShellWord, found: &mut CommandAnalysis<'_>) {
    let is_hidden = |part: &str| part.starts_with('.') && part.contains(['*', '?', '[']);
    let is_unknown = matches!(word.kind, WordKind::Unknown | WordKind::Home);
    if is_unknown || word.text.split('/').any(is_hidden) {
        found.add_protected_reach(&word.text);
    } else {
        // A word without a pattern counts as it is.
        found.add_path_of_writer(&word.text);
    }
}

/// Returns whether a path is a folder, relative to any folder in which the shell may be.
pub(crate) fn is_folder(path: &str, found: &CommandAnalysis<'_>) -> bool {
    found.folders.iter().any(|folder| folder.join(path).is_dir())
}

/// Returns the path that a word stands for, if that is known.
pub(crate) fn resolve_word(word: &ShellWord, found: &CommandAnalysis<'_>) -> Option<String> {
    match word.kind {
        WordKind::Plain => Some(word.text.clone()),
        WordKind::Home => expand_home(&word.text, found),
        WordKind::Pattern | WordKind::Unknown => None,
    }
}

fn expand_home(path: &str, found: &CommandAnalysis<'_>) -> Option<String> {
    let rest = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    Some(format!("{}{rest}", found.zones.home()?.display()))
}
