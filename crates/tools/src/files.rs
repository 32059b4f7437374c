//! Files.

mod lines;
mod open;
mod page;
mod path;
mod read;

#[cfg(test)]
mod lines_tests;
#[cfg(test)]
mod path_tests;

pub use read::Read;
