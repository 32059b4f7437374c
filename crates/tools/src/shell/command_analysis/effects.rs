//! What commands do: the files they read and write, the folders they change to, the programs that
//! run other programs.

pub(super) mod archives;
pub(super) mod builtins;
pub(super) mod command_paths;
pub(super) mod embedded_paths;
pub(super) mod file_operands;
pub(super) mod folder_changes;
pub(super) mod git;
pub(super) mod glob_patterns;
pub(super) mod unwrap_wrappers;
pub(super) mod wrapper_options;
pub(super) mod wrappers;
pub(super) mod writers;
