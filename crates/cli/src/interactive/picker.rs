//! A list to choose from: what is typed filters it, Enter chooses, Esc closes. Pure.

use std::path::PathBuf;

use windlass::core::log::ids::LaneId;
use windlass::core::settings::conversation_settings::Effort;

use super::key_decoder::Key;
use super::rows::{accent, fit_row, paint, row_width};
use super::text_buffer::TextBuffer;
use crate::terminal::{Color, escape_invisible, to_one_line, wrap_words};

/// Maximum items on the screen.
const MAX_SHOWN: usize = 12;

/// Rows below the items: place, keys.
const FOOT_ROWS: usize = 2;

/// What a rewind brings back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RewindScope {
    /// The conversation and the files.
    Both,
    Conversation,
    Files,
}

/// What an item stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PickerChoice {
    Conversation(LaneId),
    Model(String),
    /// An effort; `None` is the provider's default.
    Effort(Option<Effort>),
    /// A prompt to go back to, by its id.
    RewindPrompt {
        id: String,
        text: String,
    },
    /// Go back to a prompt.
    Rewind {
        id: String,
        text: String,
        scope: RewindScope,
    },
    MemoryFile(PathBuf),
    /// A prompt that waits for the run to end.
    QueuedPrompt(String),
}

/// An item of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PickerItem {
    pub(super) label: String,
    /// What is said about it at the end of its row.
    pub(super) about: String,
    pub(super) choice: PickerChoice,
}

/// What a key did to the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PickerKey {
    Used,
    NotMine,
    Closed,
    Chosen(PickerChoice),
    /// The item is to be removed from what it lists.
    Removed(PickerChoice),
}

/// A list with its search.
#[derive(Debug, Clone)]
pub(super) struct Picker {
    title: String,
    items: Vec<PickerItem>,
    query: TextBuffer,
    /// The place of the selected item among those that match.
    selected: usize,
}

impl Picker {
    pub(super) fn new(title: &str, items: Vec<PickerItem>) -> Self {
        let title = title.to_owned();
        Self { title, items, query: TextBuffer::default(), selected: 0 }
    }

    /// Selects the first item that fits.
    pub(super) fn select(mut self, fits: impl Fn(&PickerItem) -> bool) -> Self {
        self.selected = self.items.iter().position(fits).unwrap_or(0);
        self
    }

    /// The items that contain every word of the search.
    fn matching(&self) -> Vec<&PickerItem> {
        let query = self.query.text().to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let fits = |item: &&PickerItem| {
            let text = format!("{} {}", item.label, item.about).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.items.iter().filter(fits).collect()
    }

    pub(super) fn on_key(&mut self, key: &Key) -> PickerKey {
        let count = self.matching().len();
        match key {
            Key::Enter => {
                let chosen = self.matching().get(self.selected).map(|item| item.choice.clone());
                return chosen.map_or(PickerKey::Used, PickerKey::Chosen);
            }
            Key::Delete => {
                let chosen = self.matching().get(self.selected).map(|item| item.choice.clone());
                return chosen.map_or(PickerKey::Used, PickerKey::Removed);
            }
            Key::Escape | Key::Ctrl('c' | 'g') => return PickerKey::Closed,
            Key::Up | Key::Ctrl('p') => self.selected = self.selected.saturating_sub(1),
            Key::Down | Key::Ctrl('n') => self.move_down(1, count),
            Key::PageUp => self.selected = self.selected.saturating_sub(MAX_SHOWN),
            Key::PageDown => self.move_down(MAX_SHOWN, count),
            Key::Home => self.selected = 0,
            Key::End => self.move_down(count, count),
            key => return self.edit(key),
        }
        PickerKey::Used
    }

    fn move_down(&mut self, by: usize, count: usize) {
        self.selected = (self.selected + by).min(count.saturating_sub(1));
    }

    fn edit(&mut self, key: &Key) -> PickerKey {
        match key {
            Key::Char(c) => self.query.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.query.insert(&to_one_line(text, 200)),
            Key::Backspace | Key::Ctrl('h') => self.query.backspace(),
            Key::Ctrl('u') => self.query.kill_to_line_start(),
            Key::Ctrl('w') => self.query.kill_blank_word_before(),
            _ => return PickerKey::NotMine,
        }
        self.selected = 0;
        PickerKey::Used
    }

    /// The rows in at most `height` of them, and the cursor in the search.
    pub(super) fn rows(&self, columns: usize, height: usize) -> (Vec<String>, (usize, usize)) {
        let matching = self.matching();
        let query = escape_invisible(self.query.text());
        let mut rows = vec![accent(&"─".repeat(columns))];
        let title = wrap_words(&self.title, columns, 0);
        rows.extend(title.lines().map(|line| paint(Color::Bold, line)));
        rows.push(format!("  search: {query}"));
        let cursor = (rows.len() - 1, row_width("  search: ") + row_width(&query));
        let shown = height.saturating_sub(rows.len() + FOOT_ROWS).clamp(1, MAX_SHOWN);
        let first = self.selected.saturating_sub(shown - 1);
        for (at, item) in matching.iter().enumerate().skip(first).take(shown) {
            rows.push(item_row(item, at == self.selected, columns));
        }
        if matching.is_empty() {
            rows.push(paint(Color::Yellow, "  nothing matches"));
        }
        if matching.len() > shown {
            let place = format!("  {} of {}", self.selected + 1, matching.len());
            rows.push(paint(Color::Dim, &place));
        }
        let keys = "  Enter chooses · ↑↓ moves · type to search · Esc closes";
        rows.push(paint(Color::Dim, keys));
        (rows, cursor)
    }
}

/// The row of an item: the label, and what is about it at the end if there is room.
fn item_row(item: &PickerItem, is_selected: bool, columns: usize) -> String {
    let about = to_one_line(&escape_invisible(&item.about), columns / 2);
    let gap = if about.is_empty() { 0 } else { 2 };
    let room = columns.saturating_sub(2 + gap + row_width(&about)).max(8);
    let label = fit_row(&to_one_line(&escape_invisible(&item.label), room), room);
    let fill = " ".repeat(room.saturating_sub(row_width(&label)) + gap);
    let about = paint(Color::Dim, &about);
    match is_selected {
        true => format!("{} {}{fill}{about}", accent("❯"), paint(Color::Bold, &label)),
        false => format!("  {label}{fill}{about}"),
    }
}

#[cfg(test)]
#[path = "picker_tests.rs"]
mod picker_tests;
