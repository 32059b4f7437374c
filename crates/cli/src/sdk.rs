//! What an SDK expects of the process it starts, compared to people and scripts.

use windlass::messages::ResultAudience;

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
