//! Tables: columns as wide as their content where the terminal has room, narrower and wrapped where
//! it has not, and one line a cell where it has next to none.

use super::inline::Inline;
use super::style::{Styled, TextStyle, painted};
use super::wrap::{styled, width_of, wrapped};

/// Rows of a table that is drawn as one; more are drawn as another.
pub(super) const MOST_ROWS: usize = 500;

/// The narrowest column.
const MIN_COLUMN: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Middle,
    Right,
}

/// The lines of a table as they are drawn; as they are written if it is none.
pub(super) fn drawn(lines: &[String], width: usize) -> String {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let is_table = rows.get(1).is_some_and(|row| row.iter().all(|cell| is_separator(cell)));
    let (Some(head), true) = (rows.first(), is_table) else {
        return lines.iter().map(|line| format!("{line}\n")).collect();
    };
    let aligns: Vec<Align> = rows.get(1).into_iter().flatten().map(|cell| align(cell)).collect();
    let read = |row: &Vec<String>, base: TextStyle| -> Vec<Vec<Styled>> {
        let cell = |text: &String| Inline::parse(&text.chars().collect::<Vec<_>>(), base);
        row.iter().take(head.len()).map(cell).collect()
    };
    let head = read(head, TextStyle::default().strong());
    let body: Vec<Vec<Vec<Styled>>> =
        rows.iter().skip(2).map(|row| read(row, TextStyle::default())).collect();
    match widths(&head, &body, width) {
        Some(widths) => ruled(&head, &body, &widths, &aligns),
        None => listed(&head, &body, width),
    }
}

/// The cells of a line; `\|` is text.
fn cells(line: &str) -> Vec<String> {
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

fn align(cell: &str) -> Align {
    match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Align::Middle,
        (false, true) => Align::Right,
        (_, false) => Align::Left,
    }
}

/// How wide the columns are, if there is room for them.
fn widths(head: &[Vec<Styled>], body: &[Vec<Vec<Styled>>], width: usize) -> Option<Vec<usize>> {
    let mut widths: Vec<usize> = head.iter().map(|cell| width_of(cell).max(1)).collect();
    for row in body {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = (*most).max(width_of(cell));
        }
    }
    let between = 3 * widths.len().saturating_sub(1);
    let room = width.checked_sub(between)?;
    loop {
        let taken: usize = widths.iter().sum();
        let over = taken.checked_sub(room).filter(|over| *over > 0);
        let Some(over) = over else { return Some(widths) };
        let widest = widths.iter_mut().max()?;
        if *widest <= MIN_COLUMN {
            return None;
        }
        *widest = widest.saturating_sub(over.min(widest.div_ceil(4))).max(MIN_COLUMN);
    }
}

fn ruled(
    head: &[Vec<Styled>],
    body: &[Vec<Vec<Styled>>],
    widths: &[usize],
    aligns: &[Align],
) -> String {
    let mut out = row(head, widths, aligns);
    let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    out.push_str(&painted(&styled(&rules.join("─┼─"), TextStyle::default().dimmed())));
    out.push('\n');
    for cells in body {
        out.push_str(&row(cells, widths, aligns));
    }
    out
}

fn row(cells: &[Vec<Styled>], widths: &[usize], aligns: &[Align]) -> String {
    let none = Vec::new();
    let cell = |at: usize| cells.get(at).unwrap_or(&none);
    let columns: Vec<Vec<Vec<Styled>>> =
        widths.iter().enumerate().map(|(at, width)| wrapped(cell(at), *width)).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let bar = painted(&styled("│", TextStyle::default().dimmed()));
    let mut out = String::new();
    for line in 0..height {
        let piece = |(at, width): (usize, &usize)| {
            let text = columns.get(at).and_then(|column| column.get(line)).unwrap_or(&none);
            let blanks = width.saturating_sub(width_of(text));
            let before = match aligns.get(at).unwrap_or(&Align::Left) {
                Align::Left => 0,
                Align::Middle => blanks / 2,
                Align::Right => blanks,
            };
            let after = blanks.saturating_sub(before);
            format!("{:before$}{}{:after$}", "", painted(text), "")
        };
        let pieces: Vec<String> = widths.iter().enumerate().map(piece).collect();
        out.push_str(pieces.join(&format!(" {bar} ")).trim_end());
        out.push('\n');
    }
    out
}

/// One line a cell, for a terminal that is too narrow for columns.
fn listed(head: &[Vec<Styled>], body: &[Vec<Vec<Styled>>], width: usize) -> String {
    let mut out = String::new();
    for cells in body {
        for (name, cell) in head.iter().zip(cells) {
            let mut line = name.clone();
            line.extend(styled(": ", TextStyle::default()));
            line.extend(cell.iter().copied());
            for line in wrapped(&line, width.max(1)) {
                out.push_str(&painted(&line));
                out.push('\n');
            }
        }
        out.push('\n');
    }
    out
}
