//! Reports logs that cannot be read to their end.

use std::process::ExitCode;

use super::history::ConversationHistory;
use crate::terminal;

/// Reports where a printed log becomes unreadable. Exit code 0 means that it was read completely.
pub(crate) fn report_damage(history: &ConversationHistory) -> ExitCode {
    match &history.damage {
        None => ExitCode::SUCCESS,
        Some(damage) => {
            terminal::print_note(&format!("windlass: {}: {damage}", history.lane));
            ExitCode::FAILURE
        }
    }
}
