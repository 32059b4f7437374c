//! A command's end, told to the model.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use windlass_core::cut;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;

use super::folder::Went;
use crate::limits::FAILED_OUTPUT_CHARS;
use crate::process::{Ended, How, Kept, Swept};

/// The outcome of a command that ran.
pub(super) fn ended(ended: &Ended, went: &Went) -> Outcome {
    let said = said(ended, went);
    match &ended.how {
        How::Exited(status) if status.success() => Outcome::Done(Raw::string(&said)),
        How::Exited(_) => Outcome::Failed(failed("exit_status", ended, &said)),
        How::TimedOut | How::Stopped => Outcome::Failed(failed("timed_out", ended, &said)),
    }
}

/// A command that goes on while the model does.
pub(super) fn started(id: &str, output: &Path) -> String {
    format!(
        "running in the background as {id}; look at it with BashOutput, end it with KillShell; \
         what it prints goes to {}",
        output.display()
    )
}

/// How a command ended, in a few words.
pub(super) fn state(ended: &Ended) -> String {
    let seconds = ended.after_ms / 1_000;
    let tenths = ended.after_ms % 1_000 / 100;
    match &ended.how {
        How::Exited(status) => end_of(*status),
        How::TimedOut => format!("timed out after {seconds}.{tenths} s; effects unknown"),
        How::Stopped => format!("ended after {seconds}.{tenths} s because it was asked to"),
    }
}

/// The command could not even be started.
pub(super) fn not_started(error: &io::Error, workspace: &Path) -> ToolError {
    let workspace = workspace.display();
    ToolError::new(
        "not_started",
        &format!("the command could not be started in {workspace}: {error}"),
        "it had no effect; ask the user to look at the workspace and the machine",
    )
}

/// The model needs the output of a command that failed most of all, and so does one whose time was
/// up.
fn failed(code: &str, ended: &Ended, said: &str) -> ToolError {
    let message = match &ended.how {
        How::Exited(status) if status.code().is_some() => {
            format!("the command ended with {}", state(ended))
        }
        How::Exited(_) => format!("the command was {}", state(ended)),
        How::TimedOut | How::Stopped => format!("the command {}", state(ended)),
    };
    let hint = match &ended.how {
        How::Exited(_) => "read the output, then correct the command or try another way",
        How::TimedOut | How::Stopped => {
            "check what it did before doing it again; give it more time or run it in the background"
        }
    };
    ToolError::new(code, &message, hint).with_output(&cut::text(said, FAILED_OUTPUT_CHARS))
}

fn end_of(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

fn said(ended: &Ended, went: &Went) -> String {
    let output = if ended.output.is_empty() { "(no output)" } else { &ended.output };
    let notes = [note(ended.swept), moved(went), kept(ended.kept.as_ref())];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    match output.ends_with('\n') || notes.is_empty() {
        true => format!("{output}{}", notes.join("\n")),
        false => format!("{output}\n{}", notes.join("\n")),
    }
}

/// Where the next command begins, if that is news.
fn moved(went: &Went) -> Option<String> {
    match went {
        Went::Nowhere => None,
        Went::To(folder) => Some(format!("[commands now begin in {}]", folder.display())),
        Went::Away(folder) => Some(format!(
            "[commands begin in the workspace again: {} is outside it]",
            folder.display()
        )),
    }
}

/// Where the rest of the output is.
fn kept(kept: Option<&Kept>) -> Option<String> {
    let Kept { path, printed, bytes } = kept?;
    let path = path.display();
    Some(match bytes == printed {
        true => format!("[all {printed} bytes of output are in {path}: page through it with Read]"),
        false => format!(
            "[the first {bytes} of {printed} bytes of output are in {path}: page through it with \
             Read]"
        ),
    })
}

/// What a command left behind is ended with it: one that meant to start a server must know.
fn note(swept: Swept) -> Option<String> {
    match swept {
        Swept { found: 0, .. } => None,
        Swept { found, leaked: 0 } => {
            Some(format!("[still running and ended with the command: {found} of its processes]"))
        }
        Swept { found, leaked } => Some(format!(
            "[still running and ended with the command: {found} of its processes; \
             {leaked} would not go]"
        )),
    }
}
