//! Whether a command may run a program that it only names as an argument: many programs run others,
//! and no list of them is complete.

use super::glob;
use super::inline_programs::runs_no_arguments;
use super::subject::SimpleCommand;

/// Returns whether one of the arguments is, or contains, the name of this program.
pub(super) fn mentions_program(program: &str, command: &SimpleCommand) -> bool {
    let has = |word: &str| program_names_in(word).any(|name| glob::matches_name(program, name));
    !runs_no_arguments(command) && command.words.iter().skip(1).any(|word| has(word))
}

/// Returns everything in a word that could be the name of a program, with its folder and without.
fn program_names_in(word: &str) -> impl Iterator<Item = &str> {
    let is_apart = |c: char| !(c.is_alphanumeric() || "_-+./@%:,".contains(c));
    let whole = word.split(is_apart).filter(|name| !name.is_empty());
    whole.flat_map(|name| {
        let bare = name.rsplit_once('/').map_or(name, |(_, bare)| bare);
        // `-Srm` contains `rm` for programs that take a command after an option.
        let glued = name.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
        [name, bare, glued]
    })
}
