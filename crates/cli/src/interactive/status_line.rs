//! The status line: model, mode, folder and branch, context and cost. What does not fit is left
//! out, the least important first.

use windlass::core::run::conversation::Conversation;

use super::rows::{accent, paint, row_width};
use crate::terminal::Color;

/// What the status line shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StatusInfo {
    pub(super) model: String,
    /// The name of the permission mode.
    pub(super) mode: String,
    pub(super) folder: String,
    pub(super) branch: Option<String>,
    /// How full the context is.
    pub(super) context_percent: Option<u64>,
    pub(super) usd_micros: u64,
    pub(super) tokens: u64,
    /// The level of the sandbox, if there is one.
    pub(super) sandbox: Option<String>,
    /// How many commands run in the background.
    pub(super) background_commands: usize,
    /// How many sub-agents work in the background.
    pub(super) background_agents: usize,
    /// The line that a command of the user has made.
    pub(super) custom: Option<String>,
}

/// A part of the line, and how important it is: a smaller number is left out later.
struct StatusPart {
    text: String,
    rank: u8,
}

impl StatusInfo {
    /// Takes over how much a conversation has used.
    pub(super) fn fill_usage(&mut self, now: &Conversation) {
        let window = now.settings.as_ref().map_or(0, |settings| settings.model.window_tokens);
        let tokens = now.meter.estimate(now.request_bytes());
        let percent = tokens.saturating_mul(100).checked_div(window);
        self.context_percent = percent.map(|percent| percent.min(100));
        self.usd_micros = now.spent.usd_micros;
        self.tokens = now.spent.tokens;
    }

    /// The line, at most this wide.
    pub(super) fn row(&self, columns: usize) -> String {
        if let Some(custom) = &self.custom {
            return format!("  {custom}");
        }
        let mut parts = self.parts();
        loop {
            let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
            let row = format!("  {}", texts.join(&paint(Color::Dim, " · ")));
            if row_width(&row) <= columns || parts.len() <= 1 {
                return row;
            }
            let last = parts.iter().map(|part| part.rank).max();
            parts.retain(|part| Some(part.rank) != last);
        }
    }

    fn parts(&self) -> Vec<StatusPart> {
        let dim = |text: &str| paint(Color::Dim, text);
        let mode = match self.mode.as_str() {
            "default" => dim("asks first"),
            "acceptEdits" => paint(Color::Green, "edits allowed"),
            "plan" => accent("plan mode"),
            "bypassPermissions" => paint(Color::Red, "everything allowed"),
            other => paint(Color::Yellow, other),
        };
        let folder = match &self.branch {
            Some(branch) => format!("{} ({branch})", self.folder),
            None => self.folder.clone(),
        };
        let mut parts = vec![
            StatusPart { text: mode, rank: 0 },
            StatusPart { text: dim(&self.model), rank: 1 },
            StatusPart { text: dim(&folder), rank: 4 },
        ];
        if let Some(percent) = self.context_percent {
            let text = format!("{percent}% context");
            let text = if percent >= 80 { paint(Color::Yellow, &text) } else { dim(&text) };
            parts.push(StatusPart { text, rank: 2 });
        }
        if self.background_commands > 0 {
            let text = format!("{} in background", self.background_commands);
            parts.push(StatusPart { text: accent(&text), rank: 2 });
        }
        if let Some(sandbox) = &self.sandbox {
            parts.push(StatusPart { text: dim(&format!("sandbox {sandbox}")), rank: 5 });
        }
        match self.background_agents {
            0 => {}
            1 => parts.push(StatusPart { text: accent("1 sub-agent works"), rank: 1 }),
            many => {
                parts
                    .push(StatusPart { text: accent(&format!("{many} sub-agents work")), rank: 1 });
            }
        }
        if let Some(cost) = self.cost() {
            parts.push(StatusPart { text: dim(&cost), rank: 3 });
        }
        parts
    }

    fn cost(&self) -> Option<String> {
        match (self.usd_micros, self.tokens) {
            (0, 0) => None,
            (0, tokens) => Some(short_tokens(tokens)),
            (micros, _) => Some(short_dollars(micros)),
        }
    }
}

/// Tokens in at most five characters and a word: `950 tokens`, `12.4k tokens`.
pub(super) fn short_tokens(tokens: u64) -> String {
    match tokens {
        0..1_000 => format!("{tokens} tokens"),
        1_000..1_000_000 => format!("{}.{}k tokens", tokens / 1_000, tokens % 1_000 / 100),
        _ => format!("{}.{}M tokens", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

fn short_dollars(micros: u64) -> String {
    match micros {
        0..10_000 => "<$0.01".to_owned(),
        _ => format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

/// A duration: `8 s`, `2 min 5 s`, `1 h 2 min`.
pub(super) fn short_duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
#[path = "status_line_tests.rs"]
mod status_line_tests;
