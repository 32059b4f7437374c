//! The last lines that a running call printed, as they are shown at a terminal below the answer.

use windlass::ports::CallProgress;

#[cfg(test)]
#[path = "live_tail_tests.rs"]
mod live_tail_tests;

/// Maximum lines that are shown of a running call.
pub(super) const MAX_TAIL_LINES: usize = 5;

/// Maximum characters that are kept of a line.
const MAX_LINE_CHARS: usize = 500;

/// The tail of the output of one call.
#[derive(Debug, Default)]
pub(super) struct LiveTail {
    /// Complete lines and, at the end, the one that is being written.
    lines: Vec<String>,
    is_line_open: bool,
    step: Option<String>,
}

impl LiveTail {
    /// Takes what the call has reported since the last time.
    pub(super) fn push(&mut self, progress: &CallProgress) {
        if progress.omitted_bytes > 0 {
            self.is_line_open = false;
        }
        for piece in progress.output.split_inclusive('\n') {
            self.push_piece(piece);
        }
        if let Some(step) = &progress.step {
            self.step = Some(step_text(step.done, step.total, step.text.as_deref()));
        }
    }

    /// Takes a piece of one line.
    fn push_piece(&mut self, piece: &str) {
        let text = piece.strip_suffix('\n').unwrap_or(piece);
        if !self.is_line_open {
            self.lines.push(String::new());
            let excess = self.lines.len().saturating_sub(MAX_TAIL_LINES);
            self.lines.drain(..excess);
        }
        if let Some(line) = self.lines.last_mut() {
            line.push_str(text);
            *line = visible_part(line);
        }
        self.is_line_open = text.len() == piece.len();
    }

    /// Returns the lines to show, oldest first.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str).chain(self.step.as_deref())
    }
}

/// What a terminal would show of a line in which the cursor returned to the start, as progress bars
/// do.
fn visible_part(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let shown = line.rsplit('\r').next().unwrap_or(line);
    shown.chars().take(MAX_LINE_CHARS).collect()
}

/// How far a call is, in one line.
fn step_text(done: f64, total: Option<f64>, text: Option<&str>) -> String {
    let amount = match total {
        Some(total) => format!("{done} of {total}"),
        None => done.to_string(),
    };
    match text {
        Some(text) => format!("{amount}: {text}"),
        None => amount,
    }
}
