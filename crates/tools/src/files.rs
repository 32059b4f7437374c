//! Files.

mod attach;
mod blocking;
mod change;
mod digest;
mod edit;
mod encoding;
mod git_config;
mod kind;
mod lines;
mod notebook;
mod open;
mod owned;
mod page;
mod pages;
mod patch;
mod path;
mod pdf;
mod picture;
mod place;
mod pointer;
mod protected;
mod read;
mod replace;
mod resolve;
mod substitute;
mod target;
mod write;
mod zones;

#[cfg(test)]
mod encoding_tests;
#[cfg(test)]
mod lines_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod patch_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod place_tests;
#[cfg(test)]
mod replace_tests;
#[cfg(test)]
mod zones_tests;

pub use attach::Attached;
pub use edit::Edit;
pub(crate) use owned::is_absent;
pub use owned::{FileBeginning, FileRefusal, read_beneath, read_linked};
pub use patch::{Hunk, hunks as diff_hunks};
pub use read::Read;
pub use write::Write;
pub use zones::Zones;

pub(crate) use blocking::blocking;
pub(crate) use path::keys_of;
pub(crate) use place::Place;
