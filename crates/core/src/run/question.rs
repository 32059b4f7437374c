//! Questions to a human: approval of a call, guidance, budget. A run with an open question and
//! nothing in flight is parked: it holds no task, timer or memory, and the answer arrives in the
//! inbox.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::input_form::FormProblem;
use crate::call::input_request::InputRequest;
use crate::log::ids::{CallId, QuestionId, UnixMillis};
use crate::log::inbox::{AnswerKind, HumanAnswer};
use crate::stop::StopCause;

/// An open question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Question {
    /// Id of the question; an answer names it, so a late or second answer matches nothing.
    pub id: QuestionId,
    /// What the question is about.
    pub kind: QuestionKind,
    /// When an approval question expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMillis>,
}

impl Question {
    /// Creates a question that does not expire.
    #[must_use]
    pub fn new(id: QuestionId, kind: QuestionKind) -> Self {
        Self { id, kind, expires_at: None }
    }

    /// Returns whether an answer at this time is too late.
    #[must_use]
    pub fn is_expired(&self, at: UnixMillis) -> bool {
        self.expires_at.is_some_and(|expiry| at >= expiry)
    }
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Approval: may this call run?
    Approval {
        /// The call.
        call: CallId,
    },
    /// Did this call take effect before the process died?
    Uncertain {
        /// The call.
        call: CallId,
    },
    /// The model asks a question through a tool.
    ModelQuestion {
        /// The call.
        call: CallId,
    },
    /// A tool, such as that of a server, asks the user in the middle of a call.
    ToolRequest {
        /// The call.
        call: CallId,
        /// What it asks for.
        request: InputRequest,
    },
    /// Approval of a plan: may the work start as it says?
    Plan {
        /// The call that presents the plan.
        call: CallId,
        /// The plan, in Markdown.
        plan: Arc<str>,
    },
    /// The run is stuck in a loop, or loses its context: a human says how to continue.
    Guidance {
        /// Text of the question.
        question: Arc<str>,
        /// The answer that the run ends with if the human stops it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suspect_answer: Option<SuspectAnswer>,
    },
    /// A cap is reached: may it be spent once more?
    Budget {
        /// The cap that was reached.
        cap: StopCause,
    },
    /// The prompt or the tools changed during the run.
    PromptChanged {
        /// What changed.
        changes: Arc<str>,
    },
}

/// A complete answer that something speaks against.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SuspectAnswer {
    /// How the run ends with the answer.
    pub cause: StopCause,
    /// Why the answer is suspect.
    pub reason: Arc<str>,
}

impl QuestionKind {
    /// Creates a question how to continue, without a suspect answer.
    #[must_use]
    pub fn guidance(question: &str) -> Self {
        Self::Guidance { question: Arc::from(question), suspect_answer: None }
    }

    /// Returns the call that the question is about, if any.
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::Approval { call }
            | Self::Uncertain { call }
            | Self::ModelQuestion { call }
            | Self::ToolRequest { call, .. }
            | Self::Plan { call, .. } => Some(*call),
            Self::Guidance { .. } | Self::Budget { .. } | Self::PromptChanged { .. } => None,
        }
    }

    /// Returns whether the question accepts `answer`.
    #[must_use]
    pub fn accepts(&self, answer: &HumanAnswer) -> bool {
        let runs_changed =
            matches!(self, Self::Uncertain { .. }) && answer.changed_input().is_some();
        runs_changed || self.accepted_answers().contains(&answer.kind())
    }

    /// Returns what keeps an answer from filling in the form of the question, if it has one.
    #[must_use]
    pub fn find_form_problem(&self, answer: &HumanAnswer) -> Option<FormProblem> {
        match (self, answer) {
            (
                Self::ToolRequest { request, .. },
                HumanAnswer::Text { .. } | HumanAnswer::Continue {},
            ) => request.accept(answer).err(),
            _ => None,
        }
    }

    /// Returns the answers that the question accepts.
    #[must_use]
    pub fn accepted_answers(&self) -> &'static [AnswerKind] {
        use AnswerKind::{Abandon, Allow, Continue, Deny, MarkDone, Retry, Text};
        match self {
            Self::Approval { .. } => &[Allow, Deny],
            Self::Uncertain { .. } => &[Retry, MarkDone, Abandon],
            Self::ModelQuestion { .. } => &[Text, Deny],
            Self::ToolRequest { .. } => &[Text, Continue, Deny],
            Self::Plan { .. } => &[Allow, Continue, Deny],
            Self::Guidance { .. } => &[Text, Continue, Abandon],
            Self::Budget { .. } | Self::PromptChanged { .. } => &[Continue, Abandon],
        }
    }
}
