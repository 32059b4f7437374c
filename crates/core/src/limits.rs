//! Every bound of the loop, named once. A run records the ones it used.

use serde::{Deserialize, Serialize};

use crate::input::FailureClass;

/// Limits of a conversation, recorded with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Rounds with tool calls in one run.
    pub tool_rounds: u32,
    /// Model calls in one run: the backstop behind continuations and retries.
    pub model_calls: u32,
    /// Tokens one run may use; `None` means no cap.
    pub run_tokens: Option<u64>,
    /// A model call with less room than this is not made.
    pub least_output_tokens: u64,
    /// Calls of one round running at once.
    pub parallel_calls: u16,
    /// Calls that may run before their reply is complete; 0 switches that off.
    pub early_calls: u16,
    /// Tool calls one reply may hold; the rest are answered as skipped.
    pub calls_per_reply: u16,
    /// Characters of one tool result.
    pub result_chars: u64,
    /// Prompts waiting behind the active run.
    pub queued_prompts: u32,
    /// Steers waiting for the end of the round.
    pub waiting_steers: u32,
    /// Pauses before each repeat of a repeatable call that failed in passing.
    pub tool_retry_ms: Vec<u64>,
    /// First pause after a model call failed in passing; doubles with each.
    pub model_retry_ms: u64,
    /// Longest pause between two model calls.
    pub model_retry_most_ms: u64,
    /// Failures in a row before the provider counts as down.
    pub model_retries: u32,
    /// Failures in a row after which another model is asked, if there is one; never more than make
    /// the provider count as down.
    #[serde(skip_serializing_if = "is_usual_fallback")]
    pub fallback_failures: u32,
    /// Truncated replies in a row that are answered by going on.
    pub truncations: u32,
    /// Replies thrown away and asked for again (drift guard).
    pub reprompts: u32,
    /// Messages a compaction leaves as they are.
    pub kept_messages: u32,
    /// How long a cancel waits for a human who was asked about unknown effects.
    pub cancel_wait_ms: u64,
    /// How long a run waits for a provider that stays down, after its retries.
    pub provider_wait_ms: u64,
    /// How long whoever waits for one answer stays while the provider fails. Then the run is left
    /// as it is, to be taken up later; a worker stays.
    #[serde(skip_serializing_if = "is_usual_answer_wait")]
    pub answer_wait_ms: u64,
    /// The same while nobody listens at an address of this machine.
    #[serde(skip_serializing_if = "is_usual_local_wait")]
    pub local_wait_ms: u64,
    /// Answers a completion gate may reject.
    pub rejections: u32,
    /// Answers that may not fit their schema.
    pub output_retries: u32,
    /// Tokens of a summary.
    pub summary_tokens: u64,
    /// Compactions and questions about lost context in one run.
    pub recoveries: u32,
    /// Model calls after a compaction within which a window that is full again takes the next step.
    pub recovery_iterations: u32,
    /// Calls that loop detection looks back on.
    pub loop_window_calls: u32,
    /// The same call with the same arguments so often among them is a loop.
    pub loop_identical_calls: u32,
    /// The same tool with other arguments so often among them is a loop.
    pub loop_same_tool_calls: u32,
    /// Child conversations at work at once.
    pub children: u16,
    /// How deep children may have children.
    pub child_depth: u8,
    /// Messages of the sliding window: when room is needed, whole turns before them go first.
    #[serde(skip_serializing_if = "is_usual_window")]
    pub sliding_messages: u32,
    /// How long a hook may take.
    pub hook_ms: u64,
    /// How long a human may take to approve a call; `None` means as long as they like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_ms: Option<u64>,
}

/// More than the two for every round that a run has by default.
const SLIDING_MESSAGES: u32 = 100;

/// Whoever names another model would rather have that one's answer than wait.
const FALLBACK_FAILURES: u32 = 3;

/// As long as a busy provider usually takes to come back.
const ANSWER_WAIT_MS: u64 = 180_000;

/// As long as a server that is being started takes.
const LOCAL_WAIT_MS: u64 = 5_000;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_usual_fallback(failures: &u32) -> bool {
    *failures == FALLBACK_FAILURES
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_usual_answer_wait(ms: &u64) -> bool {
    *ms == ANSWER_WAIT_MS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_usual_local_wait(ms: &u64) -> bool {
    *ms == LOCAL_WAIT_MS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_usual_window(messages: &u32) -> bool {
    *messages == SLIDING_MESSAGES
}

/// How long a run may be at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// After so long it sums up what it did and ends.
    pub soft_ms: u64,
    /// After so long it is ended.
    pub hard_ms: u64,
    /// How long the calls in the air are waited for at the soft limit.
    pub grace_ms: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { soft_ms: 900_000, hard_ms: 1_200_000, grace_ms: 30_000 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_rounds: 50,
            model_calls: 110,
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
            fallback_failures: FALLBACK_FAILURES,
            truncations: 3,
            reprompts: 2,
            kept_messages: 10,
            cancel_wait_ms: 180_000,
            provider_wait_ms: 3_600_000,
            answer_wait_ms: ANSWER_WAIT_MS,
            local_wait_ms: LOCAL_WAIT_MS,
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
            sliding_messages: SLIDING_MESSAGES,
            hook_ms: 60_000,
            approval_ms: None,
        }
    }
}

impl Limits {
    /// The profile for routers: short runs.
    #[must_use]
    pub fn router() -> Self {
        Self::default().with_tool_rounds(12)
    }

    /// How long whoever waits for one answer stays while model calls fail like this. A failure that
    /// waiting does not mend ends the run by itself.
    #[must_use]
    pub fn patience_ms(&self, class: FailureClass) -> u64 {
        match class {
            FailureClass::Absent => self.local_wait_ms.min(self.answer_wait_ms),
            FailureClass::Passing
            | FailureClass::Cut
            | FailureClass::TooLong
            | FailureClass::Lasting => self.answer_wait_ms,
        }
    }

    /// The same limits with another round cap and the model-call backstop that belongs to it.
    #[must_use]
    pub fn with_tool_rounds(mut self, tool_rounds: u32) -> Self {
        self.tool_rounds = tool_rounds;
        self.model_calls = tool_rounds.saturating_mul(2).saturating_add(10);
        self
    }
}
