//! Tells the user what a window that is not looked at waits for: the title of the terminal, and a
//! notification when a run has ended or asks something.

use crate::config::config_toml::NotificationKind;
use crate::terminal::{sanitize_line, to_one_line};

/// Maximum characters of a title.
const MAX_TITLE_CHARS: usize = 60;

/// How long a run takes at least whose end is worth a notification.
pub(super) const LONG_RUN_MS: u64 = 10_000;

impl NotificationKind {
    /// Finds out what the terminal understands.
    pub(super) fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Self {
        if self != Self::Auto {
            return self;
        }
        let program = variable("TERM_PROGRAM").unwrap_or_default();
        let term = variable("TERM").unwrap_or_default();
        match (program.as_str(), term.as_str()) {
            // tmux hands the bell on, and nothing else.
            _ if variable("TMUX").is_some() => Self::Bell,
            ("iTerm.app" | "WezTerm" | "ghostty", _) => Self::Osc9,
            (_, "xterm-kitty" | "xterm-ghostty" | "wezterm") => Self::Osc9,
            (_, "foot" | "foot-direct" | "rxvt-unicode" | "rxvt-unicode-256color") => Self::Osc777,
            _ => Self::Bell,
        }
    }

    /// The bytes of a notification.
    pub(super) fn bytes(self, text: &str) -> String {
        let text = to_one_line(&sanitize_line(text), 200).replace(';', ",");
        match self {
            Self::Off | Self::Auto => String::new(),
            Self::Bell => "\u{7}".to_owned(),
            Self::Osc9 => format!("\u{1b}]9;{text}\u{7}"),
            Self::Osc777 => format!("\u{1b}]777;notify;windlass;{text}\u{7}"),
        }
    }
}

/// What the window is doing, for its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowState {
    Idle,
    Working,
    /// It waits for an answer.
    Asking,
}

/// Sets the title of the terminal when it changes.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowTitle {
    shown: Option<String>,
    is_supported: bool,
}

impl WindowTitle {
    /// A title for a terminal with this `TERM`; the console of Linux has none.
    pub(super) fn new(term: &str) -> Self {
        let is_supported =
            !term.starts_with("linux") && !term.starts_with("vt") && !term.is_empty();
        Self { shown: None, is_supported }
    }

    /// The bytes that show the state, if they are not shown yet. The title that the terminal had is
    /// kept for the end.
    pub(super) fn update(&mut self, state: WindowState, about: &str) -> String {
        let mark = match state {
            WindowState::Idle => "",
            WindowState::Working => "✳ ",
            WindowState::Asking => "? ",
        };
        let about = to_one_line(&sanitize_line(about), MAX_TITLE_CHARS);
        let title = format!("{mark}windlass · {about}");
        if !self.is_supported || self.shown.as_ref() == Some(&title) {
            return String::new();
        }
        let keep = if self.shown.is_none() { "\u{1b}[22;0t" } else { "" };
        let bytes = format!("{keep}\u{1b}]0;{title}\u{7}");
        self.shown = Some(title);
        bytes
    }

    /// The bytes that bring back the title that the terminal had.
    pub(super) fn restore(&mut self) -> &'static str {
        if self.shown.take().is_some() { "\u{1b}]0;\u{7}\u{1b}[23;0t" } else { "" }
    }
}

#[cfg(test)]
#[path = "notifications_tests.rs"]
mod notifications_tests;
