//! What can go wrong on the way to a reply, and what each fault means for the run.

use windlass_core::input::{Failure, FailureClass};

use crate::faults;
use crate::limits::{MESSAGE_CHARS, REPLY_BYTES};
use crate::secret::Redactor;
use crate::sse::TooLarge;

/// A fault of one model call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// The server could not be reached.
    #[error("{0}")]
    Unreachable(String),
    /// Nobody listens at an address of this machine.
    #[error("{0}")]
    Absent(String),
    /// No secure connection could be made.
    #[error("{0}")]
    Insecure(String),
    /// The configuration cannot work.
    #[error("{0}")]
    Misconfigured(String),
    /// The server refused the request.
    #[error("{status} {kind}: {message}{advice}")]
    Refused {
        /// The status.
        status: u16,
        /// What the provider calls it.
        kind: String,
        /// What the provider says.
        message: String,
        /// What to do.
        advice: &'static str,
        /// How long to wait.
        retry_after_ms: Option<u64>,
    },
    /// The server reported an error inside the stream.
    #[error("{kind}: {message}")]
    Reported {
        /// The status it would have had.
        status: u16,
        /// What the provider calls it.
        kind: String,
        /// What the provider says.
        message: String,
    },
    /// The stream ended before the reply did.
    #[error("the stream ended before the reply did ({0})")]
    Cut(String),
    /// What came cannot be understood.
    #[error("{0}; if it happens again, check that the address is a model's")]
    Malformed(String),
    /// Something other than a model answered.
    #[error("{0}")]
    NotAModel(String),
    /// An event or a reply is larger than anything a model says.
    #[error(transparent)]
    EventTooLarge(#[from] TooLarge),
    /// A reply is larger than anything a model says.
    #[error("a reply of more than {REPLY_BYTES} bytes; check that the address is a model's")]
    ReplyTooLarge,
    /// Nothing but pings came for too long.
    #[error("nothing came for {0} ms")]
    Silent(u64),
    /// The whole call took too long.
    #[error("the call took longer than {0} ms")]
    Late(u64),
    /// The connection was not made in time.
    #[error("no connection within {0} ms; check the address and the network")]
    SlowConnect(u64),
    /// The limiter asks the run to come back later.
    #[error("{why}")]
    Limited {
        /// Why.
        why: String,
        /// How long to wait.
        retry_after_ms: u64,
    },
}

/// Whether the answer had begun: from then on it is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    No,
    Yes,
}

impl Fault {
    /// The failure the core is told.
    pub(crate) fn failure(&self, begun: Begun, redactor: &Redactor) -> Failure {
        let class = match begun {
            Begun::No => self.class(),
            Begun::Yes => faults::once_begun(self.class()),
        };
        let text = redactor.redact(&self.to_string());
        let message = windlass_core::cut::text(&text, MESSAGE_CHARS).into();
        Failure { class, message, retry_after_ms: self.retry_after_ms(), raw: None }
    }

    /// The class before anything of the answer came.
    pub(crate) fn class(&self) -> FailureClass {
        match self {
            Self::Refused { status, kind, message, .. }
            | Self::Reported { status, kind, message } => {
                faults::class(*status, &format!("{kind}: {message}"))
            }
            Self::Absent(_) => FailureClass::Absent,
            Self::Unreachable(_)
            | Self::Cut(_)
            | Self::Silent(_)
            | Self::Late(_)
            | Self::SlowConnect(_)
            | Self::Malformed(_)
            | Self::Limited { .. } => FailureClass::Passing,
            Self::Insecure(_)
            | Self::Misconfigured(_)
            | Self::NotAModel(_)
            | Self::EventTooLarge(_)
            | Self::ReplyTooLarge => FailureClass::Lasting,
        }
    }

    fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Refused { retry_after_ms, .. } => *retry_after_ms,
            Self::Limited { retry_after_ms, .. } => Some(*retry_after_ms),
            _ => None,
        }
    }
}
