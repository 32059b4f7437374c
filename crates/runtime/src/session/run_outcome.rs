//! The outcome of a run, read from the state of its conversation or from an entry of the log.

use windlass_core::log::command_rejection::CommandRejection;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::run::conversation::{Conversation, RunEnd};
use windlass_core::run::question::Question;

/// How a run ended, or why it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each run")]
pub enum RunOutcome {
    /// The run ended.
    Finished(RunEnd),
    /// The run waits for a human. Without a question here, one of its child runs asks:
    /// `Session::child_questions` returns what.
    Parked(Vec<Question>),
    /// The run never started, for this reason.
    Rejected(CommandRejection),
    /// The run was released so that another process can continue it.
    HandedOver,
}

/// Returns the outcome of a run, of any run if `run` is `None`, as far as the conversation has it.
pub(super) fn outcome_of(run: Option<&RunId>, conversation: &Conversation) -> Option<RunOutcome> {
    let ended = conversation.last_run_end.as_ref();
    let ended = ended.filter(|ended| run.is_none_or(|run| ended.run == *run));
    match (ended, &conversation.run) {
        (Some(ended), active) if active.as_ref().is_none_or(|active| active.id != ended.run) => {
            Some(RunOutcome::Finished(ended.clone()))
        }
        (_, Some(active)) => {
            let questions: Vec<Question> = active.open_questions().cloned().collect();
            (!questions.is_empty()).then_some(RunOutcome::Parked(questions))
        }
        (_, None) => None,
    }
}

/// Returns whether the entry ends the run, or any run if `run` is `None`.
pub(super) fn finishes_run(run: Option<&RunId>, entry: &Entry) -> bool {
    entry.records.iter().any(|record| match record {
        Record::RunFinished { run: finished, .. } => run.is_none_or(|run| run == finished),
        _ => false,
    })
}

/// Returns whether the entry starts, ends or rejects the run, or any run if `run` is `None`.
pub(crate) fn is_about_run(run: Option<&RunId>, entry: &Entry) -> bool {
    let starts = entry.records.iter().any(|record| match record {
        Record::RunStarted { run: started } => run.is_none_or(|run| run == started),
        _ => false,
    });
    starts || finishes_run(run, entry) || rejection_reason(run, entry).is_some()
}

/// Returns the reason why the prompt of the run was rejected, if the entry rejects it.
pub(super) fn rejection_reason(run: Option<&RunId>, entry: &Entry) -> Option<CommandRejection> {
    let Input::CommandsReceived { messages } = &entry.input else { return None };
    let mine = messages.iter().find(|mail| match &mail.body {
        InboxCommand::Prompt { run: started, .. }
        | InboxCommand::Compact { run: Some(started), .. } => Some(started) == run,
        _ => false,
    })?;
    entry.records.iter().find_map(|record| match record {
        Record::CommandRejected { message, reason } if *message == mine.id => Some(reason.clone()),
        _ => None,
    })
}

/// Returns the run that the entry starts, if it starts one.
pub(super) fn started_run(entry: &Entry) -> Option<&RunId> {
    entry.records.iter().find_map(|record| match record {
        Record::RunStarted { run } => Some(run),
        _ => None,
    })
}
