//! How long a client waits while model calls fail. The settings limit that time; the run itself
//! waits much longer, with its own retries, and can be resumed.

use std::sync::Arc;

use windlass::core::log::entry::Entry;
use windlass::core::log::ids::UnixMillis;
use windlass::core::log::input::{FailureClass, Input};
use windlass::core::log::record::Record;
use windlass::core::settings::conversation_settings::Settings;
use windlass::core::settings::limits::Limits;

use crate::messages::RetryNote;

#[cfg(test)]
#[path = "retry_timeout_tests.rs"]
mod retry_timeout_tests;

/// The wait limit of a client.
#[derive(Debug)]
pub(crate) struct RetryTimeout {
    limits: Limits,
    /// Whether a fallback model can still be called; then its calls are waited for.
    has_fallback: bool,
    failing_since: Option<UnixMillis>,
    deadline: Option<UnixMillis>,
    exceeded: Option<ModelUnreachable>,
}

/// The exceeded wait limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelUnreachable {
    /// The error of the last model call.
    pub(crate) why: Arc<str>,
    /// The name of the limit.
    pub(crate) limit: &'static str,
    /// The limit in milliseconds.
    pub(crate) limit_ms: u64,
}

impl RetryTimeout {
    pub(super) fn new(settings: &Settings) -> Self {
        let (limits, has_fallback) = (settings.limits.clone(), settings.fallback.is_some());
        Self { limits, has_fallback, failing_since: None, deadline: None, exceeded: None }
    }

    /// Updates the wait with an entry of the log.
    pub(super) fn observe(&mut self, entry: &Entry) {
        for record in &entry.records {
            match record {
                Record::ModelReplied { .. } => self.failing_since = None,
                Record::FallbackModelSelected { .. } => {
                    (self.failing_since, self.has_fallback) = (None, false);
                }
                Record::ModelRetryScheduled { until, .. } if !self.has_fallback => {
                    self.check_deadline(entry, *until);
                }
                _ => {}
            }
        }
    }

    /// Gives up if the next attempt comes after the limit.
    fn check_deadline(&mut self, entry: &Entry, until: UnixMillis) {
        let Input::ModelFailed { failure, .. } = &entry.input else { return };
        let limit_ms = self.limits.wait_limit_ms(failure.class);
        let end = self.failing_since.get_or_insert(entry.at).plus_ms(limit_ms);
        self.deadline = Some(end);
        if until > end {
            let limit = match failure.class {
                FailureClass::ServerNotRunning => "local_wait_ms",
                _ => "answer_wait_ms",
            };
            self.exceeded =
                Some(ModelUnreachable { why: failure.message.clone(), limit, limit_ms });
        }
    }

    /// When the model call that failed in this entry is retried; `None` if this process gives up.
    pub(super) fn retry_note(&self, entry: &Entry) -> Option<RetryNote> {
        if self.is_exceeded() {
            return None;
        }
        let deadline = self.failing_since.and(self.deadline);
        let gives_up_in_ms = deadline.map(|until| until.ms_since(entry.at));
        entry.records.iter().find_map(|record| match record {
            Record::ModelRetryScheduled { until, failures } => {
                let in_ms = until.ms_since(entry.at);
                Some(RetryNote { in_ms, failures: *failures, gives_up_in_ms })
            }
            _ => None,
        })
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.exceeded.is_some()
    }

    pub(super) fn exceeded_limit(&self) -> Option<&ModelUnreachable> {
        self.exceeded.as_ref()
    }
}
