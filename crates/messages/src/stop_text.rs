//! Why a run stopped, in a clause: the same words in every output.
#![deny(clippy::wildcard_enum_match_arm)]

use windlass_core::stop::StopCause;

/// Why a run stopped: a clause without capital and full stop.
#[must_use]
pub fn stop_reason(cause: StopCause) -> &'static str {
    match cause {
        StopCause::EndTurn => "the model finished its turn",
        StopCause::StopSequence => "the model wrote a configured stop sequence",
        StopCause::Refusal => "the model refused this request",
        StopCause::Unexpected => "the model stopped for a reason that this version does not know",
        StopCause::ToolFatal => "a tool failed fatally",
        StopCause::UserCancel => "the run was cancelled",
        StopCause::BudgetUsd => "the budget in dollars is spent",
        StopCause::BudgetTokens => "the budget in tokens is spent",
        StopCause::PriceUnknown => {
            "price unknown for this model, so a budget in dollars cannot be enforced"
        }
        StopCause::SoftTime => "the soft time limit was reached, and the model wrapped up",
        StopCause::HardTime => "the hard time limit was reached",
        StopCause::MaxToolRounds => "the limit of rounds with tool calls was reached",
        StopCause::MaxModelCalls => "the limit of model calls was reached",
        StopCause::MaxModelReplies => "the limit of replies was reached",
        StopCause::BlockingLimit => "the context window is full and nothing more can be compacted",
        StopCause::TruncationExhausted => {
            "replies were truncated by the output limit too often in a row"
        }
        StopCause::StructuredOutputRetries => "the answer never matched the JSON schema",
        StopCause::HookStopped => "a hook stopped the run",
        StopCause::ToolDeferred => "a hook deferred a tool call",
        StopCause::ProviderFailed => "the model provider failed",
        StopCause::ResumeUnsafe => "it is not safe to continue without an answer",
        StopCause::AskedHuman => "a person was asked",
    }
}

/// The stop reason with the numbers of the limit that was reached.
#[must_use]
pub fn stop_reason_with(cause: StopCause, limit: Option<&str>) -> String {
    match limit {
        Some(limit) => format!("{} ({limit})", stop_reason(cause)),
        None => stop_reason(cause).to_owned(),
    }
}
