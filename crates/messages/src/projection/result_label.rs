//! Which results are errors: an SDK expects other labels than people and scripts.

use windlass_core::run::conversation::RunEnd;
use windlass_core::stop::{ResultSubtype, StopCause};

/// Who reads the results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResultAudience {
    /// Programs and scripts: an error is a run without a result.
    #[default]
    Programs,
    /// A program of an Agent SDK, with the labels that the SDK expects of its process.
    AgentSdk,
}

/// The label of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultLabel {
    /// How the run ended.
    pub subtype: ResultSubtype,
    /// Whether the result is an error.
    pub is_error: bool,
}

impl ResultLabel {
    /// Returns the label of a finished run.
    #[must_use]
    pub fn of_run_end(ended: &RunEnd, audience: ResultAudience) -> Self {
        let subtype = ended.cause.result_subtype(ended.text_presence());
        let own = Self { subtype, is_error: subtype != ResultSubtype::Success };
        match audience {
            ResultAudience::Programs => own,
            ResultAudience::AgentSdk => Self::for_sdk(ended.cause, own),
        }
    }

    /// Returns the word for why a run ended. An SDK has its own words.
    pub(super) fn terminal_reason(
        cause: StopCause,
        audience: ResultAudience,
        in_tools: bool,
    ) -> &'static str {
        if audience == ResultAudience::Programs {
            return cause.terminal_reason();
        }
        match cause {
            StopCause::EndTurn
            | StopCause::StopSequence
            | StopCause::Unexpected
            | StopCause::SoftTime => "completed",
            StopCause::UserCancel if in_tools => "aborted_tools",
            StopCause::UserCancel => "aborted_streaming",
            StopCause::BudgetUsd | StopCause::BudgetTokens => "budget_exhausted",
            StopCause::ProviderFailed | StopCause::TruncationExhausted | StopCause::Refusal => {
                "api_error"
            }
            StopCause::BlockingLimit => "prompt_too_long",
            StopCause::StructuredOutputRetries => "structured_output_retry_exhausted",
            StopCause::ToolFatal
            | StopCause::PriceUnknown
            | StopCause::HardTime
            | StopCause::MaxToolRounds
            | StopCause::MaxModelCalls
            | StopCause::MaxModelReplies
            | StopCause::HookStopped
            | StopCause::ToolDeferred
            | StopCause::ResumeUnsafe
            | StopCause::AskedHuman => cause.terminal_reason(),
        }
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
