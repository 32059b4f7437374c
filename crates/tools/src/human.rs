//! Asking a person. The core turns the call into a question and parks the run; the tool only says
//! what a good question is.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::{AnsweredBy, Facts};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::{self, Input, unfit};
use crate::limits::{MAX_CHOICES, MAX_QUESTIONS};
use crate::offer::offer;

/// `AskUserQuestion`: one or a few questions, each with choices if they help.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskUserQuestion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Questions {
    /// One to four questions
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<Question>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The question, complete in itself
    #[schemars(length(min = 1))]
    question: String,
    /// A word or two to head it
    #[serde(rename = "header")]
    _header: Option<String>,
    /// Whether several choices may be taken
    #[serde(rename = "multiSelect")]
    _multi_select: Option<bool>,
    /// Answers to choose from, if they help
    #[serde(default)]
    #[schemars(length(max = 8))]
    options: Vec<Choice>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// The answer in a few words
    #[schemars(length(min = 1))]
    label: String,
    /// What it means
    #[serde(rename = "description")]
    _description: Option<String>,
}

impl Input for Questions {
    fn problem(&self) -> Option<String> {
        if self.questions.is_empty() || self.questions.len() > MAX_QUESTIONS {
            return Some(format!("ask between 1 and {MAX_QUESTIONS} questions at once"));
        }
        self.questions.iter().find_map(Question::problem)
    }
}

impl Questions {
    fn text(&self) -> String {
        let texts: Vec<&str> = self.questions.iter().map(|q| q.question.trim()).collect();
        texts.join(" / ")
    }

    fn facts(&self) -> Facts {
        // A question changes nothing: it need not wait for others, nor they for it.
        Facts { answered_by: AnsweredBy::Human, ..input::looks(Vec::new(), &self.text()) }
    }
}

impl Question {
    fn problem(&self) -> Option<String> {
        let is_blank = |text: &str| text.trim().is_empty();
        if is_blank(&self.question) || self.options.iter().any(|choice| is_blank(&choice.label)) {
            return Some("a question and each of its choices needs words".to_owned());
        }
        (self.options.len() > MAX_CHOICES)
            .then(|| format!("offer at most {MAX_CHOICES} choices with a question"))
    }
}

impl Tool for AskUserQuestion {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        offer::<Questions>(
            "AskUserQuestion",
            "Asks the user and waits for the answer. Use it when only the user can decide.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        input::read(input).map_or_else(unfit, |questions: Questions| questions.facts())
    }

    /// Never called where the facts are honoured: the answer is a person's.
    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let error = ToolError::new(
            "nobody_to_ask",
            "this question was not put to a person",
            "go on without the answer and say which choice you made",
        );
        Box::pin(std::future::ready(Outcome::Failed(error)))
    }
}
