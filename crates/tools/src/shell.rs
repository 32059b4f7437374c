//! Commands for a shell.

mod background;
mod bash;
mod folder;
mod kill;
mod parse;
mod poll;
mod programs;
mod rejudge;
mod report;
mod scripts;
mod under_way;

pub use bash::Bash;
pub use kill::KillShell;
pub use parse::take_apart;
pub use poll::BashOutput;
pub use scripts::files_run_by;

pub(crate) use background::Background;
pub(crate) use programs::Programs;
pub(crate) use under_way::CommandsUnderWay;
