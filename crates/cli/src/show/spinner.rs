//! The line that moves while somebody is at work: how long already, and with how many tokens.

use std::io::{self, Write};
use std::time::Instant;

use super::terminal::{fit, harmless, width};
use crate::look::numbers::counted;

/// The spinner's pictures.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The line that shows that somebody is at work.
pub(super) struct Spinner {
    since: Instant,
    drawn: usize,
    shown: bool,
    tokens: u64,
}

#[expect(clippy::disallowed_methods, reason = "a spinner shows how long people have waited")]
fn now() -> Instant {
    Instant::now()
}

impl Spinner {
    pub(super) fn new() -> Self {
        Self { since: now(), drawn: 0, shown: false, tokens: 0 }
    }

    /// So many tokens more were used.
    pub(super) fn count(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Draws the line, with what runs.
    pub(super) fn draw(&mut self, running: &str) {
        let picture = SPINNER.get(self.drawn % SPINNER.len()).unwrap_or(&"");
        self.drawn = self.drawn.wrapping_add(1);
        let seconds = self.since.elapsed().as_secs();
        let apart = if running.is_empty() { "" } else { " · " };
        let tokens = counted(self.tokens, "token");
        let line = format!("{picture} {seconds} s · {tokens}{apart}{running}");
        // A line that wraps could not be taken back.
        let line = fit(&harmless(&line), width(io::stderr()).saturating_sub(1));
        let _ = write!(io::stderr(), "\r\u{1b}[2K\u{1b}[2m{line}\u{1b}[0m");
        let _ = io::stderr().flush();
        self.shown = true;
    }

    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\u{1b}[2K");
            let _ = io::stderr().flush();
        }
    }
}
