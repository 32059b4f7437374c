//! Configuration: from flags, files and the environment to the settings of a conversation. Each
//! file here reads one kind of source; `setup` combines them.

pub(crate) mod agent_files;
pub(crate) mod config_file;
pub(crate) mod config_toml;
pub(crate) mod custom_commands;
pub(crate) mod folder_trust;
pub(crate) mod front_matter;
pub(crate) mod hook_config;
mod known_settings;
pub(crate) mod limit_settings;
pub(crate) mod mcp_servers;
pub(crate) mod memory_files;
pub(crate) mod model_controls;
pub(crate) mod model_selection;
pub(crate) mod page_check;
pub(crate) mod paths;
pub(crate) mod permission_settings;
pub(crate) mod project_grants;
pub(crate) mod project_rules;
pub(crate) mod run_settings;
pub(crate) mod scripts;
pub(crate) mod settings_check;
pub(crate) mod settings_sources;
pub(crate) mod trust_file;
mod unique_keys;
pub(crate) mod workspace_arg;
