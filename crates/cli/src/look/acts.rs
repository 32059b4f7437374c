//! The words of commands that do something: fork, answer, approve, cancel, resume, compact, replay.

use windlass::core::ids::{LaneId, QuestionId, RunId, Seq};
use windlass::core::permission::Rule;
use windlass::core::question::Question;
use windlass::ports::RunInfo;

use super::numbers::{counted, counted_of};
use super::words::{go_on, within};
use crate::words::{option_word, shell_word};

/// No rule can be suggested.
pub(crate) const NO_RULE: &str = "no rule covers just this call; approve it without --rule";

/// A question that speaks of no call cannot be approved.
pub(crate) const NO_CALL: &str = "the question is about no call; answer it with `windlass answer`";

/// What the provider counts of the context.
pub(crate) fn counted_exactly(tokens: u64) -> String {
    format!("the provider counts {}", counted(tokens, "token"))
}

/// An option that `/context` does not have.
pub(crate) fn no_context_option(option: &str) -> String {
    format!("`/context {option}` is not known; write /context or /context --exact")
}

/// No answer of a provider is kept.
pub(crate) const NO_RAW: &str = "windlass: no answer of a provider is kept here: a script gives none, and \
     answers are forgotten after [keep] raw_days of config.toml";

/// Nothing was said.
pub(crate) const NOTHING_SAID: &str =
    "nothing was said in this conversation yet; there is nothing to leave out";

/// Nothing was run.
pub(crate) const NOTHING_RUN: &str =
    "nothing was run in this conversation yet; say something to it first";

/// The entry does not exist.
pub(crate) fn beyond(lane: &LaneId, head: Seq) -> String {
    format!("{lane} has {}; give an --at up to that", entries(head))
}

/// There is no place to fork.
pub(crate) fn no_rest(wanted: Seq) -> String {
    format!("no round is closed by entry {wanted}; give a later one with --at")
}

/// The fork begins earlier than it was told.
pub(crate) fn inside(wanted: Seq, at: Seq) -> String {
    format!("entry {wanted} is inside a round; the fork begins after {at}")
}

/// What to do with a fork.
pub(crate) fn forked(child: &LaneId, at: Seq) -> String {
    format!("it shares {}; continue it with `{}`", entries(at), go_on(child))
}

/// A rule was kept.
pub(crate) fn kept(rule: &Rule, folder: &str) -> String {
    format!("the rule {rule} is kept for this conversation{}", within(folder))
}

/// The answer was sent.
pub(crate) fn answered(lane: &LaneId, question: QuestionId) -> String {
    format!("question {question} of {lane} is answered; the next worker will continue it")
}

/// Somebody else goes on.
pub(crate) fn left_to_others(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("{lane} is queued: the next worker will continue it, or `windlass resume {word}`")
}

/// There is nothing to go on with.
pub(crate) fn never_asked(lane: &LaneId) -> String {
    let resume = option_word("--resume", lane);
    format!("no prompt was given to {lane} yet; give one with `windlass -p … {resume}`")
}

/// A run was asked to end.
pub(crate) fn asked_to_end(lane: &LaneId, run: &RunId) -> String {
    format!("asked run {run} of {lane} to end")
}

/// There is no run to end.
pub(crate) fn nothing_to_end(lane: &LaneId) -> String {
    format!("no run of {lane} is active or queued; there is nothing to end")
}

/// The run that was named is over.
pub(crate) fn ended_already(run: &RunInfo) -> String {
    let cause = run.cause.map_or("ended", |cause| cause.name());
    format!("run {} has finished already ({cause}); there is nothing to end", run.run)
}

/// A conversation is gone.
pub(crate) fn deleted(lane: &LaneId, lanes: usize, entries: u64) -> String {
    let agents = match lanes.saturating_sub(1) {
        0 => String::new(),
        1 => " and the conversation of 1 sub-agent".to_owned(),
        more => format!(" and the conversations of {more} sub-agents"),
    };
    let s = if entries == 1 { "entry" } else { "entries" };
    format!("deleted {lane}{agents}: {entries} log {s}")
}

/// The last run is over, and nothing of it can be resumed.
pub(crate) fn not_resumable(run: &RunInfo) -> String {
    let (lane, cause) = (&run.lane, run.cause.map_or("ended", |cause| cause.name()));
    let resume = option_word("--resume", lane);
    format!(
        "the last run of {lane} has finished ({cause}); there is nothing to resume; say more with \
         `windlass -p … {resume}`"
    )
}

/// Every decision is the same.
pub(crate) fn replayed(lane: &LaneId, entries: usize) -> String {
    let entries = self::entries(entries as u64);
    format!("replayed {entries} of {lane}: every decision is the same")
}

/// Nobody asks for leave.
pub(crate) fn no_leave_wanted(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("{lane} has no pending approval; `windlass explain {word}` shows its state")
}

/// Several questions ask for leave.
pub(crate) fn several(lane: &LaneId, questions: &[&Question]) -> String {
    format!("{lane} asks several questions; name one: {}", ids(questions))
}

/// The question takes other answers.
pub(crate) fn takes_others(lane: &LaneId, question: &Question) -> String {
    let word = shell_word(lane);
    let (id, choices) = (question.id, question.about.choices());
    format!("question {id} takes {choices}; use `windlass answer {word} {id} ANSWER`")
}

/// The question is not open.
pub(crate) fn not_open(lane: &LaneId, id: QuestionId, open: &[&Question]) -> String {
    let word = shell_word(lane);
    match open {
        [] => format!("{lane} has no open question {id}; `windlass explain {word}` says why"),
        open => format!("{lane} has no open question {id}; open: {}", ids(open)),
    }
}

fn entries(count: u64) -> String {
    counted_of(count, "entry", "entries")
}

fn ids(questions: &[&Question]) -> String {
    let ids: Vec<String> = questions.iter().map(|question| question.id.to_string()).collect();
    ids.join(", ")
}

/// Room will be made.
pub(crate) fn room_asked(lane: &LaneId) -> String {
    format!("room is made in {lane} before its next model call")
}

/// There is no such command.
pub(crate) fn no_command(name: &str) -> String {
    format!("there is no command `{name}`; see `windlass help`")
}
