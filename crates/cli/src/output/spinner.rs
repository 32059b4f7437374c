//! The progress line: elapsed time, tokens, running calls, and the last output of one of them.

use std::io::{self, Write};
use std::time::Instant;

use crate::terminal::number_format::count_noun;
use crate::terminal::{fit_columns, sanitize_line, sanitize_text, terminal_width};

/// The animation frames of the spinner.
const SPINNER_FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The progress line.
pub(super) struct Spinner {
    since: Instant,
    frame: usize,
    /// The lines on the screen that belong to the progress line.
    drawn_lines: usize,
    tokens: u64,
}

#[expect(clippy::disallowed_methods, reason = "a spinner shows how long people have waited")]
fn start_time() -> Instant {
    Instant::now()
}

impl Spinner {
    pub(super) fn new() -> Self {
        Self { since: start_time(), frame: 0, drawn_lines: 0, tokens: 0 }
    }

    /// Adds used tokens.
    pub(super) fn add_tokens(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Draws the line with the running calls, below the last lines that one of them printed.
    pub(super) fn draw(&mut self, running: &str, tail: Vec<&str>) {
        let picture = SPINNER_FRAMES.get(self.frame % SPINNER_FRAMES.len()).unwrap_or(&"");
        self.frame = self.frame.wrapping_add(1);
        let seconds = self.since.elapsed().as_secs();
        let apart = if running.is_empty() { "" } else { " · " };
        let tokens = count_noun(self.tokens, "token");
        let line = format!("{picture} {seconds} s · {tokens}{apart}{running}");
        let lines: Vec<String> = tail
            .into_iter()
            .map(|printed| format!("  │ {}", sanitize_line(printed)))
            .chain([sanitize_text(&line)])
            // A wrapped line could not be erased.
            .map(|line| fit_columns(&line, terminal_width(io::stderr()).saturating_sub(1)))
            .collect();
        let erase = erase_lines(self.drawn_lines);
        let _ = write!(io::stderr(), "{erase}\u{1b}[2m{}\u{1b}[0m", lines.join("\n"));
        let _ = io::stderr().flush();
        self.drawn_lines = lines.len();
    }

    pub(super) fn clear(&mut self) {
        let drawn = std::mem::take(&mut self.drawn_lines);
        if drawn > 0 {
            let _ = write!(io::stderr(), "{}", erase_lines(drawn));
            let _ = io::stderr().flush();
        }
    }
}

/// The codes that erase the line of the cursor and those that were drawn above it.
fn erase_lines(drawn: usize) -> String {
    let above = "\u{1b}[1A\r\u{1b}[2K".repeat(drawn.saturating_sub(1));
    format!("\r\u{1b}[2K{above}")
}
