//! The files that a git command uses, named or not.

use windlass_core::permission::Access;

use super::found::Found;
use super::paths::{mentioned, named};
use super::word::Word;

/// Commands that print no contents of files, as long as no option asks for them.
const QUIET: &[&str] = &[
    "add",
    "branch",
    "clean",
    "commit",
    "config",
    "fetch",
    "init",
    "log",
    "ls-files",
    "push",
    "remote",
    "reset",
    "restore",
    "rev-parse",
    "rm",
    "shortlog",
    "status",
    "switch",
    "tag",
];

/// Options with which a quiet command prints contents.
const PRINTING: &[&str] =
    &["--patch", "--verbose", "--unified", "--cc", "--diff-merges", "--word-diff"];

/// Letters that do the same in a bundle.
fn printing_letters(command: &str) -> &'static [char] {
    match command {
        "log" => &['p', 'u', 'U', 'L', 'S', 'G', 'c', 'm'],
        "commit" | "status" => &['v'],
        _ => &[],
    }
}

/// Commands that leave the files of the work tree as they are.
const LOOKING: &[&str] = &[
    "blame",
    "branch",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

pub(super) fn files(rest: &[Word], found: &mut Found<'_>) {
    let command = rest.first().map_or("", |word| word.text.as_str());
    for word in rest.iter().skip(1) {
        mentioned(word, found);
        // `HEAD:file` names a file of a revision, and `:file` one of the index.
        if let Some((_, path)) = word.text.rsplit_once(':').filter(|(_, path)| !path.is_empty()) {
            named(&Word { text: path.to_owned(), kind: word.kind }, found);
        }
    }
    if command == "config" && sets(rest) {
        found.reaches(".git/config");
    }
    if !is_quiet(command, rest) {
        // Which files of which revision it prints cannot be told from its words.
        found.scan("/", Access::Read);
    }
    if !LOOKING.contains(&command) {
        found.change_files();
    }
}

fn is_quiet(command: &str, rest: &[Word]) -> bool {
    let prints = |word: &Word| {
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let is_long = |known: &str| {
            word.text.len() > 2 && (word.text.starts_with(known) || known.starts_with(&word.text))
        };
        letters.is_some_and(|letters| letters.contains(printing_letters(command)))
            || (word.text.starts_with("--") && PRINTING.iter().any(|known| is_long(known)))
    };
    QUIET.contains(&command) && !rest.iter().skip(1).any(prints)
}

/// Whether `git config` may change something: it does unless it plainly asks for something.
fn sets(rest: &[Word]) -> bool {
    let asks = |word: &Word| {
        let text = word.text.as_str();
        text.starts_with("--get") || matches!(text, "--list" | "-l" | "get" | "list")
    };
    let operands = rest.iter().skip(1).filter(|word| !word.is_option()).count();
    let changes = |word: &Word| {
        let text = word.text.as_str();
        ["--add", "--unset", "--rep", "--rem", "--ren", "--edit", "-e"]
            .iter()
            .any(|known| text.starts_with(known))
    };
    rest.iter().any(changes) || (operands != 1 && !rest.get(1).is_some_and(asks))
}
