//! Calls that take long. That a repeatable call was let go is not in the log, because storing it would
//! cost more than most of them take; one that still runs after a second gets its row, so that people
//! see what is going on.

use windlass_core::ids::{CallId, Millis};
use windlass_core::project::{Row, running_results};
use windlass_core::record::Durability;

use super::{DriveError, Driver};
use crate::ports::Append;

/// How long a call runs before it has a row.
const LONG_MS: u64 = 1_000;

impl Driver {
    /// When the next call that runs without a row has run for long.
    pub(super) fn long_call_due(&self) -> Option<Millis> {
        let running = running_results(&self.conversation).into_iter();
        let unseen = running.filter(|(call, since, _)| !self.is_shown(*call, *since));
        unseen.map(|(_, since, _)| since.plus(LONG_MS)).min()
    }

    /// Writes the rows of calls that have run for long.
    pub(super) async fn show_long_calls(&mut self) -> Result<(), DriveError> {
        let now = self.now();
        let running = running_results(&self.conversation);
        let long: Vec<_> = running
            .into_iter()
            .filter(|(call, since, _)| {
                now.since(*since) >= LONG_MS && !self.is_shown(*call, *since)
            })
            .collect();
        if long.is_empty() {
            return Ok(());
        }
        let shown: Vec<(CallId, Millis)> =
            long.iter().map(|(call, since, _)| (*call, *since)).collect();
        let rows = long.into_iter().map(|(_, _, row)| Row::ToolResult(row).without_secrets());
        let append = Append {
            rows: rows.collect(),
            durability: Durability::Commit,
            ..self.empty_append(&self.conversation)
        };
        self.ports.store.append(append).await?;
        let runs = |(call, since): &(CallId, Millis)| {
            running_results(&self.conversation).iter().any(|(id, at, _)| (id, at) == (call, since))
        };
        let mut known = std::mem::take(&mut self.shown_calls);
        known.retain(runs);
        known.extend(shown);
        self.shown_calls = known;
        Ok(())
    }

    fn is_shown(&self, call: CallId, since: Millis) -> bool {
        self.shown_calls.contains(&(call, since))
    }
}
