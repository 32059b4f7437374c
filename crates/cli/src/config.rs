//! Configuration: from flags, files and the environment to the settings of a conversation. Each
//! file here reads one kind of source; `setup` combines them.

pub(crate) mod claude;
pub(crate) mod command_tools;
pub(crate) mod config_toml;
pub(crate) mod flag_resolution;
pub(crate) mod limit_settings;
pub(crate) mod mcp;
pub(crate) mod model_controls;
pub(crate) mod model_selection;
pub(crate) mod paths;
pub(crate) mod permission_mode;
pub(crate) mod plugins;
pub(crate) mod run_settings;
pub(crate) mod sandbox_level;
pub(crate) mod sandbox_settings;
pub(crate) mod scripts;
pub(crate) mod tool_search;
pub(crate) mod trust;
pub(crate) mod web_tools;
pub(crate) mod workspace_arg;
