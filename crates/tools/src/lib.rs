//! Hands: the tools built in. Today: `Read` for files, `Bash` for commands, `AskUserQuestion` for
//! whatever only a person knows.
//!
//! A tool reads its input strictly: an unknown or repeated key is an error, so that what was
//! judged is what runs. It says what a call touches before the call runs, and it ends everything it
//! started when its future is dropped.
//!
//! Not here: who may call what (that is the core's policy), the cutting of results to what the
//! model sees (the core again), and a sandbox: a command runs with the rights of this process.

mod agents;
mod files;
mod hooks;
mod human;
mod input;
mod journal;
pub mod limits;
mod output;
mod process;
mod shell;

pub use agents::{Agent, MAX_TASKS, SpawnChildRuns};
pub use files::{Read, Zones};
pub use hooks::{BadHooks, CommandHooks, HookConfig};
pub use human::AskUserQuestion;
pub use journal::JournalTool;
pub use output::{BadSchema, StructuredOutput};
pub use shell::{Bash, take_apart};
