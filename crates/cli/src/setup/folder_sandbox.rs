//! The sandbox of a folder, without starting anything in it.

use crate::args::{PermissionArgs, StoreArgs};
use crate::config::claude::settings_sources;
use crate::config::command_tools::CommandTools;
use crate::config::sandbox_settings::SandboxChoice;
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::{config_toml, paths};
use crate::exit::OrUsageError;
use crate::toolset;

/// Returns how the commands of a folder are confined with these flags.
pub(crate) fn sandbox_of_folder(
    args: &PermissionArgs,
    store: &StoreArgs,
) -> anyhow::Result<SandboxChoice> {
    let workspace = paths::resolve_folder(&args.workspace, "--workspace")?;
    let reads = |source: &str| args.reads_source(source);
    let folder = FolderTrust::load(&workspace, reads)?;
    let sources = settings_sources::effective_sources(args, &folder).or_usage_error()?;
    let config = config_toml::read()?;
    let programs = CommandTools::load(&config, &workspace, folder.trust, reads)?;
    let zones = toolset::build_zones(args, &workspace, &sources, &programs)?;
    SandboxChoice::resolve(args, store, (&sources, &zones)).or_usage_error()
}
