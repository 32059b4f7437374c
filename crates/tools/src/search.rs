//! Finding files by name and by what is in them, with the parts of ripgrep.

mod found;
mod glob;
mod grep;
mod matches;
mod pattern;
mod stop;
mod walk;

pub use glob::Glob;
pub use grep::Grep;
