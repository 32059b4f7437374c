//! What people and programs see: the answer on standard output, everything about it on standard
//! error.

mod answer;
mod behind;
mod changes;
mod follow;
mod frames;
mod hook_messages;
mod init;
mod live;
mod local;
mod markdown;
mod messages;
mod partial;
mod patience;
mod prompter;
mod result;
mod signals;
mod spinner;
mod terminal;
mod trust_question;

use std::io::{self, Write};

use crate::present::sanitize_output;

pub(crate) use follow::{print_hook_messages, watch, watch_from};
pub(crate) use hook_messages::HookMessages;
pub(crate) use local::{cleared, locally, not_begun};
pub(crate) use patience::{Lost, Patience};
pub(crate) use terminal::{Colours, Style, harmless};
pub(crate) use trust_question::ask_trust;

/// One line on standard output. A reader that went away is not an error.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stdout(), "{}", sanitize_output(text, Colours::of_stdout()));
}

/// One line on standard error. A reader that went away is not an error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", sanitize_output(text, Colours::of_stderr()));
}

/// One clear sentence on standard error.
pub(crate) fn error(error: &anyhow::Error) {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    note(&format!("windlass: {}", chain.join(": ")));
}
