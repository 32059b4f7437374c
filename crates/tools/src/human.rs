//! Asking a person. The core turns the call into a question and parks the run; the tool only says
//! what a good question is.

use std::sync::Arc;

use serde::Deserialize;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::{self, invalid, unfit};
use crate::limits::{MAX_CHOICES, MAX_QUESTIONS, TIMEOUT_MS};

/// `AskUserQuestion`: one or a few questions, each with choices if they help.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskUserQuestion;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "questions": {
      "type": "array",
      "minItems": 1,
      "maxItems": 4,
      "items": {
        "type": "object",
        "properties": {
          "question": {"type": "string", "minLength": 1, "description": "The question, complete in itself"},
          "header": {"type": "string", "description": "A word or two to head it"},
          "multiSelect": {"type": "boolean", "description": "Whether several choices may be taken"},
          "options": {
            "type": "array",
            "maxItems": 8,
            "items": {
              "type": "object",
              "properties": {
                "label": {"type": "string", "minLength": 1},
                "description": {"type": "string"}
              },
              "required": ["label"],
              "additionalProperties": false
            }
          }
        },
        "required": ["question"],
        "additionalProperties": false
      }
    }
  },
  "required": ["questions"],
  "additionalProperties": false
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Questions {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    question: String,
    #[serde(default, rename = "header")]
    _header: Option<String>,
    #[serde(default, rename = "multiSelect")]
    _multi_select: Option<bool>,
    #[serde(default)]
    options: Vec<Choice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    label: String,
    #[serde(default, rename = "description")]
    _description: Option<String>,
}

impl Questions {
    fn read(input: &Raw) -> Result<Self, ToolError> {
        let questions: Self = input::read(input)?;
        questions.check()?;
        Ok(questions)
    }

    fn check(&self) -> Result<(), ToolError> {
        if self.questions.is_empty() || self.questions.len() > MAX_QUESTIONS {
            return Err(invalid(&format!("ask between 1 and {MAX_QUESTIONS} questions at once")));
        }
        self.questions.iter().try_for_each(Question::check)
    }

    fn text(&self) -> String {
        let texts: Vec<&str> = self.questions.iter().map(|q| q.question.trim()).collect();
        texts.join(" / ")
    }
}

impl Question {
    fn check(&self) -> Result<(), ToolError> {
        let is_blank = |text: &str| text.trim().is_empty();
        if is_blank(&self.question) || self.options.iter().any(|choice| is_blank(&choice.label)) {
            return Err(invalid("a question and each of its choices needs words"));
        }
        if self.options.len() > MAX_CHOICES {
            return Err(invalid(&format!("offer at most {MAX_CHOICES} choices with a question")));
        }
        Ok(())
    }
}

impl Tool for AskUserQuestion {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("AskUserQuestion"),
            description: Arc::from(
                "Asks the user and waits for the answer. Use it when only the user can decide.",
            ),
            input_schema: Raw::parse(SCHEMA).unwrap_or_else(|_| Raw::string(SCHEMA)),
        }
    }

    fn assess(&self, input: &Raw) -> Facts {
        let questions = match Questions::read(input) {
            Ok(questions) => questions,
            Err(problem) => return unfit(problem),
        };
        Facts {
            // A question changes nothing: it need not wait for others, nor they for it.
            touches: Touches::Reads(Vec::new()),
            repeat: Repeat::Repeatable,
            interrupt: Interrupt::Interruptible,
            verify: Verify::CannotTell,
            answered_by: AnsweredBy::Human,
            timeout_ms: TIMEOUT_MS,
            problem: None,
            summary: Some(input::summary(&questions.text())),
            ..Facts::default()
        }
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
