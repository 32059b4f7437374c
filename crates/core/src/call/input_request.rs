//! What a tool asks the user in the middle of a call: a form to fill in, or a page to open.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::input_form::{FormProblem, InputForm};
use crate::log::human_answer::HumanAnswer;
use crate::message::raw_json::RawJson;

/// How often one call may ask the user.
pub const MAX_REQUESTS: usize = 16;

/// A request of a tool to the user.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InputRequest {
    /// Who asks, such as a server.
    pub from: Arc<str>,
    /// The question, in the words of the tool.
    pub message: Arc<str>,
    /// What the user is asked for.
    pub wants: RequestedInput,
}

/// What the user is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedInput {
    /// Values of a form.
    Form {
        /// The JSON Schema of the form: one object whose properties are plain values.
        schema: RawJson,
    },
    /// To open a page, where everything else is asked: what is typed there is not seen here.
    Page {
        /// The address of the page.
        url: Arc<str>,
    },
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestAnswer {
    /// The user agrees, with the values of the form.
    Accepted {
        /// The values, as one JSON object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<RawJson>,
    },
    /// The user refuses.
    Declined {},
}

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AnsweredRequest {
    /// The request.
    pub request: InputRequest,
    /// The answer.
    pub answer: RequestAnswer,
}

impl InputRequest {
    /// Returns the form, if there is one to fill in.
    #[must_use]
    pub fn form(&self) -> Option<InputForm> {
        match &self.wants {
            RequestedInput::Form { schema } => Some(InputForm::parse(schema)),
            RequestedInput::Page { .. } => None,
        }
    }

    /// Returns the request accepted with the values of an answer; values that it does not give are
    /// the defaults.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the values.
    pub fn accept(&self, answer: &HumanAnswer) -> Result<RequestAnswer, FormProblem> {
        let text = if let HumanAnswer::Text { text } = answer { text } else { "" };
        let content = self.form().map(|form| form.fill_in(text)).transpose()?;
        Ok(RequestAnswer::Accepted { content })
    }

    /// Returns the answer where no human can be asked: the defaults, if they are enough.
    #[must_use]
    pub fn unattended_answer(&self) -> RequestAnswer {
        let filled = self.form().and_then(|form| form.fill_in("").ok());
        match filled {
            Some(content) => RequestAnswer::Accepted { content: Some(content) },
            None => RequestAnswer::Declined {},
        }
    }
}

impl RequestAnswer {
    /// Returns the answer of a human to a request; `None` if it does not fit.
    #[must_use]
    pub fn from_human(request: &InputRequest, answer: &HumanAnswer) -> Option<Self> {
        match answer {
            HumanAnswer::Text { .. } | HumanAnswer::Continue {} => request.accept(answer).ok(),
            HumanAnswer::Deny { .. } => Some(Self::Declined {}),
            HumanAnswer::Allow { .. }
            | HumanAnswer::Retry {}
            | HumanAnswer::MarkDone { .. }
            | HumanAnswer::Abandon {} => None,
        }
    }
}
