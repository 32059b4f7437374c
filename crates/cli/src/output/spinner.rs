//! The progress line: elapsed time, tokens, running calls.

use std::io::{self, Write};
use std::time::Instant;

use crate::terminal::number_format::count_noun;
use crate::terminal::{fit_columns, sanitize_text, terminal_width};

/// The animation frames of the spinner.
const SPINNER_FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The progress line.
pub(super) struct Spinner {
    since: Instant,
    frame: usize,
    is_visible: bool,
    tokens: u64,
}

#[expect(clippy::disallowed_methods, reason = "a spinner shows how long people have waited")]
fn start_time() -> Instant {
    Instant::now()
}

impl Spinner {
    pub(super) fn new() -> Self {
        Self { since: start_time(), frame: 0, is_visible: false, tokens: 0 }
    }

    /// Adds used tokens.
    pub(super) fn add_tokens(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Draws the line, with the running calls.
    pub(super) fn draw(&mut self, running: &str) {
        let picture = SPINNER_FRAMES.get(self.frame % SPINNER_FRAMES.len()).unwrap_or(&"");
        self.frame = self.frame.wrapping_add(1);
        let seconds = self.since.elapsed().as_secs();
        let apart = if running.is_empty() { "" } else { " · " };
        let tokens = count_noun(self.tokens, "token");
        let line = format!("{picture} {seconds} s · {tokens}{apart}{running}");
        // A wrapped line could not be erased.
        let line =
            fit_columns(&sanitize_text(&line), terminal_width(io::stderr()).saturating_sub(1));
        let _ = write!(io::stderr(), "\r\u{1b}[2K\u{1b}[2m{line}\u{1b}[0m");
        let _ = io::stderr().flush();
        self.is_visible = true;
    }

    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_visible) {
            let _ = write!(io::stderr(), "\r\u{1b}[2K");
            let _ = io::stderr().flush();
        }
    }
}
