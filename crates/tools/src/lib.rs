//! The built-in tools: `ReadTool`, `WriteTool` and `EditTool` for files, `GlobTool` and `GrepTool`
//! to find them, `BashTool`, `TaskOutputTool` and `TaskStopTool` for commands, `TodoWriteTool` for
//! a list of tasks, `AskUserQuestionTool` for questions to a human; [`standard_tools()`] returns
//! all of them, and [`FunctionTool`] makes one from a function.
//!
//! Tools read their input strictly: an unknown or repeated key is an error, so that what was
//! authorised is what runs. A tool declares what a call touches before the call runs, and it ends
//! everything it started when its future is dropped.
//!
//! Not here: permission policy and truncation of results (the core), and the sandbox: without a
//! launcher that confines them, commands run with the rights of this process.

#![cfg_attr(not(feature = "shell"), expect(dead_code, reason = "a part serves commands alone"))]

mod background_agents;
mod command_tools;
mod conversation_tools;
mod file_history;
mod files;
pub mod hooks;
pub mod limits;
mod memory_files;
mod name_suggestion;
mod process;
mod search;
#[cfg(feature = "shell")]
mod shell;
mod skill_tool;
mod standard_tools;
mod sub_agents;
mod tool_context;
mod tool_definition;
mod tool_results;
mod tool_search;
mod worktrees;

#[cfg(test)]
mod name_suggestion_tests;

pub use background_agents::{BackgroundAgentState, BackgroundAgents};
pub use command_tools::{CommandTool, CommandToolConfig, CommandToolName, ProgramInput};
pub use conversation_tools::{
    AskUserQuestionTool, ExitPlanModeTool, InvalidOutputSchema, JournalTool, StructuredOutput,
    TodoItem, TodoStatus, TodoWriteTool,
};
pub use file_history::{FileRewind, FileRewindError, RewindPoint};
pub use files::{
    Attachment, ConfigFileError, DiffHunk, EditTool, FilePrefix, OpenFiles, PathZones, ReadTool,
    SandboxPaths, WriteTool, diff_hunks, read_beneath, read_following_links,
};
pub use hooks::{
    CommandHooks, HookCallbackError, HookCallbackRequest, HookCallbacks, HookConfig, HookHttp,
    HookHttpRequest, HookHttpResponse, HookReport, HookRunLabel, IgnoredHook, InvalidHooks,
    PermissionHookDecision,
};
pub use memory_files::{
    FolderMemory, ImportPolicy, MemoryFile, MemoryKind, MemoryNotes, frame_memory_file,
    read_memory_files, read_user_memory_files, with_folder_memory,
};
pub use name_suggestion::nearest_name;
pub use process::{
    PipedCommand, PipedProcess, ProcessPipes, ReapedOrphans, count_orphans, reap_orphans,
};
pub use schemars;
pub use search::{GlobTool, GrepTool};
#[cfg(feature = "shell")]
pub use shell::{
    BackgroundCommandInfo, BashTool, TaskOutputTool, TaskStopTool, analyze_command,
    background_command_id, files_run_by,
};
pub use skill_tool::{LoadedSkill, SkillLoader, SkillSummary, SkillTool};
pub use standard_tools::{select_standard_tools, standard_tool_names, standard_tools};
pub use sub_agents::{AgentTool, GENERAL_PURPOSE_AGENT, MAX_CHILD_TASKS, SpawnChildRunsTool};
pub use tool_context::ToolContext;
pub use tool_context::tool_state::remove_tool_state;
pub use tool_definition::FunctionTool;
pub use tool_results::{sdk_result, with_long_results};
pub use tool_search::ToolSearchTool;
pub use worktrees::{GitWorktrees, LeftoverWorktree, WorktreeHooks};
