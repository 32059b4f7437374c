//! Differences that an SDK expects of the process it starts, compared to people and scripts: which
//! results are errors, and two exit codes.

use windlass::StopCause;
use windlass::core::run::conversation::RunEnd;
use windlass::core::stop::ResultSubtype;

/// Returns whether an SDK started this process.
pub(crate) fn is_sdk_host() -> bool {
    std::env::var_os("CLAUDE_AGENT_SDK_VERSION").is_some_and(|version| !version.is_empty())
}

/// The label of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResultLabel {
    pub(crate) subtype: ResultSubtype,
    pub(crate) is_error: bool,
}

impl ResultLabel {
    /// The label of a finished run for the program that started this process.
    pub(crate) fn from_run_end(ended: &RunEnd) -> Self {
        let subtype = ended.cause.result_subtype(ended.text_presence());
        let own = Self { subtype, is_error: subtype != ResultSubtype::Success };
        if is_sdk_host() { Self::for_sdk(ended.cause, own) } else { own }
    }

    /// The label for an SDK: a refusal and a failure of the API are complete results that are
    /// errors; a run that a hook stopped is not an error.
    fn for_sdk(cause: StopCause, own: Self) -> Self {
        let success = |is_error| Self { subtype: ResultSubtype::Success, is_error };
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
