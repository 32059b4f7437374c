//! `KillShell`: the end of a command in the background.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::{Facts, Repeat};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::{self, Input, unfit};
use crate::limits::{ENDING_MS, POLL_MS};
use crate::offer::offer;
use crate::workplace::Workplace;

/// Ends commands in the background.
#[derive(Debug, Clone)]
pub struct KillShell {
    workplace: Workplace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The name that Bash gave the command
    #[schemars(length(min = 1))]
    shell_id: String,
}

impl Input for Asked {}

impl KillShell {
    /// Ends commands that were started in `workplace`.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }

    async fn end(&self, context: CallContext, input: Raw) -> Result<Raw, ToolError> {
        let asked: Asked = input::read(&input)?;
        let shell = self.workplace.shell(&context.lane, &asked.shell_id)?;
        let id = &asked.shell_id;
        if !shell.is_running() {
            return Ok(Raw::string(&format!("{id} had ended already")));
        }
        shell.stop();
        let clock = self.workplace.clock();
        let until = clock.monotonic_ms().saturating_add(ENDING_MS);
        while shell.is_running() && clock.monotonic_ms() < until {
            clock.sleep(POLL_MS).await;
        }
        let still =
            if shell.is_running() { " was asked to end and has not yet" } else { " has ended" };
        Ok(Raw::string(&format!("{id}{still}; what it printed is in {}", shell.output().display())))
    }
}

impl Tool for KillShell {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>("KillShell", "Ends a command in the background and all it started.")
    }

    fn assess(&self, input: &Raw) -> Facts {
        let facts = |asked: Asked| {
            let key: Arc<str> = Arc::from(format!("shell:{}", asked.shell_id));
            // Ending what has ended does no harm.
            Facts { repeat: Repeat::Repeatable, ..input::changes(vec![key], &asked.shell_id) }
        };
        input::read(input).map_or_else(unfit, facts)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        Box::pin(async move {
            self.end(context, input).await.map_or_else(Outcome::Failed, Outcome::Done)
        })
    }
}
