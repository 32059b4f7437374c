//! A violation found by the audit.

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) kind: ViolationKind,
    /// What was found.
    pub(crate) what: String,
}

/// The promise that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViolationKind {
    /// A human was asked although it was safe to continue.
    NeedlessQuestion,
    /// Something accepted or done is lost, or a run has no end.
    LostData,
    /// An effect happened more than once.
    DuplicatedEffect,
    /// An owner wrote after it had lost the lane.
    StaleWrite,
}

impl Violation {
    pub(crate) fn needless_question(what: String) -> Self {
        Self { kind: ViolationKind::NeedlessQuestion, what }
    }

    pub(crate) fn lost_data(what: String) -> Self {
        Self { kind: ViolationKind::LostData, what }
    }

    pub(crate) fn duplicated_effect(what: String) -> Self {
        Self { kind: ViolationKind::DuplicatedEffect, what }
    }

    pub(crate) fn stale_write(what: String) -> Self {
        Self { kind: ViolationKind::StaleWrite, what }
    }
}
