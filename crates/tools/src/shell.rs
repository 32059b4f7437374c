//! Commands for a shell.

mod bash;
mod parse;
mod report;

pub use bash::Bash;
pub use parse::take_apart;
