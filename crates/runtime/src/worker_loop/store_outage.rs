//! Store outages: reports when the store stops responding, and when it recovers.

use crate::ports::StoreError;

/// The time after which the store counts as not responding, in milliseconds.
pub(super) const SLOW_STORE_MS: u64 = 3_000;

/// The status of the store, as the worker loop reports it.
#[derive(Debug, Clone, Copy)]
pub enum StoreStatus<'a> {
    /// The store takes long to respond.
    Slow,
    /// The store responds with an error.
    Failing(&'a StoreError),
    /// The store responds again.
    Recovered,
}

/// Callback for changes of the store's status.
pub type StoreStatusObserver<'a> = &'a (dyn Fn(StoreStatus<'_>) + Send + Sync);

/// Reports each change once.
pub(super) struct OutageReporter<'a> {
    observer: StoreStatusObserver<'a>,
    is_unavailable: bool,
}

impl<'a> OutageReporter<'a> {
    pub(super) fn new(observer: StoreStatusObserver<'a>) -> Self {
        Self { observer, is_unavailable: false }
    }

    pub(super) fn report_slow(&mut self) {
        self.report_change(true, StoreStatus::Slow);
    }

    pub(super) fn report_result<T>(&mut self, answer: &Result<T, StoreError>) {
        match answer {
            Ok(_) => self.report_change(false, StoreStatus::Recovered),
            Err(error) => self.report_change(true, StoreStatus::Failing(error)),
        }
    }

    fn report_change(&mut self, is_away: bool, news: StoreStatus<'_>) {
        if self.is_unavailable != is_away {
            self.is_unavailable = is_away;
            (self.observer)(news);
        }
    }
}
