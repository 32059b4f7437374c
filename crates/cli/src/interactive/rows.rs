//! Rows of the screen: texts with color codes, whose width is what a terminal shows.

use unicode_width::UnicodeWidthChar;

use crate::terminal::Color;

/// Paints a text; the painter removes colors where they are unwanted.
pub(super) fn paint(color: Color, text: &str) -> String {
    crate::terminal::ColorSupport::Enabled.paint(color, text)
}

/// Paints a text in the accent color.
pub(super) fn accent(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\x1b[36m{text}\x1b[0m") }
}

/// A piece of a row: a color code, or a character with its columns.
enum Piece<'r> {
    Code(&'r str),
    Char(char, usize),
}

fn pieces(row: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = row;
    std::iter::from_fn(move || {
        let c = rest.chars().next()?;
        if c == '\u{1b}' {
            let end = rest.find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |at| at + 1);
            let (code, after) = rest.split_at_checked(end)?;
            rest = after;
            return Some(Piece::Code(code));
        }
        rest = rest.get(c.len_utf8()..)?;
        let columns = if c == '\t' { 4 } else { c.width().unwrap_or(0) };
        Some(Piece::Char(c, columns))
    })
}

/// The columns that a row takes.
pub(super) fn row_width(row: &str) -> usize {
    pieces(row)
        .map(|piece| match piece {
            Piece::Code(_) => 0,
            Piece::Char(_, columns) => columns,
        })
        .sum()
}

/// The row without color codes.
pub(super) fn without_colors(row: &str) -> String {
    pieces(row)
        .filter_map(|piece| match piece {
            Piece::Code(_) => None,
            Piece::Char(c, _) => Some(c),
        })
        .collect()
}

/// The beginning of a row that fits, with a mark if there is more. No color lasts beyond it.
pub(super) fn fit_row(row: &str, columns: usize) -> String {
    if row_width(row) <= columns {
        return row.to_owned();
    }
    let (mut out, mut used, mut colored) = (String::new(), 0, false);
    for piece in pieces(row) {
        match piece {
            Piece::Code(code) => {
                colored = !code.ends_with("[0m");
                out.push_str(code);
            }
            Piece::Char(c, wide) if used + wide < columns => {
                used += wide;
                out.push(c);
            }
            Piece::Char(..) => break,
        }
    }
    if columns > 0 {
        out.push('…');
    }
    if colored {
        out.push_str("\x1b[0m");
    }
    out
}

/// Splits a plain line into rows of at most this many columns, as a terminal would.
pub(super) fn split_columns(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for c in line.chars() {
        let wide = if c == '\t' { 4 } else { c.width().unwrap_or(0) };
        if used + wide > columns {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        match c {
            '\t' => row.push_str("    "),
            c => row.push(c),
        }
        used += wide;
    }
    rows.push(row);
    rows
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod rows_tests;
