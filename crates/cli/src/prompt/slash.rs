//! Prompts that are commands: `/compact the names of all files`. Ours are answered here, and no
//! model is asked; those that people wrote down become prompts.

use std::path::Path;

use anyhow::bail;

use crate::settle::customs::Custom;

#[cfg(test)]
#[path = "slash_tests.rs"]
mod slash_tests;

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// End the active run.
    Cancel,
    /// Begin anew.
    Clear,
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
    pub(crate) const ALL: [Self; 6] =
        [Self::Cancel, Self::Clear, Self::Compact, Self::Context, Self::Cost, Self::Help];

    /// As it is typed, without the slash.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::Help => "help",
        }
    }

    /// What it does.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Cancel => "ask the active run of the conversation to end",
            Self::Clear => "begin a new conversation here; --continue continues that one",
            Self::Compact => {
                "make room in the context before the next model call; what follows is kept"
            }
            Self::Context => "how full the context is, and what a compaction would leave out",
            Self::Cost => "what the conversation has used so far",
            Self::Help => "this list",
        }
    }
}

/// What a prompt means that is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meant {
    /// One of ours.
    Ours(Slash),
    /// One that somebody wrote down, and what was typed behind it.
    Theirs(Custom, String),
}

/// The command that a prompt is, if it is one. A path is none, and a prompt that begins with a space
/// is always for the model.
pub(crate) fn read(prompt: &str, customs: &[Custom]) -> anyhow::Result<Option<Meant>> {
    let Some((word, rest)) = split(prompt) else { return Ok(None) };
    let rest = rest.trim().to_owned();
    if let Some(name) = Name::ALL.into_iter().find(|name| name.word() == word) {
        return Ok(Some(Meant::Ours(Slash { name, rest })));
    }
    match customs.iter().find(|custom| custom.name == word) {
        Some(custom) => Ok(Some(Meant::Theirs(custom.clone(), rest))),
        None if Path::new("/").join(word).exists() => Ok(None),
        None => {
            let names =
                names(customs).map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ");
            bail!(
                "there is no command /{word}; there are {names}; a prompt that begins with a \
                 space goes to the model as it is"
            )
        }
    }
}

/// Every command, as it is typed.
pub(crate) fn names(customs: &[Custom]) -> impl Iterator<Item = &str> {
    let ours = Name::ALL.map(Name::word);
    let theirs = customs.iter().map(|custom| custom.name.as_str());
    ours.into_iter().chain(theirs.filter(move |name| !ours.contains(name)))
}

/// The word behind the slash, if it looks like the name of a command, and what follows.
fn split(prompt: &str) -> Option<(&str, &str)> {
    let typed = prompt.strip_prefix('/')?;
    let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let begins = word.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    (begins && word.chars().all(is_name)).then_some((word, rest))
}
