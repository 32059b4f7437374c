//! Commands for a shell.

mod bash;
mod report;

pub use bash::Bash;
