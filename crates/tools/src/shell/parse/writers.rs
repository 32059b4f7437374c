//! Commands that are known to write to the files they name.

use windlass_core::permission::Access;

use super::found::Found;
use super::paths::{is_folder, mentioned, place, reaches_hidden};
use super::patterns::{self, Into};
use super::pieces;
use super::word::{Kind, Word};

/// Commands all of whose operands are written to, moved or removed.
const ALL_OPERANDS: &[&str] = &[
    "tee", "rm", "rmdir", "unlink", "shred", "truncate", "chmod", "chown", "chgrp", "chattr",
    "setfacl", "mkfifo", "mknod",
];

/// Options that name a file to write to, by custom.
const OUTPUTS: &[&str] =
    &["-o", "-O", "--output", "--out", "--output-document", "--output-file", "--outfile"];

pub(super) fn is_known(command: &str) -> bool {
    ALL_OPERANDS.contains(&command) || matches!(command, "dd" | "sed" | "rsync" | "scp")
}

pub(super) fn written(command: &str, rest: &[Word], found: &mut Found<'_>) {
    match command {
        "dd" => copied_by_dd(rest, found),
        "sed" => edited_by_sed(rest, found),
        "rsync" | "scp" => {
            rest.iter().for_each(|word| mentioned(word, found));
            if let Some(target) = rest.last().filter(|word| !word.is_option()) {
                changed(target, found);
            }
            found.scan("/", Access::Read);
            found.bring_files();
        }
        _ => {
            let (options, operands): (Vec<&Word>, Vec<&Word>) =
                rest.iter().partition(|word| word.is_option());
            options.iter().for_each(|word| mentioned(word, found));
            operands.iter().for_each(|word| changed(word, found));
        }
    }
}

/// `dd if=FROM of=TO`.
fn copied_by_dd(rest: &[Word], found: &mut Found<'_>) {
    for word in rest {
        let operand = |text: &str| Word { text: text.to_owned(), kind: word.kind };
        match word.text.split_once('=') {
            Some(("if", file)) => used(&operand(file), Access::Read, found),
            Some(("of", file)) => changed(&operand(file), found),
            Some(_) => {}
            None => mentioned(word, found),
        }
    }
}

/// With `-i` sed writes to every file it is given; the script is the first word unless an option
/// brings it.
fn edited_by_sed(rest: &[Word], found: &mut Found<'_>) {
    let is_short = |word: &Word| word.is_option() && !word.text.starts_with("--");
    let in_place = |word: &Word| {
        (is_short(word) && word.text.contains('i'))
            || (word.text.len() > 2 && "--in-place".starts_with(option_name(&word.text)))
    };
    let brings_script = |word: &Word| {
        (is_short(word) && word.text.contains(['e', 'f']))
            || word.text.starts_with("--e")
            || word.text.starts_with("--fi")
    };
    let script = if rest.iter().any(brings_script) { 0 } else { 1 };
    let files = rest.iter().filter(|word| !word.is_option()).skip(script);
    if rest.iter().any(in_place) {
        files.for_each(|word| changed(word, found));
    }
    rest.iter().for_each(|word| mentioned(word, found));
    // A script may name files to read and to write.
    rest.iter().for_each(|word| pieces::mention(word, found));
    rest.iter().filter(|word| word.text.contains(['w', 'r', 'W', 'R', 'e'])).for_each(|word| {
        pieces::reach(&word.text, found);
    });
}

/// `find` that is not known to read only: everything beneath the folders it is given may change.
pub(super) fn found_and_changed(rest: &[Word], found: &mut Found<'_>) {
    mentioned_with_outputs(rest, found);
    let is_folder_word =
        |word: &&Word| !word.is_option() && !matches!(word.text.as_str(), "(" | "!");
    let mut folders: Vec<Word> = rest.iter().take_while(is_folder_word).cloned().collect();
    if folders.is_empty() {
        folders.push(Word::plain("."));
    }
    let removes = rest.iter().any(|word| word.text == "-delete");
    for word in &folders {
        match (place(word, found), removes) {
            (Some(path), true) => changed(&Word::plain(path), found),
            (Some(path), false) => found.scan(&path, Access::Read),
            (None, _) => {}
        }
    }
    found.change_files();
}

fn option_name(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

/// The words of a command of which nothing is known, except that some options name a file to write
/// to.
pub(super) fn mentioned_with_outputs(rest: &[Word], found: &mut Found<'_>) {
    let mut is_output = false;
    for word in rest {
        mentioned(word, found);
        if is_output && !word.is_option() {
            used(word, Access::Write, found);
        }
        is_output = OUTPUTS.contains(&word.text.as_str());
        let value = word.text.split_once('=').filter(|(name, _)| OUTPUTS.contains(name));
        if let Some((_, value)) = value {
            used(&Word { text: value.to_owned(), kind: word.kind }, Access::Write, found);
        }
    }
}

/// A file that is written to, moved or removed.
pub(super) fn changed(word: &Word, found: &mut Found<'_>) {
    used(word, Access::Write, found);
    if let Some(path) = place(word, found).filter(|path| is_folder(path, found)) {
        found.scan(&path, Access::Write);
        let holds = |folder: &std::path::PathBuf| found.zones.holds_protected(folder, &path);
        if found.folders.iter().any(holds) {
            found.reaches(&path);
        }
    }
}

fn used(word: &Word, access: Access, found: &mut Found<'_>) {
    match (place(word, found), word.kind) {
        (Some(path), _) => found.path(&path, access),
        (None, Kind::Unknown) => {
            found.doubt("it uses a file whose name is only known when it runs");
            found.scan("/", access);
            if access == Access::Write {
                found.reaches(&word.text);
            }
        }
        (None, Kind::Plain | Kind::Home | Kind::Pattern) => {
            patterns::scan(word, access, Into::Folders, found);
            reaches_hidden(word, found);
            // Names are found in this folder; those of the folders themselves are not known.
            let folder = word.text.rsplit_once('/').map_or("", |(folder, _)| folder);
            match folder.contains(['*', '?', '[', '~']) {
                true => found.somewhere(&word.text, access),
                false => found.path(&word.text, access),
            }
        }
    }
}

/// Ending a process is asked about where it may be the one that keeps the rules.
pub(super) fn ends_processes(rest: &[Word], found: &mut Found<'_>) {
    let own = [std::process::id(), std::os::unix::process::parent_id()];
    let is_ours = |word: &Word| {
        let text = word.text.trim_start_matches('-');
        let is_own = own.iter().any(|pid| text == pid.to_string());
        is_own || text.contains("PPID") || text.contains("windlass") || word.text == "-1"
    };
    // `kill -1 123` sends a signal; `kill -9 -1` ends everything.
    let mut words = rest.iter().enumerate();
    if words.any(|(at, word)| is_ours(word) && (at > 0 || word.text != "-1")) {
        found.reaches("the process that runs this command");
    }
}
