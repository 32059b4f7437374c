//! The files a command names.

use windlass_core::permission::Access;

use super::folders;
use super::found::Found;
use super::operands;
use super::tree::To;
use super::word::{Kind, Word};

/// Commands whose words are no files.
const WORDY: &[&str] = &[
    "echo", "printf", "true", "false", ":", "pwd", "whoami", "date", "uname", "basename",
    "dirname", "which", "type", "sleep", "kill", "exit",
];

/// Places that are no files.
const NO_FILES: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"];

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
        Some(path) => found.path(&path, access),
        None => found.doubt("it redirects to a file whose name is only known when it runs"),
    }
}

/// The files of a simple command.
pub(super) fn of_command(words: &[Word], found: &mut Found<'_>) {
    let Some((name, rest)) = words.split_first() else { return };
    match name.name() {
        "cd" => folders::change(rest, found),
        "mkdir" | "touch" | "mv" | "cp" => operands::written(name.name(), rest, found),
        name if WORDY.contains(&name) => {}
        _ => rest.iter().for_each(|word| looked_at(word, found)),
    }
}

/// Any word may be a file that is looked at, and so may what follows the `=` of an option.
pub(super) fn looked_at(word: &Word, found: &mut Found<'_>) {
    let word = match (word.is_option(), word.text.split_once('=')) {
        (true, Some((_, value))) => Word { text: value.to_owned(), kind: word.kind },
        (true, None) => return,
        (false, _) => word.clone(),
    };
    match place(&word, found) {
        Some(path) => found.path(&path, Access::Read),
        None => found.somewhere(&word.text, Access::Read),
    }
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
