//! Printing on standard output and standard error. An error of standard output is kept for the end of
//! the process.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use super::{ColorSupport, sanitize_output};

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

/// Receives notes in the place of standard error.
type NoteSink = Box<dyn Fn(&str) + Send>;

/// Where notes go, if not to standard error.
static NOTE_SINK: Mutex<Option<NoteSink>> = Mutex::new(None);

/// Passes notes to `sink` from here on: a program that drives this process gets them as messages.
pub(crate) fn redirect_notes(sink: impl Fn(&str) + Send + 'static) {
    *NOTE_SINK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(sink));
}

/// Prints one line on standard error. A reader that went away is not an error.
pub(crate) fn print_note(text: &str) {
    match &*NOTE_SINK.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(sink) => sink(text),
        None => print_to_stderr(text),
    }
}

fn print_to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{}", sanitize_output(text, ColorSupport::of_stderr()));
}

/// Prints an error on standard error, in one sentence.
pub(crate) fn print_error(error: &anyhow::Error) {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    print_to_stderr(&format!("windlass: {}", chain.join(": ")));
}
