//! The tools of the run journal. The conversation itself answers them; the tools only read
//! what is wanted.

mod wish;

#[cfg(test)]
#[path = "journal/journal_tests.rs"]
mod journal_tests;

use std::sync::Arc;

use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::journal::Wish;
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::unfit;

/// One of the tools of the run journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalTool {
    /// `get_run_journal`: all of it.
    Get,
    /// `update_run_journal`: new texts for its fields.
    Update,
    /// `append_run_journal_entry`: one more entry of a list.
    Append,
    /// `edit_run_journal_entry`: an entry is changed, resolved, opened again or removed.
    Edit,
}

const UPDATE: &str = r#"{
  "type": "object",
  "properties": {
    "objective": {"type": "string", "description": "What the work is for"},
    "current_state": {"type": "string", "description": "Where the work is right now"},
    "handoff_next_action": {"type": "string", "description": "What should happen next if it stops here"},
    "version": {"type": "integer", "minimum": 0, "description": "The version of the journal you read; the update fails if what it changes was written since"}
  },
  "minProperties": 1,
  "additionalProperties": false
}"#;

const APPEND: &str = r#"{
  "type": "object",
  "properties": {
    "section": {"enum": ["verified_findings", "decisions", "artifacts", "open_questions", "blockers"]},
    "entry": {"type": "string", "minLength": 1, "description": "One line; a decision with its reason, an artifact as a pointer"}
  },
  "required": ["section", "entry"],
  "additionalProperties": false
}"#;

const EDIT: &str = r#"{
  "type": "object",
  "properties": {
    "entry": {"type": "integer", "minimum": 1, "description": "The number of the entry, as the journal shows it"},
    "action": {"enum": ["change", "resolve", "reopen", "remove"]},
    "text": {"type": "string", "minLength": 1, "description": "The new text, for change"},
    "version": {"type": "integer", "minimum": 0, "description": "The version of the journal you read"}
  },
  "required": ["entry", "action", "version"],
  "additionalProperties": false
}"#;

const GET: &str = r#"{"type": "object", "properties": {}, "additionalProperties": false}"#;

/// Two calls about the journal keep their order.
const KEY: &str = "run-journal";

impl JournalTool {
    /// All of them.
    #[must_use]
    pub fn all() -> [Self; 4] {
        [Self::Get, Self::Update, Self::Append, Self::Edit]
    }

    /// The name it is called by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get_run_journal",
            Self::Update => "update_run_journal",
            Self::Append => "append_run_journal_entry",
            Self::Edit => "edit_run_journal_entry",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Get => {
                "Reads the run journal: your working memory, which outlives the conversation."
            }
            Self::Update => {
                "Writes objective, current state or next action of the run journal. Keep them true: \
                 whoever goes on with this work reads them first."
            }
            Self::Append => {
                "Adds an entry to a list of the run journal: a finding that was verified, a decision \
                 with its reason, an artifact, an open question, a blocker."
            }
            Self::Edit => {
                "Changes, resolves, reopens or removes an entry of the run journal. Resolve blockers \
                 and questions when they are settled. Fails if the entry was written after the \
                 version you read."
            }
        }
    }

    fn schema(self) -> &'static str {
        match self {
            Self::Get => GET,
            Self::Update => UPDATE,
            Self::Append => APPEND,
            Self::Edit => EDIT,
        }
    }

    fn touches(self) -> Touches {
        let key = vec![Arc::from(KEY)];
        match self {
            Self::Get => Touches::Reads(key),
            Self::Update | Self::Append | Self::Edit => Touches::Writes(key),
        }
    }

    fn wish(self, input: &Raw) -> Result<Wish, ToolError> {
        match self {
            Self::Get => wish::read(input),
            Self::Update => wish::update(input),
            Self::Append => wish::append(input),
            Self::Edit => wish::edit(input),
        }
    }
}

impl Tool for JournalTool {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(self.name()),
            description: Arc::from(self.about()),
            input_schema: Raw::parse(self.schema()).unwrap_or_else(|_| Raw::string(self.schema())),
        }
    }

    fn assess(&self, input: &Raw) -> Facts {
        match self.wish(input) {
            Ok(wish) => Facts {
                touches: self.touches(),
                repeat: Repeat::OnceOnly,
                interrupt: Interrupt::Interruptible,
                verify: Verify::CannotTell,
                answered_by: AnsweredBy::Journal,
                journal: Some(wish),
                ..Facts::default()
            },
            Err(problem) => unfit(problem),
        }
    }

    /// Never called where the facts are honoured: the conversation answers.
    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let error = ToolError::new(
            "no_journal",
            "this conversation keeps no journal",
            "write what matters into your answer",
        );
        Box::pin(std::future::ready(Outcome::Failed(error)))
    }
}
