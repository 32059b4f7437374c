//! The files a command names.

use windlass_core::permission::{Access, Depth, ReadOnlyUse, read_only_use, shows_what_it_runs};

use super::archives;
use super::folders;
use super::found::Found;
use super::git;
use super::operands;
use super::patterns::{self, Into};
use super::pieces;
use super::tree::To;
use super::word::{Kind, Word};
use super::writers;

/// Commands whose words are no files.
const WORDY: &[&str] = &[
    "echo", "printf", "true", "false", ":", "pwd", "whoami", "uname", "basename", "dirname",
    "which", "type", "sleep", "exit",
];

/// Places that are no files.
pub(super) const NO_FILES: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"];

/// A redirection.
pub(super) fn redirect(to: To, target: &Word, found: &mut Found<'_>) {
    let To::File(access) = to else { return };
    if NO_FILES.contains(&target.text.as_str()) {
        return;
    }
    if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
        found.doubt("it redirects to the network");
    }
    match place(target, found) {
        Some(path) => found.redirection(&path, access),
        None => {
            found.doubt("it redirects to a file whose name is only known when it runs");
            patterns::scan(target, access, Into::Files, found);
            if access == Access::Write {
                reaches_hidden(target, found);
            }
        }
    }
}

/// The files of a simple command.
pub(super) fn of_command(words: &[Word], found: &mut Found<'_>) {
    let Some((name, rest)) = words.split_first() else { return };
    if let Some(used) = read_only_use(&found.simple(words)) {
        return read(words, &used, found);
    }
    match name.program() {
        "cd" => folders::change(rest, found),
        "mkdir" | "touch" | "mv" | "cp" | "install" | "ln" => {
            operands::written(name.program(), rest, found);
        }
        "git" => git::files(rest, found),
        "find" => writers::found_and_changed(rest, found),
        "kill" | "pkill" | "killall" | "skill" | "snice" => writers::ends_processes(rest, found),
        name if WORDY.contains(&name) => {}
        name if writers::is_known(name) => writers::written(name, rest, found),
        name => {
            writers::mentioned_with_outputs(rest, found);
            unknown(name, words, found);
        }
    }
}

/// A command of which only the words are known.
fn unknown(name: &str, words: &[Word], found: &mut Found<'_>) {
    let rest = words.get(1..).unwrap_or_default();
    let simple = found.simple(words);
    rest.iter().for_each(|word| pieces::mention(word, found));
    if !shows_what_it_runs(&simple) {
        rest.iter().for_each(|word| pieces::reach(&word.text, found));
    }
    if archives::unpacks(name, rest) {
        found.reaches("what is unpacked");
        found.scan("/", Access::Write);
        found.bring_files();
    }
    if archives::follows_links(name, rest) {
        found.scan("/", Access::Read);
    }
    found.change_files();
}

/// What a read-only command reads.
fn read(words: &[Word], used: &ReadOnlyUse, found: &mut Found<'_>) {
    // A pattern may become several words, of which any could be a file.
    for word in words.iter().skip(1).filter(|word| word.kind == Kind::Pattern) {
        found.somewhere(&word.text, Access::Read);
        let into = match used.depth {
            Depth::Everything => Into::Folders,
            Depth::Named | Depth::PlainFiles => Into::Files,
        };
        patterns::scan(word, Access::Read, into, found);
    }
    let files = used.files.iter().filter_map(|at| words.get(*at));
    let files: Vec<Word> = files.filter(|word| word.kind != Kind::Pattern).cloned().collect();
    for word in &files {
        match place(word, found) {
            Some(path) => read_path(&path, used.depth, found),
            None => {
                found.somewhere(&word.text, Access::Read);
                patterns::scan(word, Access::Read, Into::Folders, found);
            }
        }
    }
    if files.is_empty() && used.depth == Depth::Everything {
        read_path(".", used.depth, found);
    }
}

fn read_path(path: &str, depth: Depth, found: &mut Found<'_>) {
    found.path(path, Access::Read);
    let is_unknown = match depth {
        Depth::Named => false,
        Depth::PlainFiles => is_folder(path, found),
        Depth::Everything => {
            found.scan(path, Access::Read);
            let folders = found.folders.clone();
            folders.iter().any(|folder| found.zones.has_private_beneath(folder, path))
        }
    };
    if is_unknown {
        found.somewhere(path, Access::Read);
    }
}

/// Any word may be a file that is read, and so may what follows the `=` of an option or the letter
/// of a short one.
pub(super) fn mentioned(word: &Word, found: &mut Found<'_>) {
    let part = |text: &str| Word { text: text.to_owned(), kind: word.kind };
    let value = word.text.split_once('=').map(|(_, value)| value);
    let glued = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let glued = glued.and_then(|rest| rest.get(1..));
    let whole = (!word.is_option()).then_some(word.text.as_str());
    for text in [whole, value, glued].into_iter().flatten().filter(|text| !text.is_empty()) {
        named(&part(text), found);
    }
}

/// A word that may be a file, of a command that writes to none.
pub(super) fn mentioned_to_read(word: &Word, found: &mut Found<'_>) {
    if word.is_option() {
        return mentioned(word, found);
    }
    match place(word, found) {
        Some(path) => {
            found.path(&path, Access::Read);
            if is_folder(&path, found) {
                found.scan(&path, Access::Read);
            }
        }
        None => {
            found.somewhere(&word.text, Access::Read);
            patterns::scan(word, Access::Read, Into::Folders, found);
        }
    }
}

/// A file named by a command that may read or write it.
pub(super) fn named(word: &Word, found: &mut Found<'_>) {
    match place(word, found) {
        Some(path) => {
            found.path_of_writer(&path);
            if is_folder(&path, found) {
                found.scan(&path, Access::Read);
                found.scan(&path, Access::Write);
            }
        }
        None => {
            found.somewhere(&word.text, Access::Read);
            patterns::scan(word, Access::Read, Into::Folders, found);
            patterns::scan(word, Access::Write, Into::Folders, found);
            reaches_hidden(word, found);
        }
    }
}

/// A pattern that begins with a dot may stand for a protected name, and all of those begin with one.
pub(super) fn reaches_hidden(word: &Word, found: &mut Found<'_>) {
    let is_hidden = |part: &str| part.starts_with('.') && part.contains(['*', '?', '[']);
    let is_unknown = matches!(word.kind, Kind::Unknown | Kind::Home);
    if is_unknown || word.text.split('/').any(is_hidden) {
        found.reaches(&word.text);
    } else {
        // What is spelled out counts as it stands.
        found.path_of_writer(&word.text);
    }
}

/// Whether a path is a folder, seen from any folder in which the shell may be.
pub(super) fn is_folder(path: &str, found: &Found<'_>) -> bool {
    found.folders.iter().any(|folder| folder.join(path).is_dir())
}

/// The path a word stands for, if that is known.
pub(super) fn place(word: &Word, found: &Found<'_>) -> Option<String> {
    match word.kind {
        Kind::Plain => Some(word.text.clone()),
        Kind::Home => at_home(&word.text, found),
        Kind::Pattern | Kind::Unknown => None,
    }
}

fn at_home(path: &str, found: &Found<'_>) -> Option<String> {
    let rest = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    Some(format!("{}{rest}", found.zones.home()?.display()))
}
