//! The tools of the run journal. The core answers the calls; the tools only parse and validate
//! them.

mod request;

#[cfg(test)]
#[path = "journal/journal_tests.rs"]
mod journal_tests;

use std::sync::Arc;

use windlass_core::call::call_facts::{
    AnsweredBy, CallFacts, Interruptibility, ProbeSupport, Repeatability,
};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::run::journal::JournalRequest;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::tool_definition::tool_input::problem_facts;

/// One of the tools of the run journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalTool {
    /// `get_run_journal`: returns the whole journal.
    Get,
    /// `update_run_journal`: sets the texts of fields.
    Update,
    /// `append_run_journal_entry`: appends an entry to a list.
    Append,
    /// `edit_run_journal_entry`: changes, resolves, reopens or removes an entry.
    Edit,
}

const UPDATE_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "objective": {"type": "string", "description": "The goal of the work"},
    "current_state": {"type": "string", "description": "The current state of the work"},
    "handoff_next_action": {"type": "string", "description": "The next action if the work stops here"},
    "version": {"type": "integer", "minimum": 0, "description": "The version of the journal you read; the update fails if what it changes was written since"}
  },
  "minProperties": 1,
  "additionalProperties": false
}"#;

const APPEND_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "section": {"enum": ["verified_findings", "decisions", "artifacts", "open_questions", "blockers"]},
    "entry": {"type": "string", "minLength": 1, "description": "One line; a decision with its reason, an artifact as a pointer"}
  },
  "required": ["section", "entry"],
  "additionalProperties": false
}"#;

const EDIT_SCHEMA: &str = r#"{
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

const GET_SCHEMA: &str = r#"{"type": "object", "properties": {}, "additionalProperties": false}"#;

/// The resource key of the journal: calls about it keep their order.
const JOURNAL_KEY: &str = "run-journal";

impl JournalTool {
    /// Returns all tools of the journal.
    #[must_use]
    pub fn all() -> [Self; 4] {
        [Self::Get, Self::Update, Self::Append, Self::Edit]
    }

    /// Returns the tool's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get_run_journal",
            Self::Update => "update_run_journal",
            Self::Append => "append_run_journal_entry",
            Self::Edit => "edit_run_journal_entry",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Get => {
                "Returns the run journal: your working memory, which is kept when the conversation is compacted."
            }
            Self::Update => {
                "Updates the objective, current state or next action of the run journal. Keep them current: the next agent reads them first."
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
            Self::Get => GET_SCHEMA,
            Self::Update => UPDATE_SCHEMA,
            Self::Append => APPEND_SCHEMA,
            Self::Edit => EDIT_SCHEMA,
        }
    }

    fn touched_resources(self) -> TouchedResources {
        let key = vec![Arc::from(JOURNAL_KEY)];
        match self {
            Self::Get => TouchedResources::Reads(key),
            Self::Update | Self::Append | Self::Edit => TouchedResources::Writes(key),
        }
    }

    fn parse_request(self, input: &RawJson) -> Result<JournalRequest, ToolError> {
        match self {
            Self::Get => request::parse_get(input),
            Self::Update => request::parse_update(input),
            Self::Append => request::parse_append(input),
            Self::Edit => request::parse_edit(input),
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
            description: Arc::from(self.description()),
            input_schema: RawJson::parse(self.schema())
                .unwrap_or_else(|_| RawJson::string(self.schema())),
        }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        match self.parse_request(input) {
            Ok(wish) => CallFacts {
                touches: self.touched_resources(),
                repeat: Repeatability::OnceOnly,
                interrupt: Interruptibility::Interruptible,
                probe: ProbeSupport::Unsupported,
                answered_by: AnsweredBy::Journal,
                journal: Some(wish),
                ..CallFacts::default()
            },
            Err(problem) => problem_facts(problem),
        }
    }

    /// Not called in practice: the core answers this call.
    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let error = ToolError::new(
            "no_journal",
            "this conversation has no journal",
            "put what matters into your answer",
        );
        Box::pin(std::future::ready(ToolOutcome::Failed(error)))
    }
}
