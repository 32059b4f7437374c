//! The request observer: reports what was served.

use std::sync::Arc;

use windlass_runtime::ports::Clock;

/// One request and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedRequest {
    /// The HTTP method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// The outcome of the request.
    pub outcome: ServedOutcome,
    /// How long the request took, in milliseconds.
    pub took_ms: u64,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedOutcome {
    /// A complete answer or a rejection, with this status.
    Answered {
        /// The HTTP status.
        status: u16,
        /// Why the model stopped, or why the request was rejected.
        reason: String,
    },
    /// An answer that the script cut.
    Cut,
    /// An error inside a stream that had started.
    Failed {
        /// The status the script gave.
        status: u16,
    },
    /// The connection was closed without an answer, as the script said.
    Closed,
    /// The client left before the end.
    ClientLeft,
}

/// Receives a report about every request.
pub trait RequestObserver: Send + Sync + 'static {
    /// Called when a request is over.
    fn on_served(&self, served: &ServedRequest);
}

/// A request in progress. However it ends, it is reported once: if the ticket is dropped early, the
/// client has left.
pub(super) struct RequestTicket {
    watch: Arc<dyn RequestObserver>,
    clock: Arc<dyn Clock>,
    started_ms: u64,
    served: ServedRequest,
}

impl RequestTicket {
    pub(super) fn new(
        watch: Arc<dyn RequestObserver>,
        clock: Arc<dyn Clock>,
        what: (&str, &str),
    ) -> Self {
        let (method, path) = (what.0.to_owned(), what.1.to_owned());
        let started_ms = clock.monotonic_ms();
        let served = ServedRequest { method, path, outcome: ServedOutcome::ClientLeft, took_ms: 0 };
        Self { watch, clock, started_ms, served }
    }

    /// Reports the outcome of the request.
    pub(super) fn finish(mut self, outcome: ServedOutcome) {
        self.served.outcome = outcome;
    }
}

impl Drop for RequestTicket {
    fn drop(&mut self) {
        self.served.took_ms = self.clock.monotonic_ms().saturating_sub(self.started_ms);
        self.watch.on_served(&self.served);
    }
}
