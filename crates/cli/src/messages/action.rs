//! Messages of commands that change something: fork, answer, approve, cancel, resume, compact,
//! replay.

use windlass::core::log::ids::{LaneId, QuestionId, RunId, Seq};
use windlass::core::permission::PermissionRule;
use windlass::core::run::question::Question;
use windlass::ports::RunInfo;

use crate::messages::{accepted_answers, continue_command, option_word, shell_word, within};
use crate::terminal::number_format::{count_irregular_noun, count_noun, group_digits};

/// Message: no rule can be suggested.
pub(crate) const NO_RULE_SUGGESTED: &str =
    "no rule covers just this call; approve it without --rule";

/// Error: a question that is not about a call cannot be approved.
pub(crate) const QUESTION_WITHOUT_CALL: &str =
    "the question is not about a call; answer it with `windlass answer`";

/// The provider's token count of the context.
pub(crate) fn exact_token_count(tokens: u64) -> String {
    format!("the provider counts {}", count_noun(tokens, "token"))
}

/// Error: an option that `/context` does not have.
pub(crate) fn unknown_context_option(option: &str) -> String {
    format!("`/context {option}` is not known; write /context or /context --exact")
}

/// Message: no provider response is stored.
pub(crate) fn no_raw_responses(iteration: Option<u32>) -> String {
    let of = iteration.map(|iteration| format!(" of iteration {iteration}")).unwrap_or_default();
    format!(
        "windlass: no raw responses{of} are stored: scripts have none, and responses are deleted \
         after [keep] raw_days (config.toml)"
    )
}

/// Message: the model has not answered in this conversation.
pub(crate) fn no_responses_yet(lane: &LaneId) -> String {
    format!("windlass: the model has not answered in {lane} yet; there is no response to print")
}

/// Message: no run has as many iterations.
pub(crate) fn no_such_iteration(iteration: u32, iterations: u32) -> String {
    let count = count_noun(u64::from(iterations), "iteration");
    format!(
        "windlass: there is no iteration {iteration}: the run has {count}; `windlass trace` lists \
         them"
    )
}

/// Error: the context of a conversation without entries.
pub(crate) const EMPTY_CONTEXT: &str =
    "the conversation is empty, and so is its context; send it a prompt first";

/// Message: the conversation has nothing that a compaction could replace.
pub(crate) const NOTHING_TO_COMPACT: &str = "There is nothing to compact yet.";

/// Message: the conversation has no entries.
pub(crate) const EMPTY_CONVERSATION: &str =
    "the conversation is empty; there is nothing to compact";

/// Message: the conversation has no run.
pub(crate) const NO_RUN_IN_CONVERSATION: &str =
    "no run in this conversation yet; send it a prompt first";

/// Error: the entry to fork after does not exist.
pub(crate) fn fork_past_end(lane: &LaneId, head: Seq) -> String {
    format!("{lane} has {}; --at must not be larger", count_entries(head))
}

/// Error: no round is closed up to the entry, so there is no point to fork at.
pub(crate) fn no_closed_round(wanted: Seq) -> String {
    format!("no round is complete at entry {wanted}; give a later entry with --at")
}

/// Note: the fork starts at an earlier entry than requested.
pub(crate) fn fork_moved_back(wanted: Seq, at: Seq) -> String {
    format!("entry {wanted} is inside a round; the fork starts after entry {at}")
}

/// Message after a fork, with the commands to use it.
pub(crate) fn fork_created(child: &LaneId, at: Seq) -> String {
    format!("it shares {}; continue it with `{}`", count_entries(at), continue_command(child))
}

/// Message: a rule was saved.
pub(crate) fn rule_kept(rule: &PermissionRule, folder: &str) -> String {
    format!("the rule {rule} is allowed in this conversation{}", within(folder))
}

/// Message: the answer was sent.
pub(crate) fn answer_sent(lane: &LaneId, question: QuestionId) -> String {
    format!("question {question} of {lane} is answered; the next worker will continue it")
}

/// Message: the answer was sent to the process that drives the conversation.
pub(crate) fn answer_delivered(lane: &LaneId, question: QuestionId) -> String {
    format!("question {question} of {lane} is answered; the process that drives it continues it")
}

/// Message: a worker continues the conversation.
pub(crate) fn queued_for_worker(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("{lane} is queued: the next worker will continue it, or `windlass resume {word}`")
}

/// Message: the conversation has no prompt to continue with.
pub(crate) fn no_prompt_yet(lane: &LaneId) -> String {
    let resume = option_word("--resume", lane);
    format!("{lane} has no prompt yet; send one with `windlass -p … {resume}`")
}

/// Message: the cancellation of a run was requested.
pub(crate) fn cancel_requested(lane: &LaneId, run: &RunId) -> String {
    format!("requested cancellation of run {run} of {lane}")
}

/// Error: the conversation has no run to cancel.
pub(crate) fn no_run_to_cancel(lane: &LaneId) -> String {
    format!("no run of {lane} is active or queued; there is nothing to cancel")
}

/// Error: the named run has already finished.
pub(crate) fn already_finished(run: &RunInfo) -> String {
    let cause = run.cause.map_or("ended", |cause| cause.as_str());
    format!("run {} has finished already ({cause}); there is nothing to cancel", run.run)
}

/// Message: a conversation was deleted.
pub(crate) fn conversation_deleted(lane: &LaneId, lanes: usize, entries: u64) -> String {
    let agents = match lanes.saturating_sub(1) {
        0 => String::new(),
        1 => " and the conversation of 1 sub-agent".to_owned(),
        more => format!(" and the conversations of {more} sub-agents"),
    };
    let s = if entries == 1 { "entry" } else { "entries" };
    format!("deleted {lane}{agents}: {entries} log {s}")
}

/// Error: the last run has ended and cannot be resumed.
pub(crate) fn not_resumable(run: &RunInfo) -> String {
    let (lane, cause) = (&run.lane, run.cause.map_or("ended", |cause| cause.as_str()));
    let resume = option_word("--resume", lane);
    format!(
        "the last run of {lane} has finished ({cause}); there is nothing to resume; continue with \
         `windlass -p … {resume}`"
    )
}

/// Message: every decision was the same again.
pub(crate) fn replay_identical(lane: &LaneId, entries: usize) -> String {
    let entries = count_entries(entries as u64);
    format!("replayed {entries} of {lane}: all decisions are identical")
}

/// Error: no approval is pending.
pub(crate) fn no_pending_approval(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("{lane} has no pending approval; `windlass explain {word}` shows its state")
}

/// Error: several questions wait for approval.
pub(crate) fn several_questions(lane: &LaneId, questions: &[&Question]) -> String {
    format!(
        "{lane} has several open questions; give the number of one: {}",
        join_question_ids(questions)
    )
}

/// Error: the question does not accept this answer.
pub(crate) fn answer_not_accepted(lane: &LaneId, question: &Question) -> String {
    let word = shell_word(lane);
    let (id, choices) = (question.id, accepted_answers(&question.kind));
    format!("question {id} accepts {choices}; use `windlass answer {word} {id} ANSWER`")
}

/// Error: the question is not open.
pub(crate) fn question_not_open(lane: &LaneId, id: QuestionId, open: &[&Question]) -> String {
    let word = shell_word(lane);
    match open {
        [] => format!("{lane} has no open question {id}; `windlass explain {word}` says why"),
        open => format!("{lane} has no open question {id}; open: {}", join_question_ids(open)),
    }
}

fn count_entries(count: u64) -> String {
    count_irregular_noun(count, "entry", "entries")
}

fn join_question_ids(questions: &[&Question]) -> String {
    let ids: Vec<String> = questions.iter().map(|question| question.id.to_string()).collect();
    ids.join(", ")
}

/// Message: a compaction was requested.
pub(crate) fn compaction_queued(lane: &LaneId) -> String {
    format!("{lane} will be compacted before its next model call")
}

/// Message: the context was compacted.
pub(crate) fn compacted(lane: &LaneId, before: u64, after: u64) -> String {
    let (before, after) = (group_digits(before), group_digits(after));
    format!("{lane} was compacted: from about {before} to about {after} tokens")
}

/// Message: the run that compacts did not end as it should.
pub(crate) fn not_compacted(lane: &LaneId, why: &str) -> String {
    format!("{lane} was not compacted: {why}; see `windlass explain {lane}`")
}

/// Note: no model is there to write the summary now.
pub(crate) fn compaction_waits(reason: &str) -> String {
    format!("no model can be called now ({reason}), so the context is compacted later")
}

/// Error: there is no such command.
pub(crate) fn unknown_man_page(name: &str) -> String {
    format!("unknown command `{name}`; see `windlass help`")
}
