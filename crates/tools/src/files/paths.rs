//! The paths that tools may use: zones, symbolic links, protected files.

pub(super) mod git_config;
pub(super) mod lexical;
pub(super) mod path_file;
pub(super) mod path_zones;
pub(super) mod protected_paths;
pub(super) mod resolved_path;
pub(super) mod sandbox_paths;
pub(super) mod symlinks;

#[cfg(test)]
mod lexical_tests;
#[cfg(test)]
mod path_zones_tests;
#[cfg(test)]
mod resolved_path_tests;
