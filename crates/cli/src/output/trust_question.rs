//! Asks at a terminal whether to trust a folder, and shows all that trust would enable.

use std::io::{self, BufRead, Write};

use rustix::termios::{QueueSelector, tcflush};

use super::question_prompt::{PromptLine, print_paged};
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::trust::trust_file::TrustDecision;
use crate::messages;
use crate::terminal::{Color, ColorSupport, sanitize_text};

/// Asks whether to trust the folder; `None` at the end of input.
pub(crate) fn ask_trust(at: &FolderTrust) -> io::Result<Option<TrustDecision>> {
    let mut out = io::stderr();
    let colours = ColorSupport::of_stderr();
    let title = sanitize_text(&messages::trust_question(at));
    writeln!(out, "{}", colours.paint(Color::Bold, &title))?;
    if print_paged(&messages::grant_lines(&at.grants), &PromptLine::default()).is_err() {
        return Ok(None);
    }
    // Input typed before the question was shown does not answer it. A failure means that standard
    // input is not a terminal, and then nothing was typed.
    tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
    loop {
        write!(out, "{} ", messages::TRUST_CHOICES)?;
        out.flush()?;
        let mut typed = String::new();
        if io::stdin().lock().read_line(&mut typed)? == 0 {
            return Ok(None);
        }
        match typed.trim() {
            "y" | "yes" => return Ok(Some(TrustDecision::Trusted)),
            "n" | "no" => return Ok(Some(TrustDecision::Declined)),
            "?" => writeln!(out, "{}", messages::TRUST_CHOICES_HELP)?,
            _ => writeln!(out, "Please answer y or n; ? explains them.")?,
        }
    }
}
