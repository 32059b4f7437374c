//! Hands: the tools built in. Today: `Read` for files, `Bash` for commands, `AskUserQuestion` for
//! whatever only a person knows.
//!
//! A tool reads its input strictly: an unknown or repeated key is an error, so that what was
//! judged is what runs. It says what a call touches before the call runs, and it ends everything it
//! started when its future is dropped.
//!
//! Not here: who may call what (that is the core's policy), the cutting of results to what the
//! model sees (the core again), and a sandbox: a command runs with the rights of this process.

mod desk;
mod files;
mod human;
mod input;
pub mod limits;
mod offer;
mod process;
mod search;
mod shell;
mod workplace;

pub use files::{Edit, Read, Write, Zones};
pub use human::AskUserQuestion;
pub use search::{Glob, Grep};
pub use shell::{Bash, take_apart};
pub use workplace::Workplace;
