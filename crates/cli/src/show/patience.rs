//! How long whoever waits for an answer stays while the model cannot be asked. How long that is, a
//! limit says; the run itself waits much longer, and whoever takes it up finds it as it was left.

use std::sync::Arc;

use windlass::core::ids::Millis;
use windlass::core::input::{FailureClass, Input};
use windlass::core::limits::Limits;
use windlass::core::log::Entry;
use windlass::core::record::Record;
use windlass::core::settings::Settings;

#[cfg(test)]
#[path = "patience_tests.rs"]
mod patience_tests;

/// The patience of whoever waits.
#[derive(Debug)]
pub(crate) struct Patience {
    limits: Limits,
    /// Another model can still be asked; then it is waited for that.
    falls_back: bool,
    since: Option<Millis>,
    until: Option<Millis>,
    lost: Option<Lost>,
}

/// Why nobody waits any longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    /// What the last model call met.
    pub(crate) why: Arc<str>,
    /// The name of the limit.
    pub(crate) limit: &'static str,
    /// The limit.
    pub(crate) limit_ms: u64,
}

impl Patience {
    pub(super) fn new(settings: &Settings) -> Self {
        let (limits, falls_back) = (settings.limits.clone(), settings.fallback.is_some());
        Self { limits, falls_back, since: None, until: None, lost: None }
    }

    /// Listens to what happens.
    pub(super) fn hear(&mut self, entry: &Entry) {
        for record in &entry.records {
            match record {
                Record::Replied { .. } => self.since = None,
                Record::FellBack { .. } => (self.since, self.falls_back) = (None, false),
                Record::Deferred { until, .. } if !self.falls_back => self.wait(entry, *until),
                _ => {}
            }
        }
    }

    /// Waiting for a call that comes too late is of no use.
    fn wait(&mut self, entry: &Entry, until: Millis) {
        let Input::ModelFailed { failure, .. } = &entry.input else { return };
        let limit_ms = self.limits.patience_ms(failure.class);
        let end = self.since.get_or_insert(entry.at).plus(limit_ms);
        self.until = Some(end);
        if until > end {
            let limit = match failure.class {
                FailureClass::Absent => "local_wait_ms",
                _ => "answer_wait_ms",
            };
            self.lost = Some(Lost { why: failure.message.clone(), limit, limit_ms });
        }
    }

    /// How long there is still patience.
    pub(crate) fn left_ms(&self, at: Millis) -> Option<u64> {
        self.since.and(self.until).map(|until| until.since(at))
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    pub(super) fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }
}
