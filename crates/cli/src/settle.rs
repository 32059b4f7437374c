//! From flags, files and the environment to the settings of a conversation. Each file here reads
//! one kind of source; `setup` puts them together.

pub(crate) mod agents;
pub(crate) mod config;
pub(crate) mod config_file;
pub(crate) mod controls;
pub(crate) mod customs;
pub(crate) mod front;
pub(crate) mod grants;
pub(crate) mod hooks;
mod known_names;
pub(crate) mod limits;
pub(crate) mod mcp_servers;
pub(crate) mod memory;
pub(crate) mod model;
pub(crate) mod page_check;
pub(crate) mod paths;
pub(crate) mod project;
pub(crate) mod rules;
pub(crate) mod run_settings;
pub(crate) mod scripts;
pub(crate) mod settings_check;
pub(crate) mod sources;
pub(crate) mod trust;
pub(crate) mod trust_file;
mod unique_keys;
pub(crate) mod workspace;
