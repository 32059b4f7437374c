//! The rows below the scrollback: what is in progress, the composer, the status line. Pure.

use super::painter::LiveArea;
use super::rows::{accent, fit_row, paint, split_columns};
use super::session_model::{SessionModel, Working};
use super::status_line::{short_duration, short_tokens};
use crate::terminal::{Color, escape_invisible, to_one_line};

/// The frames of the spinner, and the time of one.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
pub(super) const SPINNER_MS: u64 = 120;

/// Maximum rows of running calls and of the task list.
const MAX_CALLS: usize = 5;
const MAX_TASKS: usize = 8;

/// Maximum queued prompts that are shown.
const MAX_QUEUED: usize = 4;

impl SessionModel {
    /// The live rows and the cursor.
    pub(super) fn live_area(&self) -> LiveArea {
        let mut rows = self.progress_rows();
        if let Some(panel) = self.panels.first() {
            let height = self.screen_rows.saturating_sub(rows.len());
            let shown = panel.rows(self.columns, height, self.panels.len() - 1);
            let cursor = shown.cursor.map(|(row, column)| (rows.len() + row, column));
            rows.extend(shown.rows);
            rows.push(paint(Color::Dim, &panel.keys()));
            return LiveArea { rows, cursor };
        }
        if let Some(picker) = &self.picker {
            let height = self.screen_rows.saturating_sub(rows.len());
            let (shown, cursor) = picker.rows(self.columns, height);
            let cursor = (rows.len() + cursor.0, cursor.1);
            rows.extend(shown);
            return LiveArea { rows, cursor: Some(cursor) };
        }
        rows.push(self.rule());
        let (composer, cursor) = self.composer_rows();
        let cursor = (rows.len() + cursor.0, cursor.1);
        rows.extend(composer);
        rows.push(self.rule());
        if let Some(completion) = &self.completion {
            rows.extend(completion.rows(self.columns));
            return LiveArea { rows, cursor: Some(cursor) };
        }
        rows.push(self.bottom_row());
        LiveArea { rows, cursor: Some(cursor) }
    }

    fn rule(&self) -> String {
        paint(Color::Dim, &"─".repeat(self.columns))
    }

    fn spinner(&self) -> &'static str {
        let frame = usize::try_from(self.now_ms / SPINNER_MS).unwrap_or(0) % SPINNER.len();
        SPINNER.get(frame).copied().unwrap_or("·")
    }

    /// What is in progress: the unfinished line, calls, tasks, queued prompts.
    fn progress_rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        rows.extend(self.view.open_line());
        rows.push(String::new());
        if let Some(working) = self.working.as_ref().filter(|_| self.panels.is_empty()) {
            rows.extend(self.call_rows());
            rows.push(self.working_row(working));
            let tasks = self.view.tasks.iter().take(MAX_TASKS);
            rows.extend(tasks.map(|task| paint(Color::Dim, task)));
            rows.push(String::new());
        }
        if let Some((command, since)) = &self.shell {
            let elapsed = short_duration(self.now_ms.saturating_sub(*since));
            let command = to_one_line(&escape_invisible(command), self.columns / 2);
            let facts = paint(Color::Dim, &format!("({elapsed} · Esc stops it)"));
            let row = format!("{} ! {command} {facts}", accent(self.spinner()));
            rows.push(fit_row(&row, self.columns));
            rows.push(String::new());
        }
        for text in self.queue.iter().take(MAX_QUEUED) {
            let text = to_one_line(text, self.columns.saturating_sub(12));
            rows.push(paint(Color::Dim, &format!("  queued: {text}")));
        }
        if let Some(more) = self.queue.len().checked_sub(MAX_QUEUED).filter(|more| *more > 0) {
            rows.push(paint(Color::Dim, &format!("  … {more} more")));
        }
        if !self.queue.is_empty() {
            let keys = "  Up in an empty line edits the last one, /queue any of them";
            rows.push(fit_row(&paint(Color::Dim, keys), self.columns));
            rows.push(String::new());
        }
        rows
    }

    fn call_rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for call in self.view.calls.iter().take(MAX_CALLS) {
            let (name, rest) = call.line.split_once(' ').unwrap_or((&call.line, ""));
            let row = format!("{} {} {rest}", accent(self.spinner()), paint(Color::Bold, name));
            rows.push(fit_row(&row, self.columns));
            if let Some(activity) = &call.activity {
                let lines = activity.lines().map(|line| to_one_line(line, 200));
                rows.extend(lines.map(|line| paint(Color::Dim, &format!("    {line}"))));
            }
        }
        if let Some(more) = self.view.calls.len().checked_sub(MAX_CALLS).filter(|more| *more > 0) {
            rows.push(paint(Color::Dim, &format!("  … {more} more")));
        }
        rows
    }

    fn working_row(&self, working: &Working) -> String {
        let elapsed = short_duration(self.now_ms.saturating_sub(working.since_ms));
        let what = match working.interrupts {
            0 => self.activity(),
            1 => "Stopping at the next safe point".to_owned(),
            _ => "Stopping".to_owned(),
        };
        let keys = match working.interrupts {
            0 if self.view.calls.iter().any(|call| call.line.starts_with("Bash ")) => {
                "Esc interrupts · Ctrl-B background"
            }
            0 => "Esc interrupts",
            1 if !self.view.calls.is_empty() => "Esc stops the running call, too",
            _ => "",
        };
        let mut facts = vec![elapsed];
        // Four characters make about one token.
        if self.view.live_chars > 40 {
            facts.push(format!("about {}", short_tokens(self.view.live_chars as u64 / 4)));
        }
        if !keys.is_empty() {
            facts.push(keys.to_owned());
        }
        let facts = paint(Color::Dim, &format!("({})", facts.join(" · ")));
        fit_row(&format!("{} {what} {facts}", accent(self.spinner())), self.columns)
    }

    fn activity(&self) -> String {
        if let Some(retry) = &self.view.retry {
            return paint(Color::Yellow, &escape_invisible(retry));
        }
        if !self.view.thinking.is_empty() {
            return "Thinking…".to_owned();
        }
        "Working…".to_owned()
    }

    /// The rows of the composer, and the row and column of its cursor.
    fn composer_rows(&self) -> (Vec<String>, (usize, usize)) {
        let columns = self.columns.saturating_sub(3).max(2);
        let visible = |text: &str| escape_invisible(text).replace("\\t", "    ");
        let before = visible(self.composer.buffer.before());
        let after = visible(self.composer.buffer.after());
        let mut rows: Vec<String> = Vec::new();
        let whole = format!("{before}{after}");
        for line in whole.split('\n') {
            rows.extend(split_columns(line, columns));
        }
        let mut before_rows: Vec<String> = Vec::new();
        for line in before.split('\n') {
            before_rows.extend(split_columns(line, columns));
        }
        let mut row = before_rows.len().saturating_sub(1);
        let mut column = before_rows.last().map_or(0, |row| super::rows::row_width(row));
        if column >= columns && row + 1 < rows.len() {
            (row, column) = (row + 1, 0);
        }
        let shown = self.composer_height();
        let first = row.saturating_sub(shown.saturating_sub(1));
        let mut out = Vec::new();
        for (at, text) in rows.iter().enumerate().skip(first).take(shown) {
            let mark = if at == 0 { accent("❯") } else { " ".to_owned() };
            out.push(format!("{mark} {text}"));
        }
        if self.composer.is_empty() {
            let hint = match self.working {
                Some(_) => "Enter steers, Alt-Enter queues",
                None => "Ask for anything; /help lists commands",
            };
            out = vec![format!("{} {}", accent("❯"), paint(Color::Dim, hint))];
        }
        (out, (row - first, column + 2))
    }

    /// The composer takes at most a third of the screen.
    fn composer_height(&self) -> usize {
        (self.screen_rows / 3).max(1)
    }

    fn bottom_row(&self) -> String {
        if let Some(search) = self.composer.search_row() {
            return search;
        }
        match &self.hint {
            Some(hint) => paint(Color::Yellow, &format!("  {hint}")),
            None => match &self.composer.vi {
                Some(vi) => {
                    let label = format!("  {}", accent(vi.label()));
                    let room = self.columns.saturating_sub(8);
                    format!("{label}{}", self.status.row(room))
                }
                None => self.status.row(self.columns),
            },
        }
    }
}
