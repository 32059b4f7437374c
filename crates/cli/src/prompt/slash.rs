//! Prompts that are commands: `/compact the names of all files`. They are answered here; no model
//! is asked.

use std::path::Path;

use anyhow::bail;

#[cfg(test)]
#[path = "slash_tests.rs"]
mod slash_tests;

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// Make room in the context before the next model call.
    Compact,
    /// How full the context is.
    Context,
    /// What the conversation has used.
    Cost,
    /// What there is.
    Help,
}

/// A command, and what was typed behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slash {
    pub(crate) name: Name,
    pub(crate) rest: String,
}

impl Name {
    /// All of them, in the order of their names.
    pub(crate) const ALL: [Self; 4] = [Self::Compact, Self::Context, Self::Cost, Self::Help];

    /// As it is typed, without the slash.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::Help => "help",
        }
    }

    /// What it does.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Compact => {
                "make room in the context before the next model call; what follows is kept"
            }
            Self::Context => "how full the context is, and what a compaction would leave out",
            Self::Cost => "what the conversation has used so far",
            Self::Help => "this list",
        }
    }
}

/// The command that a prompt is, if it is one. A path is none, and a prompt that begins with a space
/// is always for the model.
pub(crate) fn read(prompt: &str) -> anyhow::Result<Option<Slash>> {
    let Some((word, rest)) = split(prompt) else { return Ok(None) };
    match Name::ALL.into_iter().find(|name| name.word() == word) {
        Some(name) => Ok(Some(Slash { name, rest: rest.trim().to_owned() })),
        None if Path::new("/").join(word).exists() => Ok(None),
        None => {
            let names = Name::ALL.map(|name| format!("/{}", name.word())).join(", ");
            bail!(
                "there is no command /{word}; there are {names}; a prompt that begins with a \
                 space goes to the model as it is"
            )
        }
    }
}

/// The word behind the slash, if it looks like the name of a command, and what follows.
fn split(prompt: &str) -> Option<(&str, &str)> {
    let typed = prompt.strip_prefix('/')?;
    let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let begins = word.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    (begins && word.chars().all(is_name)).then_some((word, rest))
}
