//! Known options of programs, classified by what they can do. The lists are allow lists: a missing
//! option costs a question, one too many could cost a machine.
//!
//! Not here: the lists themselves, and words that are not options.

/// What an option can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OptionEffect {
    /// The option changes how the program reads or what it prints.
    Harmless,
    /// The option writes to files that are named by the words, and does nothing else.
    Writes,
    /// Anything: the option may run programs, or use files that no word names.
    Unknown,
}

/// A program, or one of its subcommands, and its options.
pub(super) struct KnownOptions {
    /// Name of the program, optionally followed by its subcommand.
    pub(super) command: &'static str,
    /// Harmless single-letter options without a value.
    pub(super) letters: &'static str,
    /// Harmless single-letter options with a value, attached to them or in the next word.
    pub(super) valued_letters: &'static str,
    /// Harmless options that are whole words, separated by blanks.
    pub(super) names: &'static str,
    /// Options that write, separated by blanks.
    pub(super) writing: &'static str,
    /// Allowed first operands, separated by blanks; empty if it may be anything.
    pub(super) first_operands: &'static str,
}

impl KnownOptions {
    /// Returns what an option word can do.
    pub(super) fn effect_of_option(&self, word: &str) -> OptionEffect {
        let name = option_name(word);
        match () {
            () if list_contains(self.names, name) => OptionEffect::Harmless,
            () if list_contains(self.writing, name) => OptionEffect::Writes,
            () if word.starts_with("--") => OptionEffect::Unknown,
            () => self.effect_of_letters(word.strip_prefix('-').unwrap_or(word)),
        }
    }

    /// Returns what a bundle of letters can do: `-la` is `-l -a`, and `-n20` is `-n 20`.
    pub(super) fn effect_of_letters(&self, letters: &str) -> OptionEffect {
        for letter in letters.chars() {
            match () {
                () if self.letters.contains(letter) => {}
                () if self.valued_letters.contains(letter) => return OptionEffect::Harmless,
                () if list_contains(self.writing, &format!("-{letter}")) => {
                    return OptionEffect::Writes;
                }
                () => return OptionEffect::Unknown,
            }
        }
        if letters.is_empty() { OptionEffect::Unknown } else { OptionEffect::Harmless }
    }
}

/// Returns whether a word is an option.
pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word != "--"
}

/// Returns the option's name without its value.
pub(super) fn option_name(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// Returns whether a list that is separated by blanks contains this word.
pub(super) fn list_contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
