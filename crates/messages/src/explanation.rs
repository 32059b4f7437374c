//! The facts behind the explanation of a run: what failed and was not made good, what repeated, what
//! broke the prompt cache, what fills the context. They are read from entries alone, so they are the
//! same for every reader and after every crash.
//!
//! Not here: the sentences (the command line has them) and what other processes do right now.

mod cache_use;
mod call_log;
mod context_use;
mod excerpt;
mod facts_builder;
mod schema_conflicts;

#[cfg(test)]
mod explanation_tests;

use schemars::JsonSchema;
use serde::Serialize;

pub use cache_use::{CacheBreak, CacheMiss, ModelCallUse};
pub use call_log::{CallDenial, CallProblem, FailedCall, RepeatedCall};
pub use context_use::{ContextPiece, ContextUse};
pub use excerpt::TextExcerpt;
pub use facts_builder::RunFactsBuilder;
pub use schema_conflicts::find_schema_conflicts;

/// What the log of a conversation says about one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunFacts {
    /// The beginning of the prompt.
    pub prompt: Option<TextExcerpt>,
    /// The beginning of the answer; absent while there is none.
    pub answer: Option<TextExcerpt>,
    /// Calls that failed or were denied, in the order of their first failure.
    pub failed_calls: Vec<FailedCall>,
    /// The call that was repeated most, if any was repeated several times.
    pub repeated_call: Option<RepeatedCall>,
    /// Calls that the output limit cut off.
    pub cut_calls: Vec<CutCall>,
    /// Model calls that brought no reply.
    pub lost_attempts: LostAttempts,
    /// Model calls with a reply, and how they used the prompt cache.
    pub model_calls: Vec<ModelCallUse>,
    /// What fills the context of the next request.
    pub context: Option<ContextUse>,
    /// Sub-agents of the run, in the order in which they were started.
    pub sub_agents: Vec<SubAgentFact>,
    /// Why no answer can fit the schema of the run.
    pub schema_conflicts: Vec<String>,
    /// Prompts that wait behind the run.
    pub waiting_prompts: Vec<TextExcerpt>,
}

/// A call whose arguments the output limit cut off: it never ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CutCall {
    /// The tool.
    pub tool: String,
    /// The file that the call is about, if its arguments reached that far.
    pub path: Option<String>,
    /// How many characters of the arguments arrived.
    pub received_chars: u64,
    /// The entry with the reply.
    pub entry: u64,
}

/// Model calls that brought no reply, and what they cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LostAttempts {
    /// How many there were.
    pub count: u32,
    /// How many of them were cut off while the reply arrived.
    pub cut_streams: u32,
    /// Tokens that they were charged with. No provider reported them: they are an upper estimate.
    pub estimated_tokens: u64,
    /// The cost of these tokens, in millionths of a US dollar.
    pub estimated_usd_micros: u64,
    /// What the last one failed with.
    pub last_error: Option<TextExcerpt>,
    /// The entries.
    pub entries: Vec<u64>,
}

/// A sub-agent of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SubAgentFact {
    /// The conversation of the sub-agent.
    pub conversation: String,
    /// What it was asked to do.
    pub task: TextExcerpt,
    /// Its state: `working`, `answered` or `failed`.
    pub state: SubAgentState,
    /// What it returned: an answer, or why it failed.
    pub result: Option<TextExcerpt>,
    /// The stop cause of its run, as far as the store knows it.
    pub cause: Option<String>,
    /// The entry with its result, else with its start.
    pub entry: u64,
}

/// What a sub-agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubAgentState {
    /// It has not returned yet.
    Working,
    /// It returned an answer.
    Answered,
    /// It returned no answer.
    Failed,
}
