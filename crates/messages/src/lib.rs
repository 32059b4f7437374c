//! The messages of a conversation as programs see them, and the one projection that makes them.
//!
//! [`Message`] is the message set of the Agent SDKs as Rust types. [`MessageProjection`] turns
//! entries of the log and live items into messages. It is pure: the same entries give the same
//! messages with the same ids, in every process. The library, the command line, the SDK channel and
//! transcripts all read a conversation through it; none of them interprets records itself.
//!
//! Not here: how messages are delivered (queues, subscriptions, standard output).

mod explanation;
mod form_text;
mod iso_time;
mod message;
mod message_place;
mod message_tree;
mod message_uuid;
mod projection;
mod schema;
mod stop_text;
mod timeline;
mod transcript;

pub use explanation::{
    CacheBreak, CacheMiss, CallDenial, CallProblem, ContextPiece, ContextUse, CutCall, FailedCall,
    LostAttempts, ModelCallUse, RepeatedCall, RunFacts, RunFactsBuilder, SubAgentFact,
    SubAgentState, TextExcerpt, find_schema_conflicts,
};
pub use form_text::form_problem;
pub use iso_time::format_iso_time;
pub use message::{
    AssistantMessage, CompactMetadata, CompactTrigger, CompactionStatus, ContentBlock,
    ConversationResetMessage, HookRun, InitInfo, McpServerStatus, Message, MessageBody, ModelUsage,
    PermissionDenial, PluginInfo, ResultMessage, ResultSubtype, StreamEventMessage, SystemEvent,
    SystemMessage, TaskUsage, TextBlock, ThinkingBlock, TokenCounts, TombstoneMessage,
    ToolProgressMessage, ToolResultBlock, ToolUseBlock, ToolUseSummaryMessage, UserMessage,
    UserMessageBody,
};
pub use message_place::{MessagePlace, find_message};
pub use message_tree::MessageTree;
pub use message_uuid::derive_uuid;
pub use projection::{
    MessageProjection, ProjectionOptions, ResultAudience, ResultLabel, StartedTask, SubAgentOrigin,
    ToolProgress, ToolResultView,
};
pub use schema::message_schema;
pub use stop_text::{stop_reason, stop_reason_with};
pub use timeline::{RunTimeline, SpanKind, SpanStatus, SpanTokens, TimelineBuilder, TimelineSpan};
pub use transcript::{TranscriptContext, TranscriptProjection};
pub use windlass_core::run::child_runs::sub_agent_id;
