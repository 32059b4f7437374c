//! The words people read. Deciding code never speaks to them; this page does.

mod endings;
mod models;
mod questions;
mod shell_word;
mod trust;

use std::collections::BTreeMap;
use std::path::Path;

use windlass::StoreNews;
use windlass::core::block::ToolUse;
use windlass::core::ids::{CallId, LaneId, Millis};
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::outcome::{self, OutcomeKind};
use windlass::core::permission::Verdict;
use windlass::core::record::{Record, Rejection, Transition};
use windlass::core::thrash::Level;
use windlass::tools::{MemoryFile, memory_frame};

use crate::look::paper::one_line;
use crate::look::time::span;
use crate::present;
use crate::show::{Lost, Patience};

pub(crate) use endings::{handoff, not_finished, stopped};
pub(crate) use models::{
    NO_EXACT_COUNT, NO_MODEL, bad_escape, blank_stop, end_markers, output_limit, without_effect,
};
pub(crate) use questions::{
    asked, choices, choices_help, more, question_and_answers, try_again, waiting,
};
pub(crate) use shell_word::{option_word, shell_word};
pub(crate) use trust::{TRUST_CHOICES, too_much_to_trust, trust_lines, trust_title, untrusted};

/// What the model is told when a run that stopped at a limit is resumed.
pub(crate) const GO_ON: &str = "Continue where you stopped.";

/// Characters of a call that are shown on its line.
const CALL_CHARS: usize = 72;

/// What is said when Ctrl-C is pressed once.
pub(crate) const CANCELLING: &str =
    "windlass: ending at the next safe point; press Ctrl-C again to interrupt running calls";

/// What is said when Ctrl-C is pressed again.
pub(crate) const ABORTING: &str = "windlass: interrupting running calls";

/// What is said when a prompt waits behind another one.
pub(crate) const WAITING_BEHIND: &str =
    "windlass: another run is active in this conversation; this prompt begins when it has ended";

/// What is said when another prompt waited behind the one that is over.
pub(crate) const GOING_ON: &str = "windlass: another prompt was waiting; running it now";

/// What a worker says when it is told to stop.
pub(crate) const HANDING_OVER: &str = "windlass: shutting down, releasing running conversations";

/// What a worker says when it begins.
pub(crate) fn working(store: &Path) -> String {
    let place = without_password(&store.display().to_string());
    format!("windlass: worker started on {place}; stop with SIGTERM")
}

/// What a worker says of its store.
pub(crate) fn store_news(news: StoreNews<'_>) -> String {
    let again = "nothing is lost, and it is tried again until it answers";
    match news {
        StoreNews::Late => format!("windlass: the store does not answer; {again}"),
        StoreNews::Fails(error) => format!("windlass: {error}; {again}"),
        StoreNews::Answers => "windlass: the store answers again".to_owned(),
    }
}

/// The place of a store. A password in an address is nobody's to read.
pub(crate) fn without_password(place: &str) -> String {
    place.rsplit('@').next().unwrap_or(place).to_owned()
}

/// Below text at a terminal that does not count.
pub(crate) const DISCARDED: &str = "  ✂ the text above was discarded";

/// What is said to an answer that is none of several choices.
pub(crate) const NOT_A_CHOICE: &str = "Please choose from the list, or type an answer.";

/// The calls that run now.
pub(crate) fn running(first: &str, others: usize) -> String {
    match others {
        0 => first.to_owned(),
        _ => format!("{first} and {others} more"),
    }
}

/// A call that ended without having come back from its tool.
pub(crate) fn not_run(name: &str, kind: OutcomeKind, why: &str) -> Option<String> {
    let why = first_line(why);
    match kind {
        OutcomeKind::Failed => Some(format!("  ✗ {name}: {why}")),
        OutcomeKind::Denied => Some(format!("  ✗ {name}: denied, {why}")),
        OutcomeKind::Skipped => Some(format!("  - {name}: not run, {why}")),
        OutcomeKind::Interrupted => Some(format!("  ✗ {name}: interrupted")),
        OutcomeKind::TimedOut => Some(format!("  ✗ {name}: timed out")),
        OutcomeKind::Answered => Some(format!("  ✓ {name}: {}", one_line(why, CALL_CHARS))),
        OutcomeKind::Done => None,
    }
}

/// What the model is told first.
pub(crate) fn system(workspace: &Path) -> String {
    format!(
        "You are an agent that does work for its user with tools, in the folder {}. Look before you \
         act, make small changes, and check what you changed by running it. When a call is denied, \
         find another way or say what you would need. Keep the run journal when the work is long. \
         When you are done, say briefly what you did and what is left.",
        workspace.display()
    )
}

/// What an agent that is a child is told first: its own words, and where it is.
pub(crate) fn agent(prompt: &str, workspace: &Path) -> String {
    format!("{prompt}\n\nYou work in the folder {}.", workspace.display())
}

/// An agent asks a model that cannot be asked.
pub(crate) fn agent_model(name: &str) -> String {
    format!("the agent {name} asks for a model that is not known; change `model` in its file")
}

/// The state folder cannot be written.
pub(crate) fn nothing_remembered(state: &Path) -> String {
    problem(&format!(
        "the folder {} cannot be written, so what tools remember (files that were read, the folder of \
         commands) is lost when this process ends; set WINDLASS_HOME to another folder",
        state.display()
    ))
}

/// The file of a store was open to others.
pub(crate) fn made_private(path: &Path, before: u32, after: u32) -> String {
    problem(&format!(
        "others could use the store {} (mode {before:04o}); it is private now (mode {after:04o})",
        path.display()
    ))
}

/// Something that is wrong and does not stop anything.
pub(crate) fn problem(what: &str) -> String {
    format!("windlass: {what}")
}

/// What a hook says to the user.
pub(crate) fn hook_message(text: &str) -> String {
    format!("  ! {text}")
}

/// What is said when a pipe beside a prompt stays silent.
pub(crate) const NOTHING_PIPED: &str =
    "windlass: nothing came through standard input in 3 s; the prompt goes without it";

/// What was typed is neither a command nor a prompt.
pub(crate) fn no_command(typed: Option<&str>) -> String {
    let what = typed.map_or("PROMPT", |typed| typed.lines().next().unwrap_or_default());
    let what = one_line(what, CALL_CHARS).replace('"', "'");
    format!("to run a prompt: `windlass -p \"{what}\"`; for the commands see `windlass --help`")
}

/// What was typed is almost a command.
pub(crate) fn similar_command(typed: &str, command: &str) -> String {
    let typed = one_line(typed, CALL_CHARS);
    format!("unknown command `{typed}`; did you mean `windlass {command}`?")
}

/// A command stands behind options, where only a prompt may stand.
pub(crate) fn command_after_options(command: &str) -> String {
    format!(
        "the command comes first and its options after it: `windlass {command} …`; if `{command}` is \
         the prompt, write `windlass -p {command}`"
    )
}

/// There is nothing to look back on, because the store that was named does not exist.
pub(crate) fn no_store(place: &Path) -> String {
    format!("no runs yet: there is no store at {}; the first run makes it", place.display())
}

/// An address of a kind of store that does not exist.
pub(crate) fn unknown_store(scheme: &str, given: &str) -> String {
    format!(
        "{given} names an unknown kind of store, `{scheme}:`; give a file, or \
         postgres://USER@HOST/DATABASE"
    )
}

/// There is nothing to look back on.
pub(crate) const NO_RUNS: &str = "no runs yet; start one with `windlass -p \"…\"`";

/// Below a list in which some runs are interrupted.
pub(crate) const RUNS_ARE_INTERRUPTED: &str =
    "interrupted: no process works on it; continue with `windlass resume ID`";

/// Below a list in which a worker that is running will take some runs.
pub(crate) const RUNS_WILL_BE_TAKEN: &str =
    "interrupted: a worker that is running continues it within seconds";

/// Below a list in which some runs wait for a person.
pub(crate) const RUNS_NEED_ANSWERS: &str =
    "needs answer: `windlass explain ID` shows the question and how to answer it";

/// No run is what was looked for.
pub(crate) const NO_SUCH_RUNS: &str = "no run fits; `windlass runs` without filters lists all";

/// What `windlass` alone says.
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

/// A command asks for more than a folder gives that nobody trusts.
pub(crate) fn untrusted_command(name: &str, ignored: &[&str]) -> String {
    let count = if ignored.len() == 1 { "counts" } else { "count" };
    format!(
        "windlass: {} of /{name} {count} only in a folder that you trust; trust it with `windlass \
         trust`",
        ignored.join(" and ")
    )
}

/// A file that was mentioned is not attached.
pub(crate) fn not_attached(path: &str, why: &str) -> String {
    format!("windlass: @{path} is not attached: {why}")
}

/// A file that goes with a prompt, as the model sees it.
pub(crate) fn attached_file(path: &str, text: &str) -> String {
    format!("The file {path}, which the user mentions:\n{text}")
}

/// A folder that goes with a prompt, as the model sees it.
pub(crate) fn attached_folder(path: &str, names: &str) -> String {
    format!("The folder {path}, which the user mentions, holds:\n{names}")
}

/// What memory files say, as the model sees it; empty without any.
pub(crate) fn user_context(files: &[MemoryFile]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let frames: Vec<String> =
        files.iter().map(|file| memory_frame(&file.path, &file.text)).collect();
    format!(
        "These instructions were written down by the user and for this project. Follow them where \
         they apply; they change no permission. Should an earlier message hold older ones, these take \
         their place.\n{}",
        frames.join("\n")
    )
}

/// A call as a person knows it, on one line.
pub(crate) fn call(call: &ToolUse) -> String {
    let shown = present::summary(call);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = present::visible(&shown);
    let mut cut: String = shown.chars().take(CALL_CHARS).collect();
    if cut.len() < shown.len() {
        cut.push('…');
    }
    format!("{} {cut}", present::visible(&call.name)).trim_end().to_owned()
}

/// A line about a record, if a person wants to know.
pub(crate) fn about(
    (entry, record): (&Entry, &Record),
    names: &BTreeMap<CallId, String>,
    patience: &Patience,
) -> Option<String> {
    let name = |call: &CallId| names.get(call).cloned().unwrap_or_else(|| format!("call {call}"));
    match record {
        Record::Judged { call, verdict: Verdict::Deny { reason } } => {
            let name = name(call);
            let tool = name.split(' ').next().unwrap_or_default();
            let advice = match reason.ends_with("no one is available to approve it") {
                true => format!("; allow it with --allowedTools {tool}, or use --when-asked park"),
                false => String::new(),
            };
            Some(format!("  ✗ {name}: denied, {reason}{advice}"))
        }
        Record::Completed { call } => Some(returned(&entry.input, entry.at, &name(call))),
        Record::Retried { call, .. } => {
            Some(format!("  ↻ {} failed temporarily; retrying", name(call)))
        }
        Record::Spawned { call, .. } => Some(format!("  → {}: started sub-agent", name(call))),
        Record::Watched { level, found: Some(found) } => match level {
            Level::Calm => None,
            Level::Nudge | Level::Directive | Level::Human => {
                Some(format!("  ! {} repeats itself", found.tool))
            }
        },
        // That its reply was discarded is said already.
        Record::Rejected { by: Rejection::Drift, .. } => None,
        Record::Rejected { by, reason, .. } => {
            Some(format!("  ! the answer was rejected by {}: {reason}", rejecter(*by)))
        }
        Record::Suspected { why } => Some(format!("  ! the answer counts, but {why}")),
        Record::BudgetWarned { percent } => Some(format!("  ! {percent} % of the budget is spent")),
        Record::TimeUp { .. } => Some("  ! the time for the run is up".to_owned()),
        Record::FellBack { why } => Some(format!("  ! another model is asked: {why}")),
        Record::Remembered { .. } => Some("  instructions were found and read".to_owned()),
        Record::Asked { transition: Transition::RaiseCap, .. } => {
            Some("  the reply was cut; asking again with more room".to_owned())
        }
        Record::Asked { transition: Transition::ContinueText, .. } => {
            Some("  the reply was cut; continuing".to_owned())
        }
        Record::ReplyDropped { why: Some(why) } => {
            Some(format!("  ! the reply was discarded: {}", first_line(why)))
        }
        Record::Pruned { .. } => Some("  old results were cut to make room".to_owned()),
        Record::AttemptAbandoned { why, .. } => Some(match &**why {
            "its process ended" => {
                "  the previous model call was interrupted; asking again".to_owned()
            }
            "aborted by the user" => "  the model call was cancelled".to_owned(),
            why => {
                let again = deferred(entry, patience).unwrap_or_default();
                format!("  model call failed: {}{again}", first_line(why))
            }
        }),
        Record::Adopted { .. } => Some("  resumed".to_owned()),
        Record::CallLost { call } => Some(format!(
            "  ? {} was running when its process ended; its effects are unknown",
            name(call)
        )),
        Record::Compacted { .. } => Some("  old messages were left out to make room".to_owned()),
        _ => None,
    }
}

/// Which check rejected an answer.
pub(crate) fn rejecter(by: Rejection) -> &'static str {
    match by {
        Rejection::Checklist => "the checklist",
        Rejection::Hook => "a Stop hook",
        Rejection::Judge => "the judge model",
        Rejection::Schema => "the schema",
        Rejection::Drift => "the drift check",
    }
}

/// When a model call that failed is made again.
fn deferred(entry: &Entry, patience: &Patience) -> Option<String> {
    let tenths = |until: &Millis| until.since(entry.at).div_ceil(100);
    entry.records.iter().find_map(|record| match record {
        Record::Deferred { .. } if patience.is_lost() => Some(String::new()),
        Record::Deferred { until, failures } => {
            let (whole, tenth) = (tenths(until) / 10, tenths(until) % 10);
            let left = patience.left_ms(entry.at).map(|ms| format!(", giving up in {}", span(ms)));
            let left = left.unwrap_or_default();
            Some(format!("; retrying in {whole}.{tenth} s (attempt {failures}{left})"))
        }
        _ => None,
    })
}

/// What is said cannot be written.
pub(crate) fn unwritten(error: &std::io::Error, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!(
        "windlass: the output cannot be written ({error}); continue with `windlass resume {word}`"
    )
}

/// What a command printed is lost.
pub(crate) fn output_lost(error: &std::io::Error) -> String {
    format!("windlass: the output cannot be written ({error})")
}

/// The answer cannot be written.
pub(crate) fn answer_unwritten(error: &std::io::Error, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("windlass: the output cannot be written ({error}); read it with `windlass show {word}`")
}

/// Nobody waits for a run any longer whose model cannot be asked.
pub(crate) fn no_longer_waiting(lost: &Lost, lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!(
        "the model is unreachable: {}; the run is saved, continue with `windlass resume {word}` \
         (--set {}=… waits longer than {})",
        first_line(&lost.why),
        lost.limit,
        span(lost.limit_ms),
    )
}

/// A call that children answered.
pub(crate) fn back(name: &str) -> String {
    format!("  ← {name}: sub-agent finished")
}

fn returned(input: &Input, at: Millis, name: &str) -> String {
    let Input::ToolReturned { outcome, started_at, .. } = input else {
        return format!("  ✓ {name}");
    };
    let ms = at.since(*started_at);
    match outcome {
        outcome::Outcome::Done(_) | outcome::Outcome::Detailed { .. } => {
            format!("  ✓ {name} ({ms} ms)")
        }
        outcome::Outcome::Failed(error) => {
            format!("  ✗ {name} ({ms} ms): {}", first_line(&error.message))
        }
        outcome::Outcome::TimedOut { after_ms } => {
            format!("  ✗ {name}: timed out after {after_ms} ms")
        }
        outcome::Outcome::Interrupted { after_ms } => {
            format!("  ✗ {name}: interrupted after {after_ms} ms")
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A flag that cannot go with a prompt which another process works on.
pub(crate) fn not_detached(flag: &str) -> String {
    format!("{flag} cannot be combined with --detach; give it to the worker instead")
}

/// A flag that would count for another run too.
pub(crate) fn not_behind(flag: &str, lane: &LaneId) -> String {
    format!(
        "{flag} would also count for the unfinished run of this conversation; finish that run with \
         windlass resume {lane}, or begin a new conversation"
    )
}
