//! What an SDK expects of the process it starts, compared to people and scripts.

use windlass::core::settings::limits::Limits;
use windlass::messages::ResultAudience;

/// Returns whether the environment asks for a line about each batch of tool calls.
pub(crate) fn wants_tool_use_summaries() -> bool {
    let value = std::env::var("CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES").unwrap_or_default();
    matches!(value.trim().to_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

/// Returns the thinking tokens that the environment sets, as programs of the SDKs do.
pub(crate) fn max_thinking_tokens() -> Option<u64> {
    std::env::var("MAX_THINKING_TOKENS").ok()?.trim().parse().ok()
}

/// The version of the SDK protocol that messages and control requests follow. The SDKs compare it
/// with the versions that they require.
pub(crate) const PROTOCOL_VERSION: &str = "2.1.325";

/// Returns whether an SDK started this process.
pub(crate) fn is_sdk_host() -> bool {
    std::env::var_os("CLAUDE_AGENT_SDK_VERSION").is_some_and(|version| !version.is_empty())
}

/// Returns who reads the results of this process.
pub(crate) fn result_audience() -> ResultAudience {
    if is_sdk_host() { ResultAudience::AgentSdk } else { ResultAudience::Programs }
}

/// Returns what the program adds to the name of the client in requests to the model: how it was
/// started, and the version of the SDK.
pub(crate) fn client_comment() -> Option<String> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let version = variable("CLAUDE_AGENT_SDK_VERSION")?;
    let entry = variable("CLAUDE_CODE_ENTRYPOINT").unwrap_or_else(|| "sdk-cli".to_owned());
    Some(format!("{entry}, agent-sdk/{version}"))
}

/// Characters of a result that a program expects the model to see.
const RESULT_CHARS: u64 = 100_000;

/// Sets how often a failed model call is repeated, and how long results may be unless a setting says
/// so. A program wants to know of an outage after the retries, and does not wait for its end.
pub(crate) fn apply_limits(limits: &mut Limits) {
    if limits.result_chars == Limits::default().result_chars {
        limits.result_chars = RESULT_CHARS;
    }
    let retries = std::env::var("CLAUDE_CODE_MAX_RETRIES").ok();
    if let Some(retries) = retries.and_then(|text| text.parse().ok()) {
        limits.model_retries = retries;
    }
    limits.provider_wait_ms = 0;
}
