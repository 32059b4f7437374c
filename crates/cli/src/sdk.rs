//! What an SDK expects of the process that it started, where that differs from what people and
//! scripts expect: which results are errors, and two exit codes.

use windlass::StopCause;
use windlass::core::conversation::Ended;
use windlass::core::stop::Subtype;

/// Whether an SDK started this process.
pub(crate) fn is_host() -> bool {
    std::env::var_os("CLAUDE_AGENT_SDK_VERSION").is_some_and(|version| !version.is_empty())
}

/// How a result is labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) subtype: Subtype,
    pub(crate) is_error: bool,
}

impl Label {
    /// The label of a run that ended, for whoever started this process.
    pub(crate) fn of(ended: &Ended) -> Self {
        let subtype = ended.cause.subtype(ended.has_text());
        let own = Self { subtype, is_error: subtype != Subtype::Success };
        if is_host() { Self::for_sdk(ended.cause, own) } else { own }
    }

    /// A refusal and a failure of the API are complete results that are errors; what a hook stopped is
    /// not an error.
    fn for_sdk(cause: StopCause, own: Self) -> Self {
        let success = |is_error| Self { subtype: Subtype::Success, is_error };
        match cause {
            StopCause::Refusal
            | StopCause::TruncationExhausted
            | StopCause::ProviderFailed
            | StopCause::BlockingLimit => success(true),
            StopCause::HookStopped => success(false),
            _ => own,
        }
    }
}
