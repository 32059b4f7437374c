//! The file tools: reading, writing and editing files, and the paths that they may use.

mod atomic_write;
mod attach;
mod blocking_task;
mod bounded_lines;
mod config_files;
mod content_hash;
mod edit;
mod encoding;
mod file_errors;
mod file_kind;
mod git_config;
mod image;
mod notebook;
mod page_range;
mod patch;
mod path_file;
mod path_zones;
mod paths;
mod pdf;
mod protected_paths;
mod read;
mod resolved_path;
mod symlinks;
mod text_page;
mod text_replacement;
mod write;
mod write_intent;
mod write_target;

#[cfg(test)]
mod atomic_write_tests;
#[cfg(test)]
mod bounded_lines_tests;
#[cfg(test)]
mod encoding_tests;
#[cfg(test)]
mod patch_tests;
#[cfg(test)]
mod path_zones_tests;
#[cfg(test)]
mod paths_tests;
#[cfg(test)]
mod resolved_path_tests;
#[cfg(test)]
mod text_page_tests;

pub use attach::Attachment;
pub(crate) use config_files::is_absent;
pub use config_files::{ConfigFileError, FilePrefix, read_beneath, read_following_links};
pub use edit::EditTool;
pub use patch::{DiffHunk, diff_hunks};
pub use path_zones::PathZones;
pub use read::ReadTool;
pub use write::WriteTool;

pub(crate) use blocking_task::run_blocking;
pub(crate) use paths::resource_keys;
pub(crate) use resolved_path::ResolvedPath;
