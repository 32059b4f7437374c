//! The rows of a question: what is asked, its details as far as the screen has room, the choices.

use super::question_panel::{Choice, QuestionPanel};
use super::rows::{accent, paint, row_width, split_columns};
use crate::terminal::{Color, escape_invisible, sanitize_text};

/// Rows of the details that are shown at least.
const MIN_DETAIL_ROWS: usize = 3;

/// The rows of a panel, and the cursor if a text is edited.
pub(super) struct PanelRows {
    pub(super) rows: Vec<String>,
    pub(super) cursor: Option<(usize, usize)>,
}

impl QuestionPanel {
    /// The rows, at most `height` of them if the details can be scrolled.
    pub(super) fn rows(&self, columns: usize, height: usize, waiting: usize) -> PanelRows {
        let mut rows = vec![accent(&"─".repeat(columns))];
        let more = match waiting {
            0 => String::new(),
            more => paint(Color::Dim, &format!("  (1 of {})", more + 1)),
        };
        let title: Vec<String> = split_columns(&sanitize_text(&self.title), columns);
        rows.extend(title.iter().map(|row| paint(Color::Bold, row)));
        if let Some(last) = rows.last_mut() {
            last.push_str(&more);
        }
        let (choices, cursor) = self.choice_rows(columns);
        let room = height.saturating_sub(rows.len() + choices.len() + 3).max(MIN_DETAIL_ROWS);
        rows.extend(self.detail_rows(columns, room));
        rows.push(String::new());
        let at = rows.len();
        rows.extend(choices);
        if let Some(error) = &self.error {
            rows.push(paint(Color::Red, &format!("  {}", escape_invisible(error))));
        }
        PanelRows { rows, cursor: cursor.map(|(row, column)| (at + row, column)) }
    }

    fn detail_rows(&self, columns: usize, room: usize) -> Vec<String> {
        let sandbox = self.sandbox.iter().filter(|_| self.shows_sandbox);
        let lines = self.details.iter().chain(sandbox).flat_map(|line| line.split('\n'));
        let rows: Vec<String> =
            lines.flat_map(|line| split_columns(&sanitize_text(line), columns)).collect();
        if rows.len() <= room {
            return rows.iter().map(|row| paint_detail(row)).collect();
        }
        let shown = room.saturating_sub(1).max(1);
        let first = self.scroll.min(rows.len() - shown);
        let mut out: Vec<String> =
            rows.iter().skip(first).take(shown).map(|row| paint_detail(row)).collect();
        let last = first + shown;
        let place = format!("  lines {} to {last} of {} · PgUp PgDn", first + 1, rows.len());
        out.push(paint(Color::Yellow, &place));
        out
    }

    fn choice_rows(&self, columns: usize) -> (Vec<String>, Option<(usize, usize)>) {
        let mut rows = Vec::new();
        let mut cursor = None;
        for (at, choice) in self.choices.iter().enumerate() {
            let is_selected = at == self.selected;
            let head = choice_head(choice, is_selected);
            let Some(field) = &choice.field else {
                rows.push(head);
                rows.extend(self.description_row(at));
                continue;
            };
            let width = columns.saturating_sub(row_width(&head) + 2).max(8);
            let text = escape_invisible(field.text());
            let lines: Vec<String> =
                text.split('\n').flat_map(|line| split_columns(line, width)).collect();
            let indent = " ".repeat(row_width(&head) + 1);
            if is_selected && self.is_editing {
                let before = escape_invisible(field.before());
                let before: Vec<String> =
                    before.split('\n').flat_map(|line| split_columns(line, width)).collect();
                let column = before.last().map_or(0, |row| row_width(row));
                let row = rows.len() + before.len().saturating_sub(1);
                cursor = Some((row, row_width(&indent) + column));
            }
            for (at, line) in lines.iter().enumerate() {
                let before = if at == 0 { format!("{head} ") } else { indent.clone() };
                rows.push(format!("{before}{}", accent(line)));
            }
        }
        (rows, cursor)
    }

    /// What an option of a form means.
    fn description_row(&self, at: usize) -> Option<String> {
        let option = self.form.get(self.form_answers.len())?.options.get(at)?;
        let about = option.description.as_deref()?.trim();
        (!about.is_empty()).then(|| {
            paint(Color::Dim, &format!("      {}", escape_invisible(about).replace('\n', " ")))
        })
    }

    /// The keys, for the last row.
    pub(super) fn keys(&self) -> String {
        let has_field = self
            .choices
            .get(self.selected)
            .is_some_and(|choice| choice.field.is_some() && !choice.is_typed);
        let edit = match (has_field, self.is_editing) {
            (true, false) => " · Tab edits",
            (true, true) => " · Tab ends editing",
            (false, _) => "",
        };
        let mark = if self.choices.iter().any(|choice| choice.is_marked) || self.marks() {
            " · Space marks"
        } else {
            ""
        };
        let sandbox = match (self.sandbox.is_empty() || self.is_editing, self.shows_sandbox) {
            (true, _) => "",
            (false, false) => " · s shows the sandbox",
            (false, true) => " · s hides the sandbox",
        };
        format!("  Enter answers · ↑↓ or a letter selects{mark}{edit}{sandbox} · Esc stops the run")
    }

    fn marks(&self) -> bool {
        let asked = self.form.get(self.form_answers.len());
        asked.is_some_and(|asked| asked.multi_select == Some(true))
    }
}

fn choice_head(choice: &Choice, is_selected: bool) -> String {
    let mark = if choice.is_marked { "☒ " } else { "" };
    let text = format!("[{}] {mark}{}", choice.key, escape_invisible(&choice.label));
    match is_selected {
        true => format!("{} {}", accent("❯"), paint(Color::Bold, &text)),
        false => format!("  {text}"),
    }
}

/// Removed lines of a diff are red, added lines green.
fn paint_detail(row: &str) -> String {
    let sign = row.get(9..10).filter(|_| {
        let number = row.get(4..8).unwrap_or_default().trim_start();
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    });
    match sign {
        Some("-") => paint(Color::Red, row),
        Some("+") => paint(Color::Green, row),
        _ => row.to_owned(),
    }
}
