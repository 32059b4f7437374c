//! Hands: the tools built in. `Read`, `Write` and `Edit` for files, `Glob` and `Grep` to find them,
//! `Bash`, `BashOutput` and `KillShell` for commands, `TodoWrite` for a list of tasks,
//! `AskUserQuestion` for whatever only a person knows; [`standard`] has them all, and [`Custom`]
//! makes one from a function.
//!
//! A tool reads its input strictly: an unknown or repeated key is an error, so that what was
//! judged is what runs. It says what a call touches before the call runs, and it ends everything it
//! started when its future is dropped.
//!
//! Not here: who may call what (that is the core's policy), the cutting of results to what the
//! model sees (the core again), and a sandbox: a command runs with the rights of this process.

mod agents;
mod around;
mod custom;
mod desk;
mod files;
mod hex;
mod hooks;
mod human;
mod input;
mod journal;
pub mod limits;
mod memory;
mod nearest;
mod offer;
mod output;
mod paging;
mod plan;
mod process;
mod search;
mod shape;
mod shell;
mod standard;
mod todo;
mod workplace;

#[cfg(test)]
mod hex_tests;
#[cfg(test)]
mod nearest_tests;
#[cfg(test)]
mod shape_tests;

pub use agents::{Agent, LIKE_THE_PARENT, MAX_TASKS, SpawnChildRuns};
pub use custom::Custom;
pub use desk::remove_tool_state;
pub use files::{
    Attached, Edit, FileBeginning, FileRefusal, Hunk, Read, Write, Zones, diff_hunks, read_beneath,
    read_linked,
};
pub use hooks::{BadHooks, CommandHooks, HookConfig, IgnoredHook};
pub use human::AskUserQuestion;
pub use journal::JournalTool;
pub use memory::{
    FolderMemory, Imports, MemoryFile, MemoryNotes, memory_files, memory_frame, remembering,
    user_memory_files,
};
pub use nearest::nearest_name;
pub use output::{BadSchema, StructuredOutput};
pub use paging::paged;
pub use plan::ExitPlanMode;
pub use process::{Reaped, count_orphans, reap_orphans};
pub use schemars;
pub use search::{Glob, Grep};
pub use shape::shape;
pub use shell::{Bash, BashOutput, KillShell, files_run_by, take_apart};
pub use standard::{STANDARD, standard, standard_only};
pub use todo::{Status, Todo, TodoWrite};
pub use workplace::Workplace;
