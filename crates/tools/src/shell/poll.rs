//! `BashOutput`: what a command in the background printed since the last look.

use std::sync::Arc;

use grep_matcher::Matcher;
use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::Facts;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::background::Shell;
use super::report;
use crate::input::{self, Input, unfit};
use crate::offer::offer;
use crate::workplace::Workplace;

/// Looks at commands in the background.
#[derive(Debug, Clone)]
pub struct BashOutput {
    workplace: Workplace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The name that Bash gave the command
    #[schemars(length(min = 1))]
    bash_id: String,
    /// A regular expression: only lines that match are shown, the others are passed over for good
    filter: Option<String>,
}

impl Input for Asked {}

impl BashOutput {
    /// Looks at the commands that were started in `workplace`.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }

    fn look(&self, context: &CallContext, input: &Raw) -> Result<Raw, ToolError> {
        let asked: Asked = input::read(input)?;
        let shell = self.workplace.shell(&context.lane, &asked.bash_id)?;
        let filter = asked.filter.as_deref().map(crate::search::lines).transpose()?;
        let state = state(&shell);
        let bytes = shell.read_on().map_err(|error| unreadable(&error))?;
        let text = match filter {
            Some(filter) => bytes
                .split_inclusive(|byte| *byte == b'\n')
                .filter(|line| filter.is_match(line).unwrap_or(false))
                .map(String::from_utf8_lossy)
                .collect(),
            None => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let said = if text.is_empty() { "(nothing new)\n".to_owned() } else { text };
        Ok(Raw::string(&format!("[{state}]\n{said}")))
    }
}

/// What has become of a command.
fn state(shell: &Shell) -> String {
    shell.with_end(|ended| match ended {
        None => "running".to_owned(),
        Some(Ok(ended)) => report::state(ended),
        Some(Err(error)) => format!("could not be started: {error}"),
    })
}

fn unreadable(error: &std::io::Error) -> ToolError {
    ToolError::new(
        "read_failed",
        &format!("the output cannot be read: {error}"),
        "start the command again, sending its output to a file",
    )
}

impl Tool for BashOutput {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "BashOutput",
            "Shows what a command in the background has printed since the last look, and whether \
             it still runs.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        let facts = |asked: Asked| {
            let key: Arc<str> = Arc::from(format!("shell:{}", asked.bash_id));
            input::looks(vec![key], &asked.bash_id)
        };
        input::read(input).map_or_else(unfit, facts)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let found = self.look(&context, &input);
        let outcome = found.map_or_else(Outcome::Failed, Outcome::Done);
        Box::pin(std::future::ready(outcome))
    }
}
