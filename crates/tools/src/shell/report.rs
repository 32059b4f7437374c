//! The text of a command's result for the model.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::truncate;
use windlass_core::permission::AddedAccess;

use super::background_commands::BackgroundCommand;
use super::sandbox_notes;
use super::working_folder::FolderMove;
use crate::limits::MAX_FAILED_OUTPUT_CHARS;
use crate::process::{CleanupResult, CommandEnd, CommandExit, OutputFile};

/// Returns the outcome of a command that ran.
pub(super) fn command_outcome(
    ended: &CommandEnd,
    went: &FolderMove,
    blocked: AddedAccess,
) -> ToolOutcome {
    let text = result_text(ended, went);
    match &ended.exit {
        CommandExit::Exited(status) if status.success() => {
            ToolOutcome::Done(RawJson::string(&text))
        }
        CommandExit::Exited(_) => {
            let error = failure_error("exit_status", ended, &text);
            ToolOutcome::Failed(error.with_blocked(blocked))
        }
        CommandExit::TimedOut | CommandExit::Stopped => {
            ToolOutcome::Failed(failure_error("timed_out", ended, &text))
        }
    }
}

/// The beginning of the text for a command that was started in the background; its id follows.
const STARTED: &str = "running in the background as ";

/// The beginning of the text for a command that its user moved to the background.
const MOVED: &str = "the user moved the command to the background; it is ";

/// Returns the id of the background command that a result of `Bash` tells of.
#[must_use]
pub fn background_command_id(result: &str) -> Option<&str> {
    let text = result.strip_prefix(MOVED).unwrap_or(result);
    let (id, _) = text.strip_prefix(STARTED)?.split_once(';')?;
    Some(id)
}

/// Returns the text for a command that was started in the background.
pub(super) fn background_started_text(id: &str, output: &Path) -> String {
    format!(
        "{STARTED}{id}; read its output with TaskOutput, end it with TaskStop; \
         its output is in {}",
        output.display()
    )
}

/// Returns the text for a command that its user moved to the background.
pub(super) fn moved_to_background_text(id: &str, output: &Path) -> String {
    format!("{MOVED}{}", background_started_text(id, output))
}

/// Describes how a command ended, in a few words.
pub(super) fn describe_end(ended: &CommandEnd) -> String {
    let seconds = ended.after_ms / 1_000;
    let tenths = ended.after_ms % 1_000 / 100;
    match &ended.exit {
        CommandExit::Exited(status) => describe_exit(*status),
        CommandExit::TimedOut => format!("timed out after {seconds}.{tenths} s; effects unknown"),
        CommandExit::Stopped => format!("stopped after {seconds}.{tenths} s"),
    }
}

/// Describes the state of a background command.
pub(super) fn describe_state(shell: &BackgroundCommand) -> String {
    shell.inspect_end(|ended| match ended {
        None => "running".to_owned(),
        Some(Ok(ended)) => describe_end(ended),
        Some(Err(error)) => format!("could not be started: {error}"),
    })
}

/// Returns the error for a command that could not be started.
pub(super) fn not_started_error(error: &io::Error, workspace: &Path) -> ToolError {
    let workspace = workspace.display();
    ToolError::new(
        "not_started",
        &format!("the command could not be started in {workspace}: {error}"),
        "it had no effect; ask the user to check the workspace and the machine",
    )
}

/// Returns the error for a command that failed or timed out, with its output, which the model needs
/// most in this case.
fn failure_error(code: &str, ended: &CommandEnd, text: &str) -> ToolError {
    let message = match &ended.exit {
        CommandExit::Exited(status) if status.code().is_some() => {
            format!("the command ended with {}", describe_end(ended))
        }
        CommandExit::Exited(_) => format!("the command was {}", describe_end(ended)),
        CommandExit::TimedOut | CommandExit::Stopped => {
            format!("the command {}", describe_end(ended))
        }
    };
    let hint = match &ended.exit {
        CommandExit::Exited(_) => "read the output, then correct the command or try another way",
        CommandExit::TimedOut | CommandExit::Stopped => {
            "check what it did before you run it again; give it more time or run it in the background"
        }
    };
    ToolError::new(code, &message, hint)
        .with_output(&truncate::truncate_text(text, MAX_FAILED_OUTPUT_CHARS))
}

fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended for an unknown reason".to_owned(),
    }
}

fn result_text(ended: &CommandEnd, went: &FolderMove) -> String {
    let output = if ended.output.is_empty() { "(no output)" } else { &ended.output };
    let notes = [
        cleanup_note(ended.cleanup),
        sandbox_notes::blocked_hosts_note(&ended.blocked_hosts),
        sandbox_notes::unwritable_path_note(ended),
        folder_note(went),
        output_file_note(ended.output_file.as_ref()),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    match output.ends_with('\n') || notes.is_empty() {
        true => format!("{output}{}", notes.join("\n")),
        false => format!("{output}\n{}", notes.join("\n")),
    }
}

/// Returns a note about where the next command begins, if that has changed.
fn folder_note(went: &FolderMove) -> Option<String> {
    match went {
        FolderMove::Unchanged => None,
        FolderMove::MovedTo(folder) => {
            Some(format!("[working folder is now {}]", folder.display()))
        }
        FolderMove::LeftWorkspace(folder) => Some(format!(
            "[working folder reset to the workspace: {} is outside it]",
            folder.display()
        )),
    }
}

/// Returns a note about the file with the rest of the output.
fn output_file_note(kept: Option<&OutputFile>) -> Option<String> {
    let OutputFile { path, printed_bytes, kept_bytes } = kept?;
    let path = path.display();
    Some(match kept_bytes == printed_bytes {
        true => format!("[full output ({printed_bytes} bytes): {path}; read it with Read]"),
        false => format!(
            "[first {kept_bytes} of {printed_bytes} bytes of output: {path}; read it with Read]"
        ),
    })
}

/// Returns a note about processes that were ended with the command: the model must know if it meant
/// to start a server.
fn cleanup_note(cleanup: CleanupResult) -> Option<String> {
    match cleanup {
        CleanupResult { found: 0, .. } => None,
        CleanupResult { found, leaked: 0 } => {
            Some(format!("[ended processes that the command left running: {found}]"))
        }
        CleanupResult { found, leaked } => Some(format!(
            "[ended processes that the command left running: {found}; {leaked} could not be ended]"
        )),
    }
}
