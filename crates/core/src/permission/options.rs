//! Options of well-known programs, sorted by what they can do. The lists hold what is known to be
//! harmless: an option that is missing costs a question, one too many could cost a machine.
//!
//! Not here: the lists themselves, and words that are no options.

/// What an option can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    /// It changes how the program looks or what it prints.
    Harmless,
    /// It writes to files that are among the words, and does nothing else.
    Writes,
    /// Anything: it may run programs, or use files that no word names.
    Unknown,
}

/// A program, or one of its own commands, and its options.
pub(super) struct KnownOptions {
    /// The name, and after it perhaps the name of its own command.
    pub(super) command: &'static str,
    /// Harmless letters without a value.
    pub(super) letters: &'static str,
    /// Harmless letters with a value, glued to them or in the next word.
    pub(super) valued: &'static str,
    /// Harmless options that are whole words, divided by blanks.
    pub(super) names: &'static str,
    /// Options that write, divided by blanks.
    pub(super) writing: &'static str,
    /// The words of which the first operand must be one, divided by blanks; empty if it may be
    /// anything.
    pub(super) first: &'static str,
}

impl KnownOptions {
    /// What an option word can do.
    pub(super) fn effect(&self, word: &str) -> Effect {
        let name = name_of(word);
        match () {
            () if has(self.names, name) => Effect::Harmless,
            () if has(self.writing, name) => Effect::Writes,
            () if word.starts_with("--") => Effect::Unknown,
            () => self.effect_of_letters(word.strip_prefix('-').unwrap_or(word)),
        }
    }

    /// `-la` is `-l -a`, and `-n20` is `-n 20`.
    pub(super) fn effect_of_letters(&self, letters: &str) -> Effect {
        for letter in letters.chars() {
            match () {
                () if self.letters.contains(letter) => {}
                () if self.valued.contains(letter) => return Effect::Harmless,
                () if has(self.writing, &format!("-{letter}")) => return Effect::Writes,
                () => return Effect::Unknown,
            }
        }
        if letters.is_empty() { Effect::Unknown } else { Effect::Harmless }
    }
}

/// Whether a word is an option.
pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// The option's name without its value.
pub(super) fn name_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// Whether a list that is divided by blanks holds this word.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
