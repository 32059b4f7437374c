//! Questions to a human. A run with an open question and nothing in the air is parked: it holds no
//! task, no timer and no memory, and the answer arrives as mail.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{CallId, Millis, QuestionId};
use crate::mail::Answer;
use crate::stop::StopCause;

/// An open question.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Question {
    /// Its number; an answer names it, so a late or second answer finds nothing.
    pub id: QuestionId,
    /// What it is about.
    pub about: About,
    /// From when on an approval comes too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

impl Question {
    /// A question that waits for as long as it takes.
    #[must_use]
    pub fn new(id: QuestionId, about: About) -> Self {
        Self { id, about, expires_at: None }
    }

    /// Whether an answer at this time comes too late.
    #[must_use]
    pub fn is_expired(&self, at: Millis) -> bool {
        self.expires_at.is_some_and(|expiry| at >= expiry)
    }
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// May this call run?
    Approval {
        /// The call.
        call: CallId,
    },
    /// Did this call take effect before the process died?
    Uncertain {
        /// The call.
        call: CallId,
    },
    /// The model asks through a tool.
    Asking {
        /// The call.
        call: CallId,
    },
    /// May the work begin as this plan says?
    Plan {
        /// The call that presents it.
        call: CallId,
        /// The plan, in Markdown.
        plan: Arc<str>,
    },
    /// The run goes in circles, or loses its context: a human says how to go on.
    Guidance {
        /// The question, in words.
        question: Arc<str>,
        /// The answer that the run ends with if the person says that it is to stop.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<KeptAnswer>,
    },
    /// A cap is reached: may as much again be spent?
    Budget {
        /// Which cap.
        cap: StopCause,
    },
    /// The prompt or the tools changed in the middle of the run.
    Drift {
        /// What changed.
        what: Arc<str>,
    },
}

/// A complete answer that something speaks against.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// How the run ends with it.
    pub cause: StopCause,
    /// What speaks against it.
    pub suspect: Arc<str>,
}

impl About {
    /// A question how to go on, without an answer to fall back on.
    #[must_use]
    pub fn guidance(question: &str) -> Self {
        Self::Guidance { question: Arc::from(question), answer: None }
    }

    /// The call it is about, if it is about one.
    #[must_use]
    pub fn call(&self) -> Option<CallId> {
        match self {
            Self::Approval { call }
            | Self::Uncertain { call }
            | Self::Asking { call }
            | Self::Plan { call, .. } => Some(*call),
            Self::Guidance { .. } | Self::Budget { .. } | Self::Drift { .. } => None,
        }
    }

    /// Whether `answer` is one this question takes.
    #[must_use]
    pub fn takes(&self, answer: &Answer) -> bool {
        match self {
            Self::Approval { .. } => {
                matches!(answer, Answer::Allow { .. } | Answer::Deny { .. })
            }
            Self::Uncertain { .. } => {
                matches!(answer, Answer::Retry {} | Answer::MarkDone { .. } | Answer::Abandon {})
            }
            Self::Asking { .. } => matches!(answer, Answer::Text { .. } | Answer::Deny { .. }),
            Self::Plan { .. } => {
                matches!(answer, Answer::Allow { .. } | Answer::Continue {} | Answer::Deny { .. })
            }
            Self::Guidance { .. } => {
                matches!(answer, Answer::Text { .. } | Answer::Continue {} | Answer::Abandon {})
            }
            Self::Budget { .. } | Self::Drift { .. } => {
                matches!(answer, Answer::Continue {} | Answer::Abandon {})
            }
        }
    }

    /// The answers it takes, for whoever gave another.
    #[must_use]
    pub fn choices(&self) -> &'static str {
        match self {
            Self::Approval { .. } => "allow or deny",
            Self::Uncertain { .. } => "retry, mark-done or abandon",
            Self::Asking { .. } => "text \"…\" or deny",
            Self::Plan { .. } => "allow, continue (edits are accepted too) or deny",
            Self::Guidance { .. } => "text \"…\", continue or abandon",
            Self::Budget { .. } | Self::Drift { .. } => "continue or abandon",
        }
    }
}
