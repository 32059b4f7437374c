//! Commands for a shell.

mod background;
mod bash;
mod folder;
mod kill;
mod parse;
mod poll;
mod report;

pub use bash::Bash;
pub use kill::KillShell;
pub use parse::take_apart;
pub use poll::BashOutput;

pub(crate) use background::Background;
