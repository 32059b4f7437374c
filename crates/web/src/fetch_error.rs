//! Why a page could not be fetched.

/// Why a page could not be fetched. Each says what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The text is not an address that can be fetched.
    #[error("{0}")]
    InvalidUrl(String),
    /// The host is not public.
    #[error("{host} is not reachable from here: its address {address} is {reason}")]
    RefusedAddress {
        /// The host.
        host: String,
        /// An address of it.
        address: String,
        /// What the address is.
        reason: &'static str,
    },
    /// The host has no address, or none answers.
    #[error("cannot connect to {host}: {reason}")]
    Unreachable {
        /// The host.
        host: String,
        /// What happened.
        reason: String,
    },
    /// The server broke the protocol.
    #[error("the answer of {host} cannot be read: {reason}")]
    BadAnswer {
        /// The host.
        host: String,
        /// What happened.
        reason: String,
    },
    /// The server answered with an error.
    #[error("{host} answered with status {status}")]
    Status {
        /// The host.
        host: String,
        /// The status.
        status: u16,
    },
    /// The page redirects too often.
    #[error("the page redirects more than {0} times")]
    TooManyRedirects(u32),
    /// The content is not text.
    #[error("the content is {0}, which is not text")]
    NotText(String),
    /// Time ran out.
    #[error("the page took longer than {0} ms")]
    TimedOut(u64),
}

impl FetchError {
    /// Returns whether another attempt may succeed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..=599),
            Self::Unreachable { .. } | Self::TimedOut(_) => true,
            Self::InvalidUrl(_)
            | Self::RefusedAddress { .. }
            | Self::BadAnswer { .. }
            | Self::TooManyRedirects(_)
            | Self::NotText(_) => false,
        }
    }
}
