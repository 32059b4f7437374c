//! `AskUserQuestion`: asks the human. The core turns the call into a question and parks the run;
//! the tool only validates the questions.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::{AnsweredBy, CallFacts};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::limits::{MAX_CHOICES, MAX_QUESTIONS};
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// `AskUserQuestionTool`: one or a few questions, each with choices if they help.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskUserQuestionTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskUserQuestionInput {
    /// One to four questions
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<UserQuestion>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UserQuestion {
    /// The question, self-contained
    #[schemars(length(min = 1))]
    question: String,
    /// A heading of one or two words
    #[serde(rename = "header")]
    _header: Option<String>,
    /// Whether several options may be chosen
    #[serde(rename = "multiSelect")]
    _multi_select: Option<bool>,
    /// Options to choose from, if they help
    #[serde(default)]
    #[schemars(length(max = 8))]
    options: Vec<QuestionOption>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionOption {
    /// The option in a few words
    #[schemars(length(min = 1))]
    label: String,
    /// What it means
    #[serde(rename = "description")]
    _description: Option<String>,
}

impl ToolInput for AskUserQuestionInput {
    fn validation_error(&self) -> Option<String> {
        if self.questions.is_empty() || self.questions.len() > MAX_QUESTIONS {
            return Some(format!("ask between 1 and {MAX_QUESTIONS} questions at once"));
        }
        self.questions.iter().find_map(UserQuestion::validation_error)
    }
}

impl AskUserQuestionInput {
    fn joined_questions(&self) -> String {
        let texts: Vec<&str> = self.questions.iter().map(|q| q.question.trim()).collect();
        texts.join(" / ")
    }

    fn call_facts(&self) -> CallFacts {
        // A question changes nothing, so it may run concurrently with other calls.
        CallFacts {
            answered_by: AnsweredBy::Human,
            ..tool_input::read_only_facts(Vec::new(), &self.joined_questions())
        }
    }
}

impl UserQuestion {
    fn validation_error(&self) -> Option<String> {
        let is_blank = |text: &str| text.trim().is_empty();
        if is_blank(&self.question) || self.options.iter().any(|choice| is_blank(&choice.label)) {
            return Some("a question and each of its options must not be empty".to_owned());
        }
        (self.options.len() > MAX_CHOICES)
            .then(|| format!("offer at most {MAX_CHOICES} options per question"))
    }
}

impl Tool for AskUserQuestionTool {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        tool_spec::<AskUserQuestionInput>(
            "AskUserQuestion",
            "Asks the user and waits for the answer. Use it when only the user can decide.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        tool_input::read_input(input)
            .map_or_else(problem_facts, |questions: AskUserQuestionInput| questions.call_facts())
    }

    /// Not called in practice: the core answers this call with the human's answer.
    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let error = ToolError::new(
            "no_human_available",
            "no human was asked",
            "continue without the answer and state the choice you made",
        );
        Box::pin(std::future::ready(ToolOutcome::Failed(error)))
    }
}
