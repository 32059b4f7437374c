//! The level of the sandbox, from flags, `config.toml` and settings files, and what it means for
//! permissions.

use std::path::{Path, PathBuf};

use anyhow::bail;
use windlass::core::permission::{CommandConfinement, PermissionMode};
use windlass_sandbox::SandboxLevel;

use crate::args::{PermissionArgs, SandboxArg};
use crate::config::claude::settings_sources::{SettingsSource, effective_sources};
use crate::config::config_toml::Config;
use crate::config::paths;
use crate::config::sandbox_settings::SandboxConfig;
use crate::config::trust::folder_trust::FolderTrust;
use crate::exit::OrUsageError;
use crate::messages;

/// The level of the sandbox, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelChoice {
    pub(crate) level: SandboxLevel,
    /// What decided the level.
    pub(crate) decided_by: &'static str,
    /// How commands are confined, as far as permissions depend on it.
    pub(crate) confinement: CommandConfinement,
}

impl LevelChoice {
    /// Resolves the level for a workspace: the flag counts before `config.toml`, and that before
    /// settings files. Only the flag switches the sandbox off.
    pub(crate) fn resolve(
        args: &PermissionArgs,
        config: &SandboxConfig,
        (sources, workspace): (&[SettingsSource], &Path),
    ) -> anyhow::Result<Self> {
        let mut choice = Self::choose(args, config, sources).or_usage_error()?;
        // Start files of shells and programs that do not exist yet cannot all be protected, so that
        // a command that may write the home folder is no safer for being confined.
        let writes = choice.level == SandboxLevel::WorkspaceWrite;
        if writes && contains_home(&written_folders(args, sources, workspace)) {
            choice.confinement = CommandConfinement::Disregarded;
        }
        Ok(choice)
    }

    fn choose(
        args: &PermissionArgs,
        config: &SandboxConfig,
        sources: &[SettingsSource],
    ) -> anyhow::Result<Self> {
        if config.level == Some(SandboxLevel::Off) {
            bail!(
                "`sandbox.level` of config.toml cannot be `off`; switch the sandbox off with --sandbox off"
            );
        }
        let by_settings = sources.iter().any(|source| source.sandbox.enabled == Some(true));
        let (level, decided_by) = match (args.sandbox, config.level) {
            (Some(given), _) => (given.level(), "--sandbox"),
            (None, Some(level)) => (level, "`sandbox.level` of config.toml"),
            (None, None) if by_settings => {
                (SandboxLevel::WorkspaceWrite, "`sandbox.enabled` of a settings file")
            }
            (None, None) if windlass_sandbox::is_available() => {
                (SandboxLevel::WorkspaceWrite, "the default")
            }
            (None, None) => {
                let confinement = CommandConfinement::Missing;
                let decided_by = "this machine, which has no sandbox";
                return Ok(Self { level: SandboxLevel::Off, decided_by, confinement });
            }
        };
        if level != SandboxLevel::Off && !windlass_sandbox::is_available() {
            bail!(
                "no sandbox is available on this machine, and {decided_by} requires the level {}; run without one with --sandbox off",
                level.name()
            );
        }
        let auto_allow = config.auto_allow
            || sources
                .iter()
                .any(|source| source.sandbox.auto_allow_bash_if_sandboxed == Some(true));
        let confinement = match level {
            SandboxLevel::Off => CommandConfinement::Disregarded,
            // A command that reaches the network may send away whatever it can read.
            _ if config.network => CommandConfinement::Disregarded,
            _ if auto_allow => CommandConfinement::AutoAllowed,
            _ => CommandConfinement::Confined,
        };
        Ok(Self { level, decided_by, confinement })
    }

    /// Resolves the level for a folder.
    pub(crate) fn of_folder(
        args: &PermissionArgs,
        config: &Config,
        folder: &FolderTrust,
    ) -> anyhow::Result<Self> {
        let sources = effective_sources(args, folder)?;
        Self::resolve(args, &config.sandbox, (&sources, &folder.folder))
    }

    /// Refuses a mode that needs the sandbox where there is none.
    pub(crate) fn check_mode(&self, mode: PermissionMode) -> anyhow::Result<()> {
        let needs = matches!(mode, PermissionMode::BypassPermissions | PermissionMode::Auto);
        if needs && self.confinement == CommandConfinement::Missing {
            bail!("{}", messages::sandbox::MODE_NEEDS_SANDBOX);
        }
        Ok(())
    }
}

/// Returns the folders in which commands may write.
fn written_folders(
    args: &PermissionArgs,
    sources: &[SettingsSource],
    workspace: &Path,
) -> Vec<PathBuf> {
    let added = sources.iter().flat_map(|source| &source.permissions.additional_directories);
    let named = args.add_dir.iter().cloned().chain(added.map(|folder| workspace.join(folder)));
    let folders = std::iter::once(workspace.to_owned()).chain(named);
    folders.filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Returns whether one of the folders is, or contains, the home folder.
fn contains_home(folders: &[PathBuf]) -> bool {
    let home = paths::home_folder().and_then(|home| home.canonicalize().ok());
    home.is_some_and(|home| folders.iter().any(|folder| home.starts_with(folder)))
}

impl SandboxArg {
    /// The level that the flag names.
    pub(crate) fn level(self) -> SandboxLevel {
        match self {
            Self::ReadOnly => SandboxLevel::ReadOnly,
            Self::WorkspaceWrite => SandboxLevel::WorkspaceWrite,
            Self::Off => SandboxLevel::Off,
        }
    }
}
