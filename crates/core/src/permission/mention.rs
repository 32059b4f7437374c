//! Whether a command may run a program that it only names: programs that run others are many, and
//! nobody knows all of them.

use super::glob;
use super::program_text::runs_no_words;
use super::subject::SimpleCommand;

/// Whether one of the words behind the command's name is, or holds, the name of this program.
pub(super) fn is_mentioned(program: &str, command: &SimpleCommand) -> bool {
    let has = |word: &str| names_in(word).any(|name| glob::fits(program, name));
    !runs_no_words(command) && command.words.iter().skip(1).any(|word| has(word))
}

/// Everything in a word that could be the name of a program, with its folder and without.
fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let is_apart = |c: char| !(c.is_alphanumeric() || "_-+./@%:,".contains(c));
    let whole = word.split(is_apart).filter(|name| !name.is_empty());
    whole.flat_map(|name| {
        let bare = name.rsplit_once('/').map_or(name, |(_, bare)| bare);
        // `-Srm` holds `rm` for programs that take a command behind an option.
        let glued = name.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
        [name, bare, glued]
    })
}
