//! What Ctrl-O unfolds: outputs of calls and thoughts, of which the scrollback has one line each.
//! Pure.

use std::collections::VecDeque;

use crate::terminal::number_format::count_noun;
use crate::terminal::{sanitize_text, to_one_line};

/// Maximum items that are kept.
const MAX_ITEMS: usize = 100;

/// Maximum lines and characters of one item.
const MAX_LINES: usize = 200;
const MAX_CHARS: usize = 64 << 10;

/// Maximum characters of a title.
const MAX_TITLE_CHARS: usize = 100;

/// Something that was folded.
#[derive(Debug, Clone)]
struct FoldedItem {
    title: String,
    text: String,
    /// Lines that were not kept.
    left_out: usize,
}

/// Outputs and thoughts, the newest first.
#[derive(Debug, Clone, Default)]
pub(super) struct FoldedItems {
    items: VecDeque<FoldedItem>,
    /// How many were unfolded since the last one came.
    unfolded: usize,
}

impl FoldedItems {
    pub(super) fn add(&mut self, title: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let kept: Vec<&str> = text.lines().take(MAX_LINES).collect();
        let left_out = text.lines().count() - kept.len();
        let text: String = kept.join("\n").chars().take(MAX_CHARS).collect();
        let title = to_one_line(title, MAX_TITLE_CHARS);
        self.items.push_front(FoldedItem { title, text, left_out });
        self.items.truncate(MAX_ITEMS);
        self.unfolded = 0;
    }

    /// The lines of the newest item; with the next call those of the one before. Empty when there is
    /// none left; then it begins again.
    pub(super) fn unfold_next(&mut self) -> Vec<String> {
        let Some(item) = self.items.get(self.unfolded) else {
            self.unfolded = 0;
            return Vec::new();
        };
        self.unfolded += 1;
        let back = match self.unfolded {
            1 => String::new(),
            nth => format!(" ({nth} of {})", self.items.len()),
        };
        let mut lines = vec![format!("── {}{back} ", sanitize_text(&item.title))];
        let text = sanitize_text(&item.text);
        lines.extend(text.lines().map(|line| format!("   {line}")));
        if item.left_out > 0 {
            lines.push(format!("   … {}", count_noun(item.left_out as u64, "more line")));
        }
        lines
    }
}

#[cfg(test)]
#[path = "folded_items_tests.rs"]
mod folded_items_tests;
