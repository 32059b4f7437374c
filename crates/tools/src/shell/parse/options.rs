//! Where a wrapper's own words end and the command begins.

use super::word::{Kind, Word};
use super::wrappers::Wrapper;

/// How many words are the wrapper's own, its name included; `None` if one is not understood.
pub(super) fn own_words(wrapper: &Wrapper, words: &[Word]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.is_option()) {
        if word.kind != Kind::Plain {
            return None;
        }
        if word.text == "--" {
            at += 1;
            break;
        }
        at += option_words(wrapper, &word.text)?;
    }
    let own = at + wrapper.operands;
    let operands = words.get(at..own)?;
    operands.iter().all(|word| word.kind == Kind::Plain).then_some(own)
}

/// How many words an option takes.
fn option_words(wrapper: &Wrapper, option: &str) -> Option<usize> {
    let has_value = |known: &&&str| is_with_value(known, option);
    match () {
        () if wrapper.flags.contains(&option) => Some(1),
        () if wrapper.values.contains(&option) => Some(2),
        () if wrapper.values.iter().any(|known| has_value(&known)) => Some(1),
        () => None,
    }
}

/// `--signal=KILL` and `-sKILL`.
fn is_with_value(known: &str, option: &str) -> bool {
    match known.starts_with("--") {
        true => option.split_once('=').is_some_and(|(name, _)| name == known),
        false => option.starts_with(known),
    }
}
