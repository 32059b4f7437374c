//! Messages that people read. Code that decides has none.

pub(crate) mod action;
mod answer_choices;
mod call;
mod core_codes;
pub(crate) mod inspect;
pub(crate) mod local_command;
mod model;
mod model_question;
mod question;
pub(crate) mod report;
pub(crate) mod scripted;
mod shell_word;
mod stop;
mod task_list;
mod trust;

use std::collections::BTreeMap;
use std::path::Path;

use windlass::StoreStatus;
use windlass::core::call::outcome::{self, OutcomeKind};
use windlass::core::guard::loop_detection::EscalationLevel;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::{CallId, LaneId, UnixMillis};
use windlass::core::log::input::Input;
use windlass::core::log::record::{AbandonCause, Record, RejectionSource, Transition};
use windlass::core::message::content_block::ToolUse;
use windlass::core::permission::{DenialSource, PermissionDecision};
use windlass::tools::{MemoryFile, frame_memory_file};

use crate::output::{ModelUnreachable, RetryTimeout};
use crate::terminal;
use crate::terminal::time_format::format_duration;
use crate::terminal::to_one_line;

pub(crate) use answer_choices::{
    choice_help, choice_line, invalid_choice, page_footer, parked_questions, question_for_terminal,
    question_with_answers,
};
pub(crate) use call::call_summary;
pub(crate) use core_codes::{abandon_cause, accepted_answers, command_rejection};
pub(crate) use model::{
    NO_MODEL_CHOSEN, NO_TOKEN_COUNTER, blank_stop_sequence, control_without_effect,
    end_marker_instruction, invalid_escape, invalid_output_limit,
};
pub(crate) use model_question::{
    ModelQuestion, join_answers, parse_model_questions, resolve_answer_text,
};
pub(crate) use question::{QuestionView, command_folder, question_details, question_text};
pub(crate) use shell_word::{option_word, shell_word};
pub(crate) use stop::{handoff_lines, not_finished, stopped};
pub(crate) use task_list::task_lines;
pub(crate) use trust::{
    TRUST_CHOICES, folder_untrusted, grant_lines, too_much_to_trust, trust_question,
};

/// The prompt with which a run that stopped at a limit is resumed.
pub(crate) const CONTINUE_PROMPT: &str = "Continue where you stopped.";

/// Maximum characters of a call on its line.
const MAX_CALL_CHARS: usize = 72;

/// Message after the first Ctrl-C.
pub(crate) const CANCELLING: &str =
    "windlass: ending at the next safe point; press Ctrl-C again to interrupt running calls";

/// Message after the second Ctrl-C.
pub(crate) const ABORTING: &str = "windlass: interrupting running calls";

/// Message: the prompt is queued behind an active run.
pub(crate) const PROMPT_QUEUED: &str =
    "windlass: another run is active in this conversation; this prompt begins when it has ended";

/// Message: the run has ended and a queued prompt starts.
pub(crate) const RUNNING_QUEUED_PROMPT: &str =
    "windlass: another prompt was waiting; running it now";

/// Message of a worker that was told to stop.
pub(crate) const WORKER_STOPPING: &str = "windlass: shutting down, releasing running conversations";

/// Message of a worker that starts.
pub(crate) fn worker_started(store: &Path) -> String {
    let place = redact_password(&store.display().to_string());
    format!("windlass: worker started on {place}; stop with SIGTERM")
}

/// Message of a worker about its store.
pub(crate) fn store_status(news: StoreStatus<'_>) -> String {
    let again = "nothing is lost, and it is tried again until it answers";
    match news {
        StoreStatus::Slow => format!("windlass: the store does not answer; {again}"),
        StoreStatus::Failing(error) => format!("windlass: {error}; {again}"),
        StoreStatus::Recovered => "windlass: the store answers again".to_owned(),
    }
}

/// The store location without the password of its address.
pub(crate) fn redact_password(place: &str) -> String {
    place.rsplit('@').next().unwrap_or(place).to_owned()
}

/// The mark below discarded text at a terminal.
pub(crate) const TEXT_DISCARDED: &str = "  ✂ the text above was discarded";

/// Message for a typed answer that is not one of the choices.
pub(crate) const NOT_A_CHOICE: &str = "Please choose from the list, or type an answer.";

/// The running calls.
pub(crate) fn running_calls(first: &str, others: usize) -> String {
    match others {
        0 => first.to_owned(),
        _ => format!("{first} and {others} more"),
    }
}

/// The line of a call that ended without a result of its tool.
pub(crate) fn call_without_result(name: &str, kind: OutcomeKind, why: &str) -> Option<String> {
    let why = first_line(why);
    match kind {
        OutcomeKind::Failed => Some(format!("  ✗ {name}: {why}")),
        OutcomeKind::Denied => Some(format!("  ✗ {name}: denied, {why}")),
        OutcomeKind::Skipped => Some(format!("  - {name}: not run, {why}")),
        OutcomeKind::Interrupted => Some(format!("  ✗ {name}: interrupted")),
        OutcomeKind::TimedOut => Some(format!("  ✗ {name}: timed out")),
        OutcomeKind::Answered => Some(format!("  ✓ {name}: {}", to_one_line(why, MAX_CALL_CHARS))),
        OutcomeKind::Done => None,
    }
}

/// The default system prompt.
pub(crate) fn system_prompt(workspace: &Path) -> String {
    format!(
        "You are an agent that does work for its user with tools, in the folder {}. Look before you \
         act, make small changes, and check what you changed by running it. When a call is denied, \
         find another way or say what you would need. Keep the run journal when the work is long. \
         When you are done, say briefly what you did and what is left.",
        workspace.display()
    )
}

/// The system prompt of a sub-agent: its own prompt, and its workspace.
pub(crate) fn agent_system_prompt(prompt: &str, workspace: &Path) -> String {
    format!("{prompt}\n\nYou work in the folder {}.", workspace.display())
}

/// Error: the model of a sub-agent is not known.
pub(crate) fn unknown_agent_model(name: &str) -> String {
    format!("the agent {name} asks for a model that is not known; change `model` in its file")
}

/// Warning: the state folder is not writable.
pub(crate) fn nothing_remembered(state: &Path) -> String {
    warning(&format!(
        "the folder {} cannot be written, so what tools remember (files that were read, the folder of \
         commands) is lost when this process ends; set WINDLASS_HOME to another folder",
        state.display()
    ))
}

/// Note: the file of a store was accessible to others.
pub(crate) fn made_private(path: &Path, before: u32, after: u32) -> String {
    warning(&format!(
        "others could use the store {} (mode {before:04o}); it is private now (mode {after:04o})",
        path.display()
    ))
}

/// A warning, which stops nothing.
pub(crate) fn warning(what: &str) -> String {
    format!("windlass: {what}")
}

/// A hook's message to the user.
pub(crate) fn hook_message(text: &str) -> String {
    format!("  ! {text}")
}

/// Message: nothing arrived through a pipe beside a prompt.
pub(crate) const STDIN_TIMED_OUT: &str =
    "windlass: nothing came through standard input in 3 s; the prompt goes without it";

/// Error: the typed word is neither a command nor a prompt.
pub(crate) fn unknown_command(typed: Option<&str>) -> String {
    let what = typed.map_or("PROMPT", |typed| typed.lines().next().unwrap_or_default());
    let what = to_one_line(what, MAX_CALL_CHARS).replace('"', "'");
    format!("to run a prompt: `windlass -p \"{what}\"`; for the commands see `windlass --help`")
}

/// Error: the typed word is similar to a command.
pub(crate) fn similar_command(typed: &str, command: &str) -> String {
    let typed = to_one_line(typed, MAX_CALL_CHARS);
    format!("unknown command `{typed}`; did you mean `windlass {command}`?")
}

/// Error: a command after options, where only a prompt is allowed.
pub(crate) fn command_after_options(command: &str) -> String {
    format!(
        "the command comes first and its options after it: `windlass {command} …`; if `{command}` is \
         the prompt, write `windlass -p {command}`"
    )
}

/// Message: there are no runs, because the named store does not exist.
pub(crate) fn store_missing(place: &Path) -> String {
    format!("no runs yet: there is no store at {}; the first run makes it", place.display())
}

/// Error: the scheme of the store's address is unknown.
pub(crate) fn unknown_store_scheme(scheme: &str, given: &str) -> String {
    format!(
        "{given} names an unknown kind of store, `{scheme}:`; give a file, or \
         postgres://USER@HOST/DATABASE"
    )
}

/// Message: the store has no runs.
pub(crate) const NO_RUNS: &str = "no runs yet; start one with `windlass -p \"…\"`";

/// Hint below a list with interrupted runs.
pub(crate) const INTERRUPTED_RUNS_HINT: &str =
    "interrupted: no process works on it; continue with `windlass resume ID`";

/// Hint below a list with runs that a running worker will take.
pub(crate) const RUNS_WILL_BE_TAKEN: &str =
    "interrupted: a worker that is running continues it within seconds";

/// Hint below a list with runs that wait for an answer.
pub(crate) const ANSWERS_NEEDED_HINT: &str =
    "needs answer: `windlass explain ID` shows the question and how to answer it";

/// Message: no run matches the filter.
pub(crate) const NO_MATCHING_RUNS: &str = "no run fits; `windlass runs` without filters lists all";

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
    let count = if ignored.len() == 1 { "counts" } else { "count" };
    format!(
        "windlass: {} of /{name} {count} only in a folder that you trust; trust it with `windlass \
         trust`",
        ignored.join(" and ")
    )
}

/// Note: a mentioned file is not attached.
pub(crate) fn not_attached(path: &str, why: &str) -> String {
    format!("windlass: @{path} is not attached: {why}")
}

/// An attached file, as the model sees it.
pub(crate) fn attached_file(path: &str, text: &str) -> String {
    format!("The file {path}, which the user mentions:\n{text}")
}

/// An attached folder, as the model sees it.
pub(crate) fn attached_folder(path: &str, names: &str) -> String {
    format!("The folder {path}, which the user mentions, holds:\n{names}")
}

/// The content of memory files, as the model sees it; empty without any.
pub(crate) fn memory_context(files: &[MemoryFile]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let frames: Vec<String> =
        files.iter().map(|file| frame_memory_file(&file.path, &file.text)).collect();
    format!(
        "These instructions were written down by the user and for this project. Follow them where \
         they apply; they change no permission. Should an earlier message hold older ones, these take \
         their place.\n{}",
        frames.join("\n")
    )
}

/// A call on one line, for people.
pub(crate) fn call_line(call: &ToolUse) -> String {
    let shown = call_summary(call);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = terminal::escape_invisible(&shown);
    let mut cut: String = shown.chars().take(MAX_CALL_CHARS).collect();
    if cut.len() < shown.len() {
        cut.push('…');
    }
    format!("{} {cut}", terminal::escape_invisible(&call.name)).trim_end().to_owned()
}

/// The line about a record, if it is of interest to people.
pub(crate) fn record_line(
    (entry, record): (&Entry, &Record),
    names: &BTreeMap<CallId, String>,
    patience: &RetryTimeout,
) -> Option<String> {
    let name = |call: &CallId| names.get(call).cloned().unwrap_or_else(|| format!("call {call}"));
    match record {
        Record::PermissionDecided { call, verdict: PermissionDecision::Deny { by, reason } } => {
            let name = name(call);
            let tool = name.split(' ').next().unwrap_or_default();
            let advice = match by {
                DenialSource::NoApprover => {
                    format!("; allow it with --allowedTools {tool}, or use --when-asked park")
                }
                _ => String::new(),
            };
            Some(format!("  ✗ {name}: denied, {reason}{advice}"))
        }
        Record::CallReturned { call } => Some(call_returned(&entry.input, entry.at, &name(call))),
        Record::CallRetryScheduled { call, .. } => {
            Some(format!("  ↻ {} failed temporarily; retrying", name(call)))
        }
        Record::ChildrenSpawned { call, .. } => {
            Some(format!("  → {}: started sub-agent", name(call)))
        }
        Record::LoopDetectionUpdated { level, finding: Some(found) } => match level {
            EscalationLevel::Calm => None,
            EscalationLevel::Nudge | EscalationLevel::Directive | EscalationLevel::Human => {
                Some(format!("  ! {} repeats itself", found.tool))
            }
        },
        // That the reply was discarded is reported already.
        Record::AnswerRejected { by: RejectionSource::Drift, .. } => None,
        Record::AnswerRejected { by, reason, .. } => {
            Some(format!("  ! the answer was rejected by {}: {reason}", rejection_source(*by)))
        }
        Record::AnswerMarkedSuspect { why } => Some(format!("  ! the answer counts, but {why}")),
        Record::BudgetWarned { percent } => Some(format!("  ! {percent} % of the budget is spent")),
        Record::TimeLimitReached { .. } => Some("  ! the time for the run is up".to_owned()),
        Record::FallbackModelSelected { why } => Some(format!("  ! another model is asked: {why}")),
        Record::InstructionsAdded { .. } | Record::ToolContextAdded { .. } => {
            Some("  instructions were found and read".to_owned())
        }
        Record::ModelCallStarted { transition: Transition::RaiseCap, .. } => {
            Some("  the reply was cut; asking again with more room".to_owned())
        }
        Record::ModelCallStarted { transition: Transition::ContinueText, .. } => {
            Some("  the reply was cut; continuing".to_owned())
        }
        Record::ReplyDropped { why: Some(why) } => {
            Some(format!("  ! the reply was discarded: {}", first_line(why)))
        }
        Record::Pruned { .. } => Some("  old results were cut to make room".to_owned()),
        Record::ModelCallAbandoned { cause, .. } => Some(match cause {
            AbandonCause::OwnerEnded => {
                "  the previous model call was interrupted; asking again".to_owned()
            }
            AbandonCause::Cancelled => "  the model call was cancelled".to_owned(),
            AbandonCause::TimeLimit | AbandonCause::Failed(_) => {
                let again = retry_note(entry, patience).unwrap_or_default();
                format!("  model call failed: {}{again}", first_line(abandon_cause(cause)))
            }
        }),
        Record::OwnerChanged { .. } => Some("  resumed".to_owned()),
        Record::CallLost { call } => Some(format!(
            "  ? {} was running when its process ended; its effects are unknown",
            name(call)
        )),
        Record::Compacted { .. } => Some("  old messages were left out to make room".to_owned()),
        _ => None,
    }
}

/// The check that rejected an answer.
pub(crate) fn rejection_source(by: RejectionSource) -> &'static str {
    match by {
        RejectionSource::Checklist => "the checklist",
        RejectionSource::Hook => "a Stop hook",
        RejectionSource::Judge => "the judge model",
        RejectionSource::Schema => "the schema",
        RejectionSource::Drift => "the drift check",
    }
}

/// When a failed model call is retried.
fn retry_note(entry: &Entry, patience: &RetryTimeout) -> Option<String> {
    let tenths = |until: &UnixMillis| until.ms_since(entry.at).div_ceil(100);
    entry.records.iter().find_map(|record| match record {
        Record::ModelRetryScheduled { .. } if patience.is_exceeded() => Some(String::new()),
        Record::ModelRetryScheduled { until, failures } => {
            let (whole, tenth) = (tenths(until) / 10, tenths(until) % 10);
            let left = patience
                .remaining_ms(entry.at)
                .map(|ms| format!(", giving up in {}", format_duration(ms)));
            let left = left.unwrap_or_default();
            Some(format!("; retrying in {whole}.{tenth} s (attempt {failures}{left})"))
        }
        _ => None,
    })
}

/// Error: the output of a run cannot be written; the run can be resumed.
pub(crate) fn output_failed(error: &std::io::Error, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!(
        "windlass: the output cannot be written ({error}); continue with `windlass resume {word}`"
    )
}

/// Error: the output of a command cannot be written.
pub(crate) fn output_error(error: &std::io::Error) -> String {
    format!("windlass: the output cannot be written ({error})")
}

/// Error: the answer cannot be written.
pub(crate) fn answer_output_failed(error: &std::io::Error, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("windlass: the output cannot be written ({error}); read it with `windlass show {word}`")
}

/// The model stayed unreachable until the wait limit.
pub(crate) fn model_unreachable(lost: &ModelUnreachable, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!(
        "the model is unreachable: {}; the run is saved, continue with `windlass resume {word}` \
         (--set {}=… waits longer than {})",
        first_line(&lost.why),
        lost.limit,
        format_duration(lost.limit_ms),
    )
}

/// The line of a call that sub-agents answered.
pub(crate) fn sub_agent_finished(name: &str) -> String {
    format!("  ← {name}: sub-agent finished")
}

fn call_returned(input: &Input, at: UnixMillis, name: &str) -> String {
    let Input::ToolReturned { outcome, started_at, .. } = input else {
        return format!("  ✓ {name}");
    };
    let ms = at.ms_since(*started_at);
    match outcome {
        outcome::ToolOutcome::Done(_) | outcome::ToolOutcome::DoneWithDetail { .. } => {
            format!("  ✓ {name} ({ms} ms)")
        }
        outcome::ToolOutcome::Failed(error) => {
            format!("  ✗ {name} ({ms} ms): {}", first_line(&error.message))
        }
        outcome::ToolOutcome::TimedOut { after_ms } => {
            format!("  ✗ {name}: timed out after {after_ms} ms")
        }
        outcome::ToolOutcome::Interrupted { after_ms } => {
            format!("  ✗ {name}: interrupted after {after_ms} ms")
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Error: a flag that cannot be sent with a detached prompt.
pub(crate) fn not_detached(flag: &str) -> String {
    format!("{flag} cannot be combined with --detach; give it to the worker instead")
}

/// Error: a flag that would apply to another run, too.
pub(crate) fn not_behind(flag: &str, lane: &LaneId) -> String {
    format!(
        "{flag} would also count for the unfinished run of this conversation; finish that run with \
         windlass resume {lane}, or begin a new conversation"
    )
}
