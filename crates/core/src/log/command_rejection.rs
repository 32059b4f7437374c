//! Why a command was rejected, as a code. Front ends turn it into a sentence.

use serde::{Deserialize, Serialize};

use crate::call::input_form::FormProblem;
use crate::log::ids::QuestionId;
use crate::log::inbox::AnswerKind;

/// Why a command changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandRejection {
    /// The prompt or steering message is empty.
    EmptyPrompt,
    /// A run with this id exists already.
    RunIdInUse,
    /// Too many prompts are queued.
    TooManyPrompts,
    /// Too many steering messages are waiting.
    TooManySteers,
    /// No run waits for this child run.
    ChildNotAwaited,
    /// The task of a child run is empty.
    EmptyTask,
    /// The child run has its task already.
    TaskAlreadyAssigned,
    /// The instructions are empty.
    EmptyInstructions,
    /// Too many instructions are waiting.
    TooManyInstructions,
    /// No message is old enough to be removed by a compaction.
    NothingToCompact,
    /// The run is stopping already.
    AlreadyStopping,
    /// No such run is active or queued.
    NoSuchRun,
    /// The question is not open: it was answered, or its run ended.
    QuestionNotOpen,
    /// The question has expired; its call is not run.
    QuestionExpired,
    /// The run is cancelled by a command that was received together with the approval.
    RunCancelled,
    /// The question does not accept this kind of answer.
    AnswerNotAccepted {
        /// The question.
        question: QuestionId,
        /// The answers that it accepts.
        accepted: Vec<AnswerKind>,
    },
    /// The answer does not fill in the form of the question.
    FormNotFilled {
        /// The question.
        question: QuestionId,
        /// What is wrong with it.
        problem: FormProblem,
    },
    /// Another input was approved than the call has.
    InputChanged,
    /// The command changes nothing.
    NothingToChange,
    /// The changed input was not assessed by the owner of the lane.
    InputNotAssessed,
    /// The conversation would have too many rules or folders.
    TooManyPermissions,
    /// A folder is not an absolute path.
    FolderNotAbsolute,
    /// A budget in dollars cannot be enforced with the model: its price is unknown.
    PriceUnknown,
    /// A run is active or queued.
    RunNotFinished,
    /// No message would be left.
    EmptyHistory,
}

impl CommandRejection {
    /// Returns the code, as the log has it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::EmptyPrompt => "empty_prompt",
            Self::RunIdInUse => "run_id_in_use",
            Self::TooManyPrompts => "too_many_prompts",
            Self::TooManySteers => "too_many_steers",
            Self::ChildNotAwaited => "child_not_awaited",
            Self::EmptyTask => "empty_task",
            Self::TaskAlreadyAssigned => "task_already_assigned",
            Self::EmptyInstructions => "empty_instructions",
            Self::TooManyInstructions => "too_many_instructions",
            Self::NothingToCompact => "nothing_to_compact",
            Self::AlreadyStopping => "already_stopping",
            Self::NoSuchRun => "no_such_run",
            Self::QuestionNotOpen => "question_not_open",
            Self::QuestionExpired => "question_expired",
            Self::RunCancelled => "run_cancelled",
            Self::AnswerNotAccepted { .. } => "answer_not_accepted",
            Self::FormNotFilled { .. } => "form_not_filled",
            Self::InputChanged => "input_changed",
            Self::NothingToChange => "nothing_to_change",
            Self::InputNotAssessed => "input_not_assessed",
            Self::TooManyPermissions => "too_many_permissions",
            Self::FolderNotAbsolute => "folder_not_absolute",
            Self::PriceUnknown => "price_unknown",
            Self::RunNotFinished => "run_not_finished",
            Self::EmptyHistory => "empty_history",
        }
    }
}
