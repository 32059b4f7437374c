//! The file tools: reading, writing and editing files, and the paths that they may use.

mod attach;
mod blocking_task;
mod config_files;
mod edit;
mod file_errors;
mod open_files;
mod paths;
mod read;
mod write;

pub use attach::Attachment;
pub(crate) use config_files::is_absent;
pub use config_files::{ConfigFileError, FilePrefix, read_beneath, read_following_links};
pub use edit::EditTool;
pub use open_files::OpenFiles;
pub use paths::path_zones::PathZones;
pub use paths::sandbox_paths::SandboxPaths;
pub use read::ReadTool;
pub use write::WriteTool;
pub use write::patch::{DiffHunk, diff_hunks};
pub(crate) use write::{atomic_write, content_hash, write_target};

pub(crate) use blocking_task::run_blocking;
#[cfg(feature = "shell")]
pub(crate) use paths::lexical::lexical_absolute;
pub(crate) use paths::lexical::resource_keys;
pub(crate) use paths::resolved_path::ResolvedPath;
