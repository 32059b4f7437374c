//! Telling whoever watches what was served.

use std::sync::Arc;

use windlass_runtime::ports::Clock;

/// One request and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The HTTP method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// An answer to its end, or a refusal, with this status.
    Answered {
        /// The HTTP status.
        status: u16,
        /// Why the model stopped, or why the request was refused.
        because: String,
    },
    /// An answer that the script broke off.
    Cut,
    /// An error inside a stream that had begun.
    Failed {
        /// The status the script gave.
        status: u16,
    },
    /// The connection was closed without an answer, as the script said.
    Closed,
    /// The client left before the end.
    Left,
}

/// Takes a word about every request.
pub trait Watch: Send + Sync + 'static {
    /// A request is over.
    fn served(&self, served: &Served);
}

/// A request under way. However it ends, it is told once: dropped early, the client has left.
pub(super) struct Ticket {
    watch: Arc<dyn Watch>,
    clock: Arc<dyn Clock>,
    started_ms: u64,
    served: Served,
}

impl Ticket {
    pub(super) fn new(watch: Arc<dyn Watch>, clock: Arc<dyn Clock>, what: (&str, &str)) -> Self {
        let (method, path) = (what.0.to_owned(), what.1.to_owned());
        let started_ms = clock.monotonic_ms();
        let served = Served { method, path, outcome: Outcome::Left, took_ms: 0 };
        Self { watch, clock, started_ms, served }
    }

    /// The request is over.
    pub(super) fn done(mut self, outcome: Outcome) {
        self.served.outcome = outcome;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.served.took_ms = self.clock.monotonic_ms().saturating_sub(self.started_ms);
        self.watch.served(&self.served);
    }
}
