//! Tables: columns as wide as their content if the terminal is wide enough, narrower and wrapped if
//! not, and one line per cell if it is too narrow for columns.

use super::inline_marks::InlineParser;
use super::line_wrap::{style_text, text_columns, wrap_text};
use super::text_style::{StyledChar, TextStyle, paint};

/// Maximum rows of one drawn table; further rows are drawn as another table.
pub(super) const MAX_ROWS: usize = 500;

/// Minimum width of a column.
const MIN_COLUMN: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellAlign {
    Left,
    Center,
    Right,
}

/// Draws the lines of a table; lines that are not a table are kept as written.
pub(super) fn draw_table(lines: &[String], width: usize) -> String {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| split_cells(line)).collect();
    let is_table = rows.get(1).is_some_and(|row| row.iter().all(|cell| is_separator(cell)));
    let (Some(head), true) = (rows.first(), is_table) else {
        return lines.iter().map(|line| format!("{line}\n")).collect();
    };
    let aligns: Vec<CellAlign> =
        rows.get(1).into_iter().flatten().map(|cell| parse_align(cell)).collect();
    let read = |row: &Vec<String>, base: TextStyle| -> Vec<Vec<StyledChar>> {
        let cell = |text: &String| InlineParser::parse(&text.chars().collect::<Vec<_>>(), base);
        row.iter().take(head.len()).map(cell).collect()
    };
    let head = read(head, TextStyle::default().with_bold());
    let body: Vec<Vec<Vec<StyledChar>>> =
        rows.iter().skip(2).map(|row| read(row, TextStyle::default())).collect();
    match column_widths(&head, &body, width) {
        Some(widths) => draw_columns(&head, &body, &widths, &aligns),
        None => draw_as_list(&head, &body, width),
    }
}

/// The cells of a line; `\|` is text.
fn split_cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in line.chars() {
        match (c, escaped, cells.last_mut()) {
            ('|', true, Some(cell)) => {
                cell.pop();
                cell.push('|');
            }
            ('|', false, _) => cells.push(String::new()),
            (c, _, Some(cell)) => cell.push(c),
            (_, _, None) => {}
        }
        escaped = c == '\\' && !escaped;
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn is_separator(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':'))
}

fn parse_align(cell: &str) -> CellAlign {
    match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => CellAlign::Center,
        (false, true) => CellAlign::Right,
        (_, false) => CellAlign::Left,
    }
}

/// The widths of the columns, if they fit.
fn column_widths(
    head: &[Vec<StyledChar>],
    body: &[Vec<Vec<StyledChar>>],
    width: usize,
) -> Option<Vec<usize>> {
    let mut widths: Vec<usize> = head.iter().map(|cell| text_columns(cell).max(1)).collect();
    for row in body {
        for (column_width, cell) in widths.iter_mut().zip(row) {
            *column_width = (*column_width).max(text_columns(cell));
        }
    }
    let between = 3 * widths.len().saturating_sub(1);
    let available = width.checked_sub(between)?;
    loop {
        let taken: usize = widths.iter().sum();
        let over = taken.checked_sub(available).filter(|over| *over > 0);
        let Some(over) = over else { return Some(widths) };
        let widest = widths.iter_mut().max()?;
        if *widest <= MIN_COLUMN {
            return None;
        }
        *widest = widest.saturating_sub(over.min(widest.div_ceil(4))).max(MIN_COLUMN);
    }
}

fn draw_columns(
    head: &[Vec<StyledChar>],
    body: &[Vec<Vec<StyledChar>>],
    widths: &[usize],
    aligns: &[CellAlign],
) -> String {
    let mut out = draw_row(head, widths, aligns);
    let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    out.push_str(&paint(&style_text(&rules.join("─┼─"), TextStyle::default().with_dim())));
    out.push('\n');
    for cells in body {
        out.push_str(&draw_row(cells, widths, aligns));
    }
    out
}

fn draw_row(cells: &[Vec<StyledChar>], widths: &[usize], aligns: &[CellAlign]) -> String {
    let none = Vec::new();
    let cell = |at: usize| cells.get(at).unwrap_or(&none);
    let columns: Vec<Vec<Vec<StyledChar>>> =
        widths.iter().enumerate().map(|(at, width)| wrap_text(cell(at), *width)).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let bar = paint(&style_text("│", TextStyle::default().with_dim()));
    let mut out = String::new();
    for line in 0..height {
        let piece = |(at, width): (usize, &usize)| {
            let text = columns.get(at).and_then(|column| column.get(line)).unwrap_or(&none);
            let blanks = width.saturating_sub(text_columns(text));
            let before = match aligns.get(at).unwrap_or(&CellAlign::Left) {
                CellAlign::Left => 0,
                CellAlign::Center => blanks / 2,
                CellAlign::Right => blanks,
            };
            let after = blanks.saturating_sub(before);
            format!("{:before$}{}{:after$}", "", paint(text), "")
        };
        let pieces: Vec<String> = widths.iter().enumerate().map(piece).collect();
        out.push_str(pieces.join(&format!(" {bar} ")).trim_end());
        out.push('\n');
    }
    out
}

/// Draws one line per cell, for a terminal that is too narrow for columns.
fn draw_as_list(head: &[Vec<StyledChar>], body: &[Vec<Vec<StyledChar>>], width: usize) -> String {
    let mut out = String::new();
    for cells in body {
        for (name, cell) in head.iter().zip(cells) {
            let mut line = name.clone();
            line.extend(style_text(": ", TextStyle::default()));
            line.extend(cell.iter().copied());
            for line in wrap_text(&line, width.max(1)) {
                out.push_str(&paint(&line));
                out.push('\n');
            }
        }
        out.push('\n');
    }
    out
}
