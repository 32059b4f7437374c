//! The built-in tools: `ReadTool`, `WriteTool` and `EditTool` for files, `GlobTool` and `GrepTool`
//! to find them, `BashTool`, `BashOutputTool` and `KillShellTool` for commands, `TodoWriteTool` for
//! a list of tasks, `AskUserQuestionTool` for questions to a human; [`standard_tools()`] returns
//! all of them, and [`FunctionTool`] makes one from a function.
//!
//! Tools read their input strictly: an unknown or repeated key is an error, so that what was
//! authorised is what runs. A tool declares what a call touches before the call runs, and it ends
//! everything it started when its future is dropped.
//!
//! Not here: permission policy and truncation of results (the core), and a sandbox: a command runs
//! with the rights of this process.

mod ask_user_question;
mod exit_plan_mode;
mod files;
mod function_tool;
mod hooks;
mod journal;
pub mod limits;
mod long_results;
mod memory_files;
mod name_suggestion;
mod process;
mod sdk_result;
mod search;
mod shell;
mod standard_tools;
mod structured_output;
mod sub_agents;
mod todo_write;
mod tool_context;
mod tool_input;
mod tool_spec;
mod tool_state;
mod tool_wrapper;

#[cfg(test)]
mod name_suggestion_tests;
#[cfg(test)]
mod sdk_result_tests;

pub use ask_user_question::AskUserQuestionTool;
pub use exit_plan_mode::ExitPlanModeTool;
pub use files::{
    Attachment, ConfigFileError, DiffHunk, EditTool, FilePrefix, PathZones, ReadTool, WriteTool,
    diff_hunks, read_beneath, read_following_links,
};
pub use function_tool::FunctionTool;
pub use hooks::{CommandHooks, HookConfig, IgnoredHook, InvalidHooks};
pub use journal::JournalTool;
pub use long_results::with_long_results;
pub use memory_files::{
    FolderMemory, ImportPolicy, MemoryFile, MemoryNotes, frame_memory_file, read_memory_files,
    read_user_memory_files, with_folder_memory,
};
pub use name_suggestion::nearest_name;
pub use process::{ReapedOrphans, count_orphans, reap_orphans};
pub use schemars;
pub use sdk_result::sdk_result;
pub use search::{GlobTool, GrepTool};
pub use shell::{BashOutputTool, BashTool, KillShellTool, analyze_command, files_run_by};
pub use standard_tools::{STANDARD_TOOLS, select_standard_tools, standard_tools};
pub use structured_output::{InvalidOutputSchema, StructuredOutput};
pub use sub_agents::{AgentTool, GENERAL_PURPOSE_AGENT, MAX_CHILD_TASKS, SpawnChildRunsTool};
pub use todo_write::{TodoItem, TodoStatus, TodoWriteTool};
pub use tool_context::ToolContext;
pub use tool_state::remove_tool_state;
