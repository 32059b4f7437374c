//! Completion in the composer: `/` commands at the beginning, `@` mentions in any word. Pure; the
//! names are given.

use super::rows::{accent, paint, row_width};
use crate::terminal::{Color, escape_invisible, fit_columns};

/// Maximum candidates on the screen.
const MAX_SHOWN: usize = 6;

/// What could be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) text: String,
    pub(super) about: String,
}

/// What is being completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompletionKind {
    Command,
    /// A path, a resource of an MCP server, or a sub-agent.
    Mention,
}

/// The candidates for what is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) kind: CompletionKind,
    /// Where the completed text begins.
    pub(super) from: usize,
    pub(super) typed: String,
    pub(super) candidates: Vec<Candidate>,
    pub(super) selected: usize,
}

/// The part of the text before the cursor that can be completed.
pub(super) fn completed_part(before: &str) -> Option<(CompletionKind, usize, &str)> {
    if before.starts_with('/') && !before.contains(char::is_whitespace) {
        return Some((CompletionKind::Command, 0, before));
    }
    let from = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = before.get(from..)?;
    word.starts_with('@').then_some((CompletionKind::Mention, from, word))
}

impl Completion {
    pub(super) fn select_next(&mut self) {
        self.selected = (self.selected + 1).min(self.candidates.len().saturating_sub(1));
    }

    pub(super) fn select_previous(&mut self) {
        self.selected = self.selected.saturating_sub(1);
    }

    pub(super) fn chosen(&self) -> Option<&Candidate> {
        self.candidates.get(self.selected)
    }

    /// Whether the text is complete as it was typed.
    pub(super) fn is_complete(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.text == self.typed)
    }

    pub(super) fn rows(&self, columns: usize) -> Vec<String> {
        let first = self.selected.saturating_sub(MAX_SHOWN - 1);
        let shown = self.candidates.iter().enumerate().skip(first).take(MAX_SHOWN);
        let wide = self.candidates.iter().map(|candidate| row_width(&candidate.text)).max();
        let wide = wide.unwrap_or(0).min(columns / 2);
        let row = |(at, candidate): (usize, &Candidate)| {
            let name = fit_columns(&escape_invisible(&candidate.text), columns / 2);
            let gap = " ".repeat(wide.saturating_sub(row_width(&name)) + 2);
            let room = columns.saturating_sub(wide + 6);
            let about = paint(Color::Dim, &fit_columns(&escape_invisible(&candidate.about), room));
            match at == self.selected {
                true => format!("  {}{gap}{about}", accent(&name)),
                false => format!("  {name}{gap}{about}"),
            }
        };
        shown.map(row).collect()
    }
}

#[cfg(test)]
#[path = "completion_tests.rs"]
mod completion_tests;
