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
use std::sync::{Mutex, PoisonError};

use crate::present::sanitize_output;

pub(crate) use follow::{print_hook_messages, watch, watch_from};
pub(crate) use hook_messages::HookMessages;
pub(crate) use local::{cleared, locally, not_begun};
pub(crate) use patience::{Lost, Patience};
pub(crate) use terminal::{Colours, Style, harmless};
pub(crate) use trust_question::ask_trust;

/// The first error of writing to standard output.
static LOST_OUTPUT: Mutex<Option<io::Error>> = Mutex::new(None);

/// One line on standard output.
pub(crate) fn line(text: &str) {
    keep_error(writeln!(io::stdout(), "{}", sanitize_output(text, Colours::of_stdout())));
}

/// Bytes for standard output, as they are.
pub(crate) fn bytes(written: &[u8]) {
    let mut out = io::stdout();
    keep_error(out.write_all(written).and_then(|()| out.flush()));
}

fn keep_error(written: io::Result<()>) {
    if let Err(error) = written {
        LOST_OUTPUT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Why what a command printed was lost, if it was. A reader that went away is not an error.
pub(crate) fn lost_output() -> Option<io::Error> {
    keep_error(io::stdout().flush());
    let lost = LOST_OUTPUT.lock().unwrap_or_else(PoisonError::into_inner).take();
    lost.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
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
