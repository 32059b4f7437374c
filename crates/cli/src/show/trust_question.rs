//! Asks at a terminal whether a folder is trusted, and shows all that trust would enable.

use std::io::{self, BufRead, Write};

use rustix::termios::{QueueSelector, tcflush};

use super::prompter::{PromptLine, page};
use super::terminal::{Colours, Style, harmless};
use crate::settle::trust::FolderTrust;
use crate::settle::trust_file::Decision;
use crate::words;

/// What the user decides; `None` if nobody answers.
pub(crate) fn ask_trust(at: &FolderTrust) -> io::Result<Option<Decision>> {
    let mut out = io::stderr();
    let colours = Colours::of_stderr();
    let title = harmless(&words::trust_title(at));
    writeln!(out, "{}", colours.paint(Style::Bold, &title))?;
    if page(&words::trust_lines(&at.grants), &PromptLine::default()).is_err() {
        return Ok(None);
    }
    // What was typed before the question was shown does not answer it. Failing means that standard
    // input is no terminal, and then nothing was typed.
    tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
    loop {
        write!(out, "{} ", words::TRUST_CHOICES)?;
        out.flush()?;
        let mut typed = String::new();
        if io::stdin().lock().read_line(&mut typed)? == 0 {
            return Ok(None);
        }
        match typed.trim() {
            "y" | "yes" => return Ok(Some(Decision::Trusted)),
            "n" | "no" => return Ok(Some(Decision::Declined)),
            _ => {}
        }
    }
}
