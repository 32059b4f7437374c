//! Draws at the bottom of the normal screen: finished lines go to the scrollback, once; the live
//! rows below them (composer, status) are drawn again where they changed. Pure: it returns bytes.

use super::rows::{fit_row, row_width, without_colors};
use crate::terminal::ColorSupport;

/// Begins and ends an update that a terminal shows at once; others ignore it.
const BEGIN_UPDATE: &str = "\x1b[?2026h";
const END_UPDATE: &str = "\x1b[?2026l";

/// Whether the terminal wraps lines again when it becomes narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReflowSupport {
    /// Lines that are too long take more rows.
    Reflows,
    /// Lines are cut.
    Cuts,
}

/// What the screen should show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LiveArea {
    /// The rows, at most as many as the screen has.
    pub(super) rows: Vec<String>,
    /// Row and column of the cursor; hidden without one.
    pub(super) cursor: Option<(usize, usize)>,
}

/// Knows what was drawn, and draws the difference.
#[derive(Debug)]
pub(super) struct Painter {
    colors: ColorSupport,
    reflow: ReflowSupport,
    columns: usize,
    screen_rows: usize,
    drawn: LiveArea,
}

impl Painter {
    pub(super) fn new(
        colors: ColorSupport,
        reflow: ReflowSupport,
        (columns, rows): (usize, usize),
    ) -> Self {
        Self {
            colors,
            reflow,
            columns: columns.max(1),
            screen_rows: rows.max(1),
            drawn: LiveArea::default(),
        }
    }

    /// Draws finished lines and the live rows.
    pub(super) fn paint(&mut self, finished: &[String], live: LiveArea) -> String {
        let live = self.prepare(live);
        if finished.is_empty() && live == self.drawn {
            return String::new();
        }
        let mut out = format!("{BEGIN_UPDATE}\x1b[?25l");
        match finished.is_empty() && live.rows.len() == self.drawn.rows.len() {
            true => self.paint_changed(&live, &mut out),
            false => self.paint_all(finished, &live, &mut out),
        }
        if let Some((_, column)) = live.cursor {
            out.push('\r');
            if column > 0 {
                out.push_str(&format!("\x1b[{column}C"));
            }
            out.push_str("\x1b[?25h");
        }
        out.push_str(END_UPDATE);
        self.drawn = live;
        out
    }

    fn prepare(&self, live: LiveArea) -> LiveArea {
        let rows = live.rows.iter().map(|row| match self.colors {
            ColorSupport::Enabled => fit_row(row, self.columns),
            ColorSupport::Disabled => without_colors(&fit_row(row, self.columns)),
        });
        let mut rows: Vec<String> = rows.collect();
        // The rows at the bottom are the important ones.
        let too_many = rows.len().saturating_sub(self.screen_rows);
        rows.drain(..too_many);
        let last = self.columns.saturating_sub(1);
        let cursor = live
            .cursor
            .and_then(|(row, column)| Some((row.checked_sub(too_many)?, column.min(last))));
        LiveArea { rows, cursor }
    }

    /// The row of the live area in which the terminal's cursor is.
    fn cursor_row(&self) -> usize {
        let last = self.drawn.rows.len().saturating_sub(1);
        self.drawn.cursor.map_or(last, |(row, _)| row.min(last))
    }

    fn paint_changed(&self, live: &LiveArea, out: &mut String) {
        let mut at = self.cursor_row();
        for (row, (new, old)) in live.rows.iter().zip(&self.drawn.rows).enumerate() {
            if new != old {
                move_rows(at, row, out);
                out.push_str("\r\x1b[K");
                out.push_str(new);
                at = row;
            }
        }
        let last = live.rows.len().saturating_sub(1);
        move_rows(at, live.cursor.map_or(last, |(row, _)| row), out);
    }

    fn paint_all(&self, finished: &[String], live: &LiveArea, out: &mut String) {
        move_rows(self.cursor_row(), 0, out);
        out.push('\r');
        for line in finished {
            // A line that wraps would leave remains of what was below.
            let wraps = row_width(line) > self.columns;
            out.push_str(if wraps { "\x1b[J" } else { "\x1b[K" });
            match self.colors {
                ColorSupport::Enabled => out.push_str(line),
                ColorSupport::Disabled => out.push_str(&without_colors(line)),
            }
            out.push_str("\r\n");
        }
        let last = live.rows.len().saturating_sub(1);
        for (row, text) in live.rows.iter().enumerate() {
            out.push_str(if row == last { "\x1b[J" } else { "\x1b[K" });
            out.push_str(text);
            if row != last {
                out.push_str("\r\n");
            }
        }
        if live.rows.is_empty() {
            out.push_str("\x1b[J");
        }
        move_rows(last, live.cursor.map_or(last, |(row, _)| row), out);
    }

    /// Removes the live rows: the next line is printed in their place.
    pub(super) fn clear(&mut self) -> String {
        let mut out = String::new();
        move_rows(self.cursor_row(), 0, &mut out);
        out.push_str("\r\x1b[J\x1b[?25h");
        self.drawn = LiveArea::default();
        out
    }

    /// The terminal has another size: removes the live rows as they are now, to be drawn again.
    pub(super) fn resize(&mut self, columns: usize, rows: usize) -> String {
        let (columns, rows) = (columns.max(1), rows.max(1));
        let cursor_row = self.cursor_row();
        let above = match self.reflow {
            ReflowSupport::Cuts => cursor_row,
            ReflowSupport::Reflows => {
                let rows_of = |row: &String| row_width(row).div_ceil(columns).max(1);
                let above: usize = self.drawn.rows.iter().take(cursor_row).map(rows_of).sum();
                above + self.drawn.cursor.map_or(0, |(_, column)| column / columns)
            }
        };
        (self.columns, self.screen_rows) = (columns, rows);
        self.drawn = LiveArea::default();
        let mut out = String::new();
        move_rows(above.min(rows - 1), 0, &mut out);
        out.push_str("\r\x1b[J");
        out
    }

    /// The terminal was used by another program: everything is drawn again below it.
    pub(super) fn forget(&mut self) {
        self.drawn = LiveArea::default();
    }
}

fn move_rows(from: usize, to: usize, out: &mut String) {
    if from > to {
        out.push_str(&format!("\x1b[{}A", from - to));
    } else if to > from {
        out.push_str(&format!("\x1b[{}B", to - from));
    }
}

#[cfg(test)]
#[path = "painter_tests.rs"]
mod painter_tests;
