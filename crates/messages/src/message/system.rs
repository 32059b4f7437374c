//! System messages: what happens to a conversation beside its turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message about the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMessage {
    /// What happened.
    #[serde(flatten)]
    pub event: SystemEvent,
    /// The conversation.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
}

/// What a system message is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum SystemEvent {
    /// A run starts: with what it works.
    Init(Box<InitInfo>),
    /// What the run does now.
    Status {
        /// `requesting`, `compacting`, or nothing in particular.
        status: Option<String>,
        /// The permission mode, if it changed.
        #[serde(rename = "permissionMode", default, skip_serializing_if = "Option::is_none")]
        permission_mode: Option<String>,
        /// Whether a compaction succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compact_result: Option<CompactionStatus>,
    },
    /// Old messages were replaced by a summary.
    CompactBoundary {
        /// Why, and how much it freed.
        compact_metadata: CompactMetadata,
    },
    /// The conversation went back to an earlier message; what came after it does not count.
    ConversationRewound {
        /// The id of the last message that counts.
        last_message: String,
    },
    /// The conversation took over the messages that another program wrote.
    ConversationImported {
        /// The id of the last one.
        last_message: String,
    },
    /// A model call failed and will be retried.
    ApiRetry {
        /// The number of the retry.
        attempt: u32,
        /// How many retries there are at most.
        max_retries: Option<u32>,
        /// How long the run waits before it.
        retry_delay_ms: u64,
        /// The HTTP status; `None` if no server answered.
        error_status: Option<u16>,
        /// The kind of failure.
        error: String,
    },
    /// Another model answers from here on.
    ModelFallback {
        /// The kind of failure that caused it.
        trigger: String,
        /// The model that failed.
        original_model: String,
        /// The model that answers now.
        fallback_model: Option<String>,
        /// Why.
        content: String,
    },
    /// A call was denied without asking anybody.
    PermissionDenied {
        /// The name of the tool.
        tool_name: String,
        /// The provider's id of the call.
        tool_use_id: String,
        /// Why.
        message: String,
        /// What denied it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision_reason_type: Option<String>,
    },
    /// Something a person may want to know.
    Informational {
        /// The text.
        content: String,
        /// `info`, `notice`, `suggestion` or `warning`.
        level: String,
        /// The call it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        /// Whether the run ends because of it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        prevent_continuation: bool,
    },
    /// A hook was started.
    HookStarted {
        /// The hook.
        #[serde(flatten)]
        hook: HookRun,
    },
    /// A hook has returned.
    HookResponse {
        /// The hook.
        #[serde(flatten)]
        hook: HookRun,
        /// What it wrote, both streams together.
        output: String,
        /// What it wrote to standard output.
        stdout: String,
        /// What it wrote to standard error.
        stderr: String,
        /// Its exit code; `None` if it was killed.
        exit_code: Option<i32>,
        /// `success`, `error` or `cancelled`.
        outcome: String,
    },
    /// A sub-agent or a background command was started.
    TaskStarted {
        /// The task.
        task_id: String,
        /// What it is about.
        description: String,
        /// The kind of the task, such as `local_agent`.
        task_type: String,
        /// The call that started it.
        tool_use_id: Option<String>,
        /// The kind of the sub-agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subagent_type: Option<String>,
        /// Whether the call returns before the task ends.
        #[serde(default)]
        is_backgrounded: bool,
        /// The prompt of the sub-agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
    },
    /// A sub-agent has done something.
    TaskProgress {
        /// The task.
        task_id: String,
        /// What it is about.
        description: String,
        /// What it used so far.
        usage: TaskUsage,
        /// The tool it called last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_tool_name: Option<String>,
    },
    /// The state of a task changed.
    TaskUpdated {
        /// The task.
        task_id: String,
        /// The fields that changed, `status` among them.
        patch: Value,
    },
    /// A task has ended.
    TaskNotification {
        /// The task.
        task_id: String,
        /// `completed`, `failed` or `stopped`.
        status: String,
        /// The file with its output; empty if there is none.
        output_file: String,
        /// What it returned, in a few words.
        summary: String,
        /// The call that started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        /// What it used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<TaskUsage>,
    },
    /// Whether the conversation works, waits for a person, or is idle.
    SessionStateChanged {
        /// `running`, `requires_action` or `idle`.
        state: String,
        /// Whether the message is for the SDK itself, and not for its program.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sdk_host_only: bool,
    },
    /// A system message that this version does not know.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// With what a run works.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InitInfo {
    /// The workspace.
    pub cwd: String,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The MCP servers.
    pub mcp_servers: Vec<McpServerStatus>,
    /// The model.
    pub model: String,
    /// The permission mode.
    #[serde(rename = "permissionMode")]
    pub permission_mode: String,
    /// The slash commands, without the slash.
    pub slash_commands: Vec<String>,
    /// Where the key came from.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: String,
    /// The version of the SDK protocol that the messages follow.
    pub claude_code_version: String,
    /// Our own version.
    pub windlass_version: String,
    /// The output style.
    pub output_style: String,
    /// The skills.
    pub skills: Vec<String>,
    /// The plugins.
    pub plugins: Vec<PluginInfo>,
    /// The names of the sub-agents.
    pub agents: Vec<String>,
    /// Further fields.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The state of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpServerStatus {
    /// The name of the server.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
}

/// A plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginInfo {
    /// The name of the plugin.
    pub name: String,
    /// Its folder.
    pub path: String,
}

/// Whether a compaction succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionStatus {
    /// The context is smaller now.
    Success,
    /// Nothing could be removed.
    Failed,
}

/// Why the context was compacted, and how much that freed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompactMetadata {
    /// What caused it.
    pub trigger: CompactTrigger,
    /// Tokens before.
    pub pre_tokens: u64,
    /// Tokens after.
    #[serde(default)]
    pub post_tokens: u64,
}

/// What caused a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactTrigger {
    /// A person requested it.
    Manual,
    /// The context was nearly full.
    Auto,
}

/// A hook that runs or has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookRun {
    /// The id of this run of the hook.
    pub hook_id: String,
    /// The event and what it is about, such as `PreToolUse:Bash`.
    pub hook_name: String,
    /// The event.
    pub hook_event: String,
}

/// What a task used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUsage {
    /// Tokens.
    pub total_tokens: u64,
    /// Tool calls.
    pub tool_uses: u64,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// A new conversation takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationResetMessage {
    /// The session id of the new conversation.
    pub new_conversation_id: String,
    /// The conversation that ends here.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
}
