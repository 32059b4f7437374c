//! Something that must not be, found by the audit.

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// What was found, for whoever looks into it.
    pub(crate) what: String,
}

/// Which promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A human was asked although it was safe to go on.
    Needless,
    /// Something accepted or done is gone, or a run has no end.
    Lost,
    /// An effect happened more than once.
    Duplicated,
    /// An owner wrote after it had lost the lane.
    StaleWrite,
}

impl Fault {
    pub(crate) fn needless(what: String) -> Self {
        Self { kind: Kind::Needless, what }
    }

    pub(crate) fn lost(what: String) -> Self {
        Self { kind: Kind::Lost, what }
    }

    pub(crate) fn duplicated(what: String) -> Self {
        Self { kind: Kind::Duplicated, what }
    }

    pub(crate) fn stale_write(what: String) -> Self {
        Self { kind: Kind::StaleWrite, what }
    }
}
