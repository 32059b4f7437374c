//! Long calls. The start of a repeatable call is not in the log, because storing it would cost more
//! than most such calls take; a call that still runs after a second gets a row, for display.

use windlass_core::log::ids::{CallId, UnixMillis};
use windlass_core::log::record::Durability;
use windlass_core::projection::{Row, running_call_rows};

use super::{DriveError, Driver};
use crate::ports::AppendRequest;

/// How long a call runs before it gets a row, in milliseconds.
const LONG_CALL_MS: u64 = 1_000;

impl Driver {
    /// When the next running call without a row becomes a long call.
    pub(super) fn next_long_call_at(&self) -> Option<UnixMillis> {
        let running = running_call_rows(&self.conversation).into_iter();
        let unseen = running.filter(|(call, since, _)| !self.is_recorded(*call, *since));
        unseen.map(|(_, since, _)| since.plus_ms(LONG_CALL_MS)).min()
    }

    /// Writes the rows of long calls.
    pub(super) async fn record_long_calls(&mut self) -> Result<(), DriveError> {
        let now = self.now();
        let running = running_call_rows(&self.conversation);
        let long: Vec<_> = running
            .into_iter()
            .filter(|(call, since, _)| {
                now.ms_since(*since) >= LONG_CALL_MS && !self.is_recorded(*call, *since)
            })
            .collect();
        if long.is_empty() {
            return Ok(());
        }
        let shown: Vec<(CallId, UnixMillis)> =
            long.iter().map(|(call, since, _)| (*call, *since)).collect();
        let rows = long.into_iter().map(|(_, _, row)| Row::ToolResult(row).without_secrets());
        let append = AppendRequest {
            rows: rows.collect(),
            durability: Durability::Commit,
            ..self.empty_append(&self.conversation)
        };
        self.ports.store.append(append).await?;
        let runs = |(call, since): &(CallId, UnixMillis)| {
            running_call_rows(&self.conversation)
                .iter()
                .any(|(id, at, _)| (id, at) == (call, since))
        };
        let mut known = std::mem::take(&mut self.recorded_long_calls);
        known.retain(runs);
        known.extend(shown);
        self.recorded_long_calls = known;
        Ok(())
    }

    fn is_recorded(&self, call: CallId, since: UnixMillis) -> bool {
        self.recorded_long_calls.contains(&(call, since))
    }
}
