//! Sentences for the codes of the core: rejected commands, abandoned model calls, answers.

use windlass::core::log::command_rejection::CommandRejection;
use windlass::core::log::inbox::AnswerKind;
use windlass::core::log::record::AbandonCause;
use windlass::core::run::question::QuestionKind;

/// Why a command was rejected: a clause that says what to do.
pub(crate) fn command_rejection(reason: &CommandRejection) -> String {
    let text = match reason {
        CommandRejection::EmptyPrompt => "the prompt is empty; describe the task",
        CommandRejection::RunIdInUse => "a run with this id exists already; use a new id",
        CommandRejection::TooManyPrompts => {
            "too many prompts are queued; send it again when some have ended"
        }
        CommandRejection::TooManySteers => {
            "too many steering messages are waiting; send it again after the round"
        }
        CommandRejection::ChildNotAwaited => "no run waits for this child run",
        CommandRejection::EmptyTask => "the task is empty; describe it",
        CommandRejection::TaskAlreadyAssigned => "this child run has its task already",
        CommandRejection::EmptyInstructions => "the instructions are empty",
        CommandRejection::TooManyInstructions => {
            "too many instructions are waiting; send them again after the round"
        }
        CommandRejection::NothingToCompact => "no message is old enough to be removed",
        CommandRejection::AlreadyStopping => "the run is stopping already",
        CommandRejection::NoSuchRun => "no such run is active or queued",
        CommandRejection::QuestionNotOpen => {
            "the question is not open; it was answered or its run ended"
        }
        CommandRejection::QuestionExpired => "the question has expired; the call is not run",
        CommandRejection::RunCancelled => "the run was cancelled meanwhile; the call is not run",
        CommandRejection::AnswerNotAccepted { question, accepted } => {
            return format!("question {question} accepts {}", answer_list(accepted));
        }
        CommandRejection::FormNotFilled { problem, .. } => return super::form_problem(problem),
        CommandRejection::InputChanged => {
            "the call has another input than the one that was approved; review it again"
        }
        CommandRejection::NothingToChange => "the command names nothing that changes",
        CommandRejection::InputNotAssessed => {
            "the changed input could not be assessed; answer again"
        }
        CommandRejection::TooManyPermissions => {
            "the conversation would have too many rules or folders; use fewer, broader ones"
        }
        CommandRejection::FolderNotAbsolute => "a folder is not an absolute path; give it in full",
        CommandRejection::PriceUnknown => {
            "the price of the model is unknown, and the run has a budget in dollars; use a model \
             with a known price"
        }
        CommandRejection::RunNotFinished => {
            "a run of the conversation is not finished; cancel it, or wait for its end"
        }
        CommandRejection::EmptyHistory => "no message would be left; start a new conversation",
    };
    text.to_owned()
}

/// Why a model call was abandoned.
pub(crate) fn abandon_cause(cause: &AbandonCause) -> &str {
    match cause {
        AbandonCause::OwnerEnded => "its process ended",
        AbandonCause::Cancelled => "the run was aborted",
        AbandonCause::TimeLimit => "the time limit of the run was reached",
        AbandonCause::Failed(message) => message,
    }
}

/// The answers that a question accepts, as the command line takes them.
pub(crate) fn accepted_answers(kind: &QuestionKind) -> String {
    let list = answer_list(kind.accepted_answers());
    match kind {
        QuestionKind::Plan { .. } => list.replace("continue", "continue (edits are accepted too)"),
        QuestionKind::Approval { .. }
        | QuestionKind::Uncertain { .. }
        | QuestionKind::ModelQuestion { .. }
        | QuestionKind::ToolRequest { .. }
        | QuestionKind::Guidance { .. }
        | QuestionKind::Budget { .. }
        | QuestionKind::PromptChanged { .. } => list,
    }
}

/// The words of `windlass answer` for these kinds of answers.
pub(crate) fn answer_words(accepted: &[AnswerKind]) -> Vec<&'static str> {
    accepted.iter().map(|kind| answer_word(*kind)).collect()
}

fn answer_list(accepted: &[AnswerKind]) -> String {
    let words: Vec<&str> = accepted
        .iter()
        .map(|kind| match kind {
            AnswerKind::Text => "text \"…\"",
            AnswerKind::Allow
            | AnswerKind::Deny
            | AnswerKind::Retry
            | AnswerKind::MarkDone
            | AnswerKind::Abandon
            | AnswerKind::Continue => answer_word(*kind),
        })
        .collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

fn answer_word(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Allow => "allow",
        AnswerKind::Deny => "deny",
        AnswerKind::Retry => "retry",
        AnswerKind::MarkDone => "mark-done",
        AnswerKind::Abandon => "abandon",
        AnswerKind::Continue => "continue",
        AnswerKind::Text => "text",
    }
}
