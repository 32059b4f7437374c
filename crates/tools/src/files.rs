//! Files.

mod lines;
mod open;
mod page;
mod path;
mod protected;
mod read;
mod resolve;
mod zones;

#[cfg(test)]
mod lines_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod zones_tests;

pub use read::Read;
pub use zones::Zones;
