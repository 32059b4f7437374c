//! Slash commands: `/compact the names of all files`. Built-in ones are answered without a model
//! call; custom ones become prompts.

use std::path::Path;

use anyhow::bail;

use super::prompt_content::SERVER_PROMPT_PREFIX;
use crate::config::claude::custom_commands::CustomCommand;

#[cfg(test)]
#[path = "slash_command_tests.rs"]
mod slash_command_tests;

/// A built-in slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocalCommand {
    /// Cancels the active run.
    Cancel,
    /// Starts a new conversation.
    Clear,
    /// Compacts the context before the next model call.
    Compact,
    /// Shows how full the context is.
    Context,
    /// Shows what the conversation has used.
    Cost,
    /// Lists the commands.
    Help,
}

/// A built-in command with the text after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalCommandCall {
    pub(crate) name: LocalCommand,
    pub(crate) arguments: String,
}

impl LocalCommand {
    /// All built-in commands, in the order of their names.
    pub(crate) const ALL: [Self; 6] =
        [Self::Cancel, Self::Clear, Self::Compact, Self::Context, Self::Cost, Self::Help];

    /// The name as it is typed, without the slash.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::Help => "help",
        }
    }

    /// What the command does.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Cancel => "cancel the active run of the conversation",
            Self::Clear => "start a new conversation here; --continue then continues it",
            Self::Compact => {
                "compact the context before the next model call; text after it says what to keep"
            }
            Self::Context => "show how full the context is and what a compaction would remove",
            Self::Cost => "what the conversation has used so far",
            Self::Help => "this list",
        }
    }
}

/// A prompt that is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SlashCommand {
    /// A built-in command.
    Local(LocalCommandCall),
    /// A custom command, and the text after it.
    Custom(CustomCommand, String),
}

/// Parses a prompt that is a command. A path is not one, and a prompt that starts with a space is
/// always for the model.
pub(crate) fn parse_slash(
    prompt: &str,
    customs: &[CustomCommand],
) -> anyhow::Result<Option<SlashCommand>> {
    let Some((word, rest)) = split_command(prompt) else { return Ok(None) };
    let arguments = rest.trim().to_owned();
    if let Some(name) = LocalCommand::ALL.into_iter().find(|name| name.as_str() == word) {
        return Ok(Some(SlashCommand::Local(LocalCommandCall { name, arguments })));
    }
    match customs.iter().find(|custom| custom.name == word) {
        Some(custom) => Ok(Some(SlashCommand::Custom(custom.clone(), arguments))),
        None if word.starts_with(SERVER_PROMPT_PREFIX) => Ok(None),
        None if Path::new("/").join(word).exists() => Ok(None),
        None => {
            let names = command_names(customs)
                .map(|name| format!("/{name}"))
                .collect::<Vec<_>>()
                .join(", ");
            bail!(
                "unknown command /{word}; available: {names}; start a prompt with a space to send it to the model unchanged"
            )
        }
    }
}

/// The names of all commands, as they are typed.
pub(crate) fn command_names(customs: &[CustomCommand]) -> impl Iterator<Item = &str> {
    let ours = LocalCommand::ALL.map(LocalCommand::as_str);
    let theirs = customs.iter().map(|custom| custom.name.as_str());
    ours.into_iter().chain(theirs.filter(move |name| !ours.contains(name)))
}

/// Splits the word after the slash, if it looks like the name of a command, from what follows.
fn split_command(prompt: &str) -> Option<(&str, &str)> {
    let typed = prompt.strip_prefix('/')?;
    let (word, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let begins = word.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    (begins && word.chars().all(is_name)).then_some((word, rest))
}
