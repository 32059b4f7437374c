//! A command's end, told to the model.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use windlass_core::cut;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;

use crate::limits::FAILED_OUTPUT_CHARS;
use crate::process::{Ended, How, Swept};

/// The outcome of a command that ran.
pub(super) fn ended(ended: &Ended) -> Outcome {
    match &ended.how {
        How::TimedOut => Outcome::TimedOut { after_ms: ended.after_ms },
        How::Exited(status) if status.success() => Outcome::Done(Raw::string(&said(ended))),
        How::Exited(status) => Outcome::Failed(failed(*status, ended)),
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

/// The model needs the output of a command that failed most of all.
fn failed(status: ExitStatus, ended: &Ended) -> ToolError {
    let message = format!("{}\n{}", end_of(status), said(ended));
    ToolError::new(
        "exit_status",
        &cut::text(&message, FAILED_OUTPUT_CHARS),
        "read the output, then correct the command or try another way",
    )
}

fn end_of(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

fn said(ended: &Ended) -> String {
    let output = if ended.output.is_empty() { "(no output)" } else { &ended.output };
    let note = note(ended.swept);
    match output.ends_with('\n') || note.is_empty() {
        true => format!("{output}{note}"),
        false => format!("{output}\n{note}"),
    }
}

/// What a command left behind is ended with it: one that meant to start a server must know.
fn note(swept: Swept) -> String {
    match swept {
        Swept { found: 0, .. } => String::new(),
        Swept { found, leaked: 0 } => {
            format!("[still running and ended with the command: {found} of its processes]")
        }
        Swept { found, leaked } => format!(
            "[still running and ended with the command: {found} of its processes; \
             {leaked} would not go]"
        ),
    }
}
