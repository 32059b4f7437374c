//! Configuration in the files of Claude Code: settings, memory, sub-agents, commands, hooks.

pub(crate) mod agent_files;
pub(crate) mod agent_spec;
pub(crate) mod config_file;
pub(crate) mod custom_commands;
pub(crate) mod front_matter;
pub(crate) mod hook_config;
mod known_settings;
pub(crate) mod main_agent;
pub(crate) mod mcp_servers;
pub(crate) mod memory_files;
mod nested_yaml;
pub(crate) mod output_styles;
pub(crate) mod page_check;
pub(crate) mod permission_settings;
pub(crate) mod sandbox_keys;
pub(crate) mod settings_check;
pub(crate) mod settings_sources;
pub(crate) mod skills;
pub(crate) mod unique_keys;
