//! The sandbox of a folder, without starting anything in it.

use std::sync::Arc;

use windlass::core::permission::Permissions;
use windlass::ports::ProcessLauncher;
use windlass::tools::PathZones;

use crate::args::{PermissionArgs, StoreArgs, WhenAsked};
use crate::config::claude::permission_settings::build_permissions;
use crate::config::claude::settings_sources;
use crate::config::command_tools::CommandTools;
use crate::config::sandbox_settings::SandboxChoice;
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::{config_toml, paths};
use crate::exit::OrUsageError;
use crate::toolset;

/// How the commands of a folder are confined, and what decides about them.
pub(crate) struct FolderSandbox {
    pub(crate) choice: SandboxChoice,
    pub(crate) zones: PathZones,
    pub(crate) rules: Permissions,
}

/// Returns how the commands of a folder are confined with these flags.
pub(crate) fn sandbox_of_folder(
    args: &PermissionArgs,
    store: &StoreArgs,
) -> anyhow::Result<FolderSandbox> {
    let workspace = paths::resolve_folder(&args.workspace, "--workspace")?;
    let reads = |source: &str| args.reads_source(source);
    let folder = FolderTrust::load(&workspace, reads)?;
    let sources = settings_sources::effective_sources(args, &folder).or_usage_error()?;
    let config = config_toml::read()?;
    let programs = CommandTools::load(&config, &workspace, folder.trust, reads)?;
    let zones = toolset::build_zones(args, &workspace, &sources, &programs)?;
    let choice = SandboxChoice::resolve(args, store, (&sources, &zones)).or_usage_error()?;
    let place = (workspace.as_path(), &choice.level);
    let rules = build_permissions(args, &sources, place, WhenAsked::Park).or_usage_error()?;
    Ok(FolderSandbox { choice, zones, rules })
}

/// Returns the launcher of this folder's servers, as runs without flags have it.
pub(crate) fn launcher_here(store: &StoreArgs) -> anyhow::Result<Arc<dyn ProcessLauncher>> {
    let args = PermissionArgs { workspace: ".".into(), ..PermissionArgs::default() };
    Ok(sandbox_of_folder(&args, store)?.choice.launcher())
}
