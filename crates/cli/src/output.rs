//! Output: the answer on standard output, progress and diagnostics on standard error.

mod answer_text;
mod diff_view;
mod follow_run;
mod hook_messages;
mod init_message;
mod json_output;
mod local_output;
mod markdown;
mod partial_message;
mod question_prompt;
mod queued_prompts;
mod result_message;
mod retry_timeout;
mod sdk_messages;
mod signals;
mod spinner;
mod terminal;
mod text_output;
mod trust_question;

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::present::sanitize_output;

pub(crate) use follow_run::{follow_resumed_run, follow_run, print_hook_messages};
pub(crate) use hook_messages::HookMessages;
pub(crate) use local_output::{print_cleared, print_local_answer, print_no_conversation};
pub(crate) use retry_timeout::{ModelUnreachable, RetryTimeout};
pub(crate) use terminal::{ColorSupport, TerminalStyle, sanitize_text};
pub(crate) use trust_question::ask_trust;

/// The first error of writing to standard output.
static OUTPUT_ERROR: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints one line on standard output.
pub(crate) fn print_line(text: &str) {
    record_output_error(writeln!(
        io::stdout(),
        "{}",
        sanitize_output(text, ColorSupport::of_stdout())
    ));
}

/// Prints bytes on standard output, unchanged.
pub(crate) fn print_bytes(written: &[u8]) {
    let mut out = io::stdout();
    record_output_error(out.write_all(written).and_then(|()| out.flush()));
}

fn record_output_error(written: io::Result<()>) {
    if let Err(error) = written {
        OUTPUT_ERROR.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Returns the error because of which output was lost, if there was one. A reader that went away is
/// not an error.
pub(crate) fn take_output_error() -> Option<io::Error> {
    record_output_error(io::stdout().flush());
    let lost = OUTPUT_ERROR.lock().unwrap_or_else(PoisonError::into_inner).take();
    lost.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Prints one line on standard error. A reader that went away is not an error.
pub(crate) fn print_note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", sanitize_output(text, ColorSupport::of_stderr()));
}

/// Prints an error on standard error, in one sentence.
pub(crate) fn print_error(error: &anyhow::Error) {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    print_note(&format!("windlass: {}", chain.join(": ")));
}
