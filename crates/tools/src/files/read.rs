//! `Read`: a page of a text file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::order::Touches;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::page::{self, Wanted};
use super::{open, path};
use crate::input::{self, invalid, unfit};
use crate::limits::{PAGE_LINES, TIMEOUT_MS};

/// Reads text files, a page at a time.
#[derive(Debug, Clone)]
pub struct Read {
    workspace: PathBuf,
}

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "minLength": 1, "description": "The file: absolute, or relative to the workspace"},
    "offset": {"type": "integer", "minimum": 1, "description": "The first line, counted from 1"},
    "limit": {"type": "integer", "minimum": 1, "description": "How many lines at most; 2000 if left out"}
  },
  "required": ["file_path"],
  "additionalProperties": false
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

impl Input {
    fn read(input: &Raw) -> Result<Self, ToolError> {
        let read: Self = input::read(input)?;
        match read.problem() {
            Some(problem) => Err(invalid(problem)),
            None => Ok(read),
        }
    }

    fn problem(&self) -> Option<&'static str> {
        match (self.offset, self.limit) {
            _ if self.file_path.is_empty() => Some("the file_path is empty"),
            _ if self.file_path.contains('\0') => Some("the file_path holds a NUL byte"),
            (Some(0), _) => Some("the offset is 0, and lines are counted from 1"),
            (_, Some(0)) => Some("the limit is 0"),
            _ => None,
        }
    }

    fn wanted(&self) -> Wanted {
        Wanted { first: self.offset.unwrap_or(1), count: self.limit.unwrap_or(PAGE_LINES) }
    }
}

impl Read {
    /// Reads files; paths that are not absolute begin in `workspace`.
    #[must_use]
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self { workspace: workspace.into() }
    }

    fn path(&self, input: &Input) -> PathBuf {
        path::absolute(&self.workspace, Path::new(&input.file_path))
    }

    fn facts(&self, input: &Input) -> Facts {
        Facts {
            touches: Touches::Reads(path::keys(&self.path(input))),
            repeat: Repeat::Repeatable,
            interrupt: Interrupt::Interruptible,
            verify: Verify::CannotTell,
            answered_by: AnsweredBy::Tool,
            timeout_ms: TIMEOUT_MS,
            problem: None,
            summary: Some(input::summary(&input.file_path)),
            ..Facts::default()
        }
    }

    async fn outcome(&self, input: Raw) -> Outcome {
        let (path, wanted) = match Input::read(&input) {
            Ok(input) => (self.path(&input), input.wanted()),
            Err(problem) => return Outcome::Failed(problem),
        };
        let shown = path.clone();
        let work = move || open::regular(&path).and_then(|file| page::read(file, &path, wanted));
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(page)) => Outcome::Done(Raw::string(&page)),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(broken) => Outcome::Failed(open::refused(&shown, &broken.into())),
        }
    }
}

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("Read"),
            description: Arc::from(
                "Reads a text file and returns its lines with their numbers. \
                 A long file comes in pages: go on with offset.",
            ),
            input_schema: Raw::parse(SCHEMA).unwrap_or_else(|_| Raw::string(SCHEMA)),
        }
    }

    fn assess(&self, input: &Raw) -> Facts {
        Input::read(input).map_or_else(unfit, |input| self.facts(&input))
    }

    fn run(&self, _context: CallContext, input: Raw) -> Task<'_, Outcome> {
        Box::pin(self.outcome(input))
    }
}
