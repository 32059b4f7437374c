//! From the typed prompt to the message: text, slash commands that are for Windlass and not for the
//! model, and attached files.

pub(crate) mod command_arguments;
pub(crate) mod environment;
pub(crate) mod mentions;
pub(crate) mod prompt_content;
pub(crate) mod prompt_input;
pub(crate) mod session_events;
pub(crate) mod slash_command;
