//! The timeline: what happened in a run, as spans of time. Waterfalls and traces are drawn from it.
//! It reads entries only, so it is the same for every reader and after every crash.

mod span_builder;
mod span_text;

#[cfg(test)]
mod timeline_tests;

use schemars::JsonSchema;
use serde::Serialize;

pub use span_builder::TimelineBuilder;

/// What happened in one run, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunTimeline {
    /// The run.
    pub run: String,
    /// When its prompt became active, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// When it ended; absent while it is active.
    pub ended_at_ms: Option<u64>,
    /// Why it ended.
    pub cause: Option<String>,
    /// The spans, by their start.
    pub spans: Vec<TimelineSpan>,
    /// Spans that are left out because there are too many.
    pub omitted_spans: u64,
}

/// Something that took time in a run, or that happened at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TimelineSpan {
    /// Unique in the run, and the same for every reader: `model_call 3`, `tool_call 3.1 2`.
    pub id: String,
    /// What kind of thing it is.
    pub kind: SpanKind,
    /// The tool, the kind of the question or review, the stage of the compaction.
    pub name: String,
    /// The iteration it belongs to, counted from 1.
    pub iteration: u32,
    /// When it began, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// When it ended; absent while it lasts.
    pub ended_at_ms: Option<u64>,
    /// How it ended.
    pub status: SpanStatus,
    /// One line about it: the input of a call, a stop reason, the first line of an error.
    pub detail: Option<String>,
    /// The log entry with its begin.
    pub first_entry: u64,
    /// The log entry with its end.
    pub last_entry: Option<u64>,
    /// What a model call used.
    pub tokens: Option<SpanTokens>,
}

/// What a span is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// A request to the model, until its reply is complete.
    ModelCall,
    /// The pause before a failed model call is retried.
    RetryWait,
    /// One attempt of a tool call.
    ToolCall,
    /// A child run of a call.
    ChildRun,
    /// A question to a person, until it is answered.
    Question,
    /// A hook, a judge or a summary that the run waits for.
    Review,
    /// Old messages were shortened or replaced; it takes no time of its own.
    Compaction,
    /// Another process continued the run; it takes no time of its own.
    Takeover,
}

/// How a span ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpanStatus {
    /// It lasts.
    Open,
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// The permissions or a person denied it.
    Denied,
    /// Its process died, and it is not known whether it took effect.
    Unknown,
    /// It was stopped before it ended.
    Interrupted,
}

/// Tokens of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpanTokens {
    /// Input tokens that were not cached.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
}
