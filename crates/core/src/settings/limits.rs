//! Every limit of the loop, defined once (the names of `--set`). A run records the limits it used.

use serde::{Deserialize, Serialize};

use crate::log::input::FailureClass;

/// Limits of a conversation, recorded with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Maximum rounds with tool calls in one run.
    pub tool_rounds: u32,
    /// Maximum model calls in one run: the backstop behind continuations and retries.
    pub model_calls: u32,
    /// Maximum replies of the model in one run; the calls of the last one still run. `None` means no
    /// cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_replies: Option<u32>,
    /// Tokens one run may use; `None` means no cap.
    pub run_tokens: Option<u64>,
    /// A model call with fewer output tokens than this is not made.
    pub least_output_tokens: u64,
    /// Calls of one round that run in parallel.
    pub parallel_calls: u16,
    /// Early calls: calls that may run before their reply is complete; 0 switches them off.
    pub early_calls: u16,
    /// Tool calls that one reply may have; the rest get a skipped result.
    pub calls_per_reply: u16,
    /// Maximum characters of one tool result.
    pub result_chars: u64,
    /// Maximum prompts queued behind the active run.
    pub queued_prompts: u32,
    /// Maximum steering messages waiting for the end of the round.
    pub waiting_steers: u32,
    /// Pauses before each retry of a repeatable call with a transient failure.
    pub tool_retry_ms: Vec<u64>,
    /// First pause after a transient failure of a model call; doubles with each failure.
    pub model_retry_ms: u64,
    /// Longest pause between two model calls.
    pub model_retry_most_ms: u64,
    /// Failures in a row after which the provider counts as down.
    pub model_retries: u32,
    /// Failures in a row after which the fallback model is called, if there is one; never more than
    /// make the provider count as down.
    #[serde(skip_serializing_if = "is_default_fallback_failures")]
    pub fallback_failures: u32,
    /// Truncated replies in a row that are continued.
    pub truncations: u32,
    /// Dropped replies that are requested again (drift guard).
    pub reprompts: u32,
    /// Messages that a compaction keeps.
    pub kept_messages: u32,
    /// How long a cancel waits for a human who was asked about unknown effects.
    pub cancel_wait_ms: u64,
    /// How long a run waits for a provider that stays down, after its retries.
    pub provider_wait_ms: u64,
    /// How long a client waits for one answer while the provider fails; then the run stays
    /// resumable and a worker continues it.
    #[serde(skip_serializing_if = "is_default_answer_wait")]
    pub answer_wait_ms: u64,
    /// Wait limit while nothing listens on a local address.
    #[serde(skip_serializing_if = "is_default_local_wait")]
    pub local_wait_ms: u64,
    /// Answers that a completion gate may reject.
    pub rejections: u32,
    /// Answers that may fail to match their schema.
    pub output_retries: u32,
    /// Maximum tokens of a summary.
    pub summary_tokens: u64,
    /// Compactions and questions about lost context in one run.
    pub recoveries: u32,
    /// Model calls after a compaction within which a window that is full again takes the next step.
    pub recovery_iterations: u32,
    /// Number of last calls that loop detection examines.
    pub loop_window_calls: u32,
    /// This many identical calls among them are a loop.
    pub loop_identical_calls: u32,
    /// This many calls of the same tool with different arguments among them are a loop.
    pub loop_same_tool_calls: u32,
    /// Child runs that work at the same time.
    pub children: u16,
    /// Maximum nesting depth of child runs.
    pub child_depth: u8,
    /// Messages of the sliding window: when the window is pruned, whole turns before them are
    /// removed first.
    #[serde(skip_serializing_if = "is_default_sliding_messages")]
    pub sliding_messages: u32,
    /// Percent of the window that the schemas of MCP tools may take; above it they are deferred. 0
    /// always defers them, 100 never.
    #[serde(skip_serializing_if = "is_default_schema_percent")]
    pub tool_schema_percent: u8,
    /// Time limit of a hook.
    pub hook_ms: u64,
    /// How long a human may take to approve a call; `None` means without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_ms: Option<u64>,
}

/// More than two messages for every round that a run has by default.
const DEFAULT_SLIDING_MESSAGES: u32 = 100;

/// A configured fallback model is preferred to waiting.
const DEFAULT_FALLBACK_FAILURES: u32 = 3;

/// As long as a busy provider usually takes to recover.
const DEFAULT_ANSWER_WAIT_MS: u64 = 180_000;

/// As long as a server takes to start.
const DEFAULT_LOCAL_WAIT_MS: u64 = 5_000;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_default_fallback_failures(failures: &u32) -> bool {
    *failures == DEFAULT_FALLBACK_FAILURES
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_default_answer_wait(ms: &u64) -> bool {
    *ms == DEFAULT_ANSWER_WAIT_MS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_default_local_wait(ms: &u64) -> bool {
    *ms == DEFAULT_LOCAL_WAIT_MS
}

/// A search costs a model call: it pays off when the schemas are a large part of every request.
const DEFAULT_SCHEMA_PERCENT: u8 = 10;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_default_schema_percent(percent: &u8) -> bool {
    *percent == DEFAULT_SCHEMA_PERCENT
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_default_sliding_messages(messages: &u32) -> bool {
    *messages == DEFAULT_SLIDING_MESSAGES
}

/// Time limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunTimeLimits {
    /// Active time after which the run wraps up and ends.
    pub soft_ms: u64,
    /// Active time after which the run is ended at once.
    pub hard_ms: u64,
    /// Grace period for calls in flight at the soft limit.
    pub grace_ms: u64,
}

impl Default for RunTimeLimits {
    fn default() -> Self {
        Self { soft_ms: 900_000, hard_ms: 1_200_000, grace_ms: 30_000 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_rounds: 50,
            model_calls: 110,
            model_replies: None,
            run_tokens: None,
            least_output_tokens: 1_024,
            parallel_calls: 8,
            early_calls: 8,
            calls_per_reply: 128,
            result_chars: 32_000,
            queued_prompts: 64,
            waiting_steers: 64,
            tool_retry_ms: vec![500, 2_000, 8_000],
            model_retry_ms: 1_000,
            model_retry_most_ms: 60_000,
            model_retries: 10,
            fallback_failures: DEFAULT_FALLBACK_FAILURES,
            truncations: 3,
            reprompts: 2,
            kept_messages: 10,
            cancel_wait_ms: 180_000,
            provider_wait_ms: 3_600_000,
            answer_wait_ms: DEFAULT_ANSWER_WAIT_MS,
            local_wait_ms: DEFAULT_LOCAL_WAIT_MS,
            rejections: 2,
            output_retries: 5,
            summary_tokens: 4_096,
            recoveries: 4,
            recovery_iterations: 20,
            loop_window_calls: 6,
            loop_identical_calls: 3,
            loop_same_tool_calls: 4,
            children: 4,
            child_depth: 2,
            sliding_messages: DEFAULT_SLIDING_MESSAGES,
            tool_schema_percent: DEFAULT_SCHEMA_PERCENT,
            hook_ms: 60_000,
            approval_ms: None,
        }
    }
}

impl Limits {
    /// Returns the profile for routers: short runs.
    #[must_use]
    pub fn for_routers() -> Self {
        Self::default().with_tool_rounds(12)
    }

    /// How long a client waits while model calls fail with this class. A failure that does not pass
    /// by waiting ends the run by itself.
    #[must_use]
    pub fn wait_limit_ms(&self, class: FailureClass) -> u64 {
        match class {
            FailureClass::ServerNotRunning => self.local_wait_ms.min(self.answer_wait_ms),
            FailureClass::Transient
            | FailureClass::StreamCut
            | FailureClass::ContextTooLong
            | FailureClass::Permanent => self.answer_wait_ms,
        }
    }

    /// Returns the limits with another round cap and the matching model-call backstop.
    #[must_use]
    pub fn with_tool_rounds(mut self, tool_rounds: u32) -> Self {
        self.tool_rounds = tool_rounds;
        self.model_calls = tool_rounds.saturating_mul(2).saturating_add(10);
        self
    }
}
