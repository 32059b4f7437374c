//! Status lines and warnings: signals, queued prompts, workers, stores, output errors, hints.

use std::path::Path;
use std::time::Duration;

use windlass::StoreStatus;
use windlass::core::log::ids::LaneId;
use windlass::ports::{HookMessage, HookMessageLevel};

use super::call_text::MAX_CALL_CHARS;
use super::{first_line, shell_word};
use crate::output::ModelUnreachable;
use crate::sdk::PROTOCOL_VERSION;
use crate::terminal::time_format::format_duration;
use crate::terminal::to_one_line;

/// Message after the first Ctrl-C.
pub(crate) const CANCELLING: &str =
    "windlass: cancelling at the next safe point; press Ctrl-C again to interrupt running calls";

/// Message after the second Ctrl-C.
pub(crate) const ABORTING: &str = "windlass: interrupting running calls";

/// Message: the prompt is queued behind an active run.
pub(crate) const PROMPT_QUEUED: &str = "windlass: another run is active in this conversation; this prompt is queued and starts when it ends";

/// Message: the prompt is queued behind a run that needs an answer.
pub(crate) const QUEUED_BEHIND_QUESTION: &str =
    "this prompt stays queued: the run before it needs an answer";

/// What happens when a question is not answered in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerDeadline {
    /// The cancelled run ends.
    Cancelled,
    /// The run that has used up its time ends.
    OutOfTime,
    /// The call is denied.
    Denied,
}

/// Message: what happens when a question is not answered in time.
pub(crate) fn answer_deadline(deadline: AnswerDeadline, remaining: Duration) -> String {
    let remaining = format_duration(u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX));
    match deadline {
        AnswerDeadline::Cancelled => format!(
            "windlass: the run was cancelled; it ends when this is answered, at the latest in \
             {remaining}"
        ),
        AnswerDeadline::OutOfTime => format!(
            "windlass: the time of the run is used up; it ends when this is answered, at the latest \
             in {remaining}"
        ),
        AnswerDeadline::Denied => {
            format!("windlass: without an answer, the call is denied in {remaining}")
        }
    }
}

/// Message: the run has ended and a queued prompt starts.
pub(crate) const RUNNING_QUEUED_PROMPT: &str =
    "windlass: another prompt was waiting; running it now";

/// Message of a worker that was told to stop.
pub(crate) const WORKER_STOPPING: &str = "windlass: shutting down, releasing running conversations";

/// Message of a worker that starts.
pub(crate) fn worker_started(store: &Path) -> String {
    let location = redact_password(&store.display().to_string());
    format!("windlass: worker started on {location}; stop with SIGTERM")
}

/// Message of a worker about its store.
pub(crate) fn store_status(news: StoreStatus<'_>) -> String {
    let again = "nothing is lost, retrying until it responds";
    match news {
        StoreStatus::Slow => format!("windlass: the store is not responding; {again}"),
        StoreStatus::Failing(error) => format!("windlass: {error}; {again}"),
        StoreStatus::Recovered => "windlass: the store is responding again".to_owned(),
    }
}

/// The store location without the password of its address.
pub(crate) fn redact_password(location: &str) -> String {
    location.rsplit('@').next().unwrap_or(location).to_owned()
}

/// The mark below discarded text at a terminal.
pub(crate) const TEXT_DISCARDED: &str = "  ✂ the text above was discarded";

/// Message for a typed answer that is not one of the choices.
pub(crate) const NOT_A_CHOICE: &str = "Please choose from the list, or type an answer.";

/// Warning: the state folder is not writable.
pub(crate) fn nothing_remembered(state: &Path) -> String {
    warning(&format!(
        "cannot write the folder {}, so the state of tools (files that were read, the folder of commands) is lost when this process ends; set WINDLASS_HOME to another folder",
        state.display()
    ))
}

/// Note: the file of a store was accessible to others.
pub(crate) fn made_private(path: &Path, before: u32, after: u32) -> String {
    warning(&format!(
        "the store {} was accessible to other users (mode {before:04o}); it is private now (mode {after:04o})",
        path.display()
    ))
}

/// A warning, which stops nothing.
pub(crate) fn warning(what: &str) -> String {
    format!("windlass: {what}")
}

/// An unknown flag of an SDK that is newer than this program.
pub(crate) fn unknown_flag_ignored(flag: &str) -> String {
    let flag = to_one_line(flag, MAX_CALL_CHARS);
    format!("windlass: the option {flag} is unknown and ignored")
}

/// What `-v` prints: the version of the protocol, and of this program.
pub(crate) fn protocol_version() -> String {
    format!("{PROTOCOL_VERSION} (windlass {})", env!("CARGO_PKG_VERSION"))
}

/// A hook's message to the user.
pub(crate) fn hook_message(message: &HookMessage) -> String {
    let (label, text) = (message.label(), &message.text);
    match message.level {
        HookMessageLevel::Info => format!("  ! {label} hook says: {text}"),
        HookMessageLevel::Warning => format!("  ! {label} hook error (not blocking): {text}"),
    }
}

/// Message: nothing arrived through a pipe beside a prompt.
pub(crate) const STDIN_TIMED_OUT: &str =
    "windlass: no data on standard input within 3 s; sending the prompt without it";

/// Hint below a list with interrupted runs.
pub(crate) const INTERRUPTED_RUNS_HINT: &str =
    "interrupted: no process is driving it; continue with `windlass resume ID`";

/// Hint below a list with runs that a running worker will take.
pub(crate) const RUNS_WILL_BE_TAKEN: &str =
    "interrupted: a running worker will continue it within seconds";

/// Hint below a list with runs that wait for an answer.
pub(crate) const ANSWERS_NEEDED_HINT: &str =
    "needs answer: `windlass explain ID` shows the question and how to answer it";

/// The output of `windlass` without arguments.
pub(crate) const WELCOME: &str = "\
windlass: an agent runtime that survives crashes, and says why it stopped

  windlass demo               watch it work, crash and recover; needs no key
  windlass doctor             check what is set up and what is missing
  windlass -p \"PROMPT\"        run a prompt in this folder; --model NAME chooses
                              the model: sonnet, openai:gpt-5, ollama:qwen3, …
  windlass -p \"…\" --continue  continue the newest conversation of this folder
  windlass runs               list runs; `windlass explain ID` says why it ended
  windlass --help             list everything else
";

/// Fields of a custom command that are ignored in an untrusted folder.
pub(crate) fn untrusted_command_fields(name: &str, ignored: &[&str]) -> String {
    let are = if ignored.len() == 1 { "is" } else { "are" };
    format!(
        "windlass: {} of /{name} {are} ignored because the folder is not trusted; trust it with `windlass trust`",
        ignored.join(" and ")
    )
}

/// Note: a mentioned file is not attached.
pub(crate) fn not_attached(path: &str, reason: &str) -> String {
    format!("windlass: @{path} is not attached: {reason}")
}

/// Error: the output of a run cannot be written; the run can be resumed.
pub(crate) fn output_failed(error: &std::io::Error, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("windlass: cannot write the output ({error}); continue with `windlass resume {word}`")
}

/// Error: the output of a command cannot be written.
pub(crate) fn output_error(error: &std::io::Error) -> String {
    format!("windlass: cannot write the output ({error})")
}

/// Error: the answer cannot be written.
pub(crate) fn answer_output_failed(error: &std::io::Error, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("windlass: cannot write the output ({error}); read it with `windlass show {word}`")
}

/// The model stayed unreachable until the wait limit.
pub(crate) fn model_unreachable(lost: &ModelUnreachable, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!(
        "the model is unreachable: {}; the run is saved, continue with `windlass resume {word}` \
         (to wait longer than {}: --set {}=…)",
        first_line(&lost.why),
        format_duration(lost.limit_ms),
        lost.limit,
    )
}

/// Why no traces are sent although a variable names where they would go.
#[cfg(feature = "otel")]
pub(crate) fn no_traces_sent(reason: &str) -> String {
    format!("windlass: no traces are sent: {reason}")
}
