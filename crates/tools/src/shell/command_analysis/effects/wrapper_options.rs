//! Options of wrappers: where a wrapper's own words end and the command begins.

use super::wrappers::WrapperProgram;
use crate::shell::command_analysis::shell_word::{ShellWord, WordKind};

/// Returns how many words belong to the wrapper, its name included; `None` if one is unknown.
pub(crate) fn wrapper_word_count(wrapper: &WrapperProgram, words: &[ShellWord]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.is_option()) {
        if word.kind != WordKind::Plain {
            return None;
        }
        if word.text == "--" {
            at += 1;
            break;
        }
        at += option_word_count(wrapper, &word.text)?;
    }
    let own = at + wrapper.operands;
    let operands = words.get(at..own)?;
    operands.iter().all(|word| word.kind == WordKind::Plain).then_some(own)
}

/// Returns how many words an option takes.
fn option_word_count(wrapper: &WrapperProgram, option: &str) -> Option<usize> {
    let has_value = |known: &&&str| has_attached_value(known, option);
    match () {
        () if wrapper.flags.contains(&option) => Some(1),
        () if wrapper.values.contains(&option) => Some(2),
        () if wrapper.values.iter().any(|known| has_value(&known)) => Some(1),
        () => None,
    }
}

/// Returns whether an option has an attached value: `--signal=KILL` and `-sKILL`.
fn has_attached_value(known: &str, option: &str) -> bool {
    match known.starts_with("--") {
        true => option.split_once('=').is_some_and(|(name, _)| name == known),
        false => option.starts_with(known),
    }
}
