//! The sandbox of a process: its level and policy, from flags, `config.toml` and settings files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use serde::Deserialize;
use windlass::UnconfinedLauncher;
use windlass::ports::ProcessLauncher;
use windlass::tools::PathZones;
use windlass_sandbox::{NetworkAccess, Policy, SandboxLauncher, SandboxLevel, SandboxLimits};

use crate::args::{PermissionArgs, SandboxArg, StoreArgs};
use crate::config::claude::settings_sources::SettingsSource;
use crate::config::config_toml;
use crate::exit::UsageError;
use crate::setup;

/// The table `[sandbox]` of `config.toml`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SandboxConfig {
    /// How much commands and hooks are confined.
    pub(crate) level: Option<SandboxLevel>,
    /// Whether they have the network of this machine.
    pub(crate) network: bool,
    /// Further folders and files that they may write.
    pub(crate) write: Vec<PathBuf>,
    /// Further folders and files that they cannot read.
    pub(crate) deny_read: Vec<PathBuf>,
}

/// The part of `sandbox` in settings files of Claude Code that has an effect here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClaudeSandbox {
    /// Whether commands are confined.
    pub(crate) enabled: Option<bool>,
}

/// How the processes of tools and hooks are confined.
#[derive(Debug, Clone)]
pub(crate) struct SandboxChoice {
    pub(crate) level: SandboxLevel,
    /// What decided the level.
    pub(crate) decided_by: &'static str,
    /// What a process may touch; without a sandbox, nothing is restricted.
    pub(crate) policy: Option<Policy>,
}

impl SandboxChoice {
    /// Resolves level and policy: the flag counts before `config.toml`, and that before settings
    /// files.
    pub(crate) fn resolve(
        args: &PermissionArgs,
        store: &StoreArgs,
        (sources, zones): (&[SettingsSource], &PathZones),
    ) -> anyhow::Result<Self> {
        let config = config_toml::read()?.sandbox;
        let by_settings = sources.iter().rev().find_map(|source| source.sandbox.enabled);
        let (level, decided_by) = match (args.sandbox, config.level, by_settings) {
            (Some(given), _, _) => (given.level(), "--sandbox"),
            (None, Some(level), _) => (level, "`sandbox.level` of config.toml"),
            (None, None, Some(true)) => {
                (SandboxLevel::WorkspaceWrite, "`sandbox.enabled` of a settings file")
            }
            (None, None, Some(false) | None) => (SandboxLevel::Off, "the default"),
        };
        let policy = match level {
            SandboxLevel::Off => None,
            SandboxLevel::ReadOnly | SandboxLevel::WorkspaceWrite => {
                let mut policy = build_policy(level, &config, zones)?;
                policy.deny_read.extend(store_files(store));
                Some(policy)
            }
        };
        Ok(Self { level, decided_by, policy })
    }

    /// Returns the launcher of the processes of tools and hooks.
    pub(crate) fn launcher(&self) -> Arc<dyn ProcessLauncher> {
        match &self.policy {
            Some(policy) => Arc::new(SandboxLauncher::new(policy.clone())),
            None => Arc::new(UnconfinedLauncher),
        }
    }
}

fn build_policy(
    level: SandboxLevel,
    config: &SandboxConfig,
    zones: &PathZones,
) -> anyhow::Result<Policy> {
    let paths = zones.sandbox_paths();
    let named = |list: &[PathBuf], key: &str| -> anyhow::Result<Vec<PathBuf>> {
        list.iter().map(|path| resolve_configured(path, zones, key)).collect()
    };
    let (mut write, mut deny_read) = (paths.write.clone(), paths.deny_read);
    write.extend(named(&config.write, "write")?);
    deny_read.extend(named(&config.deny_read, "deny_read")?);
    // What exists now is read through its real path.
    for denied in &mut deny_read {
        if let Ok(real) = denied.canonicalize() {
            *denied = real;
        }
    }
    if level == SandboxLevel::ReadOnly {
        write.clear();
    }
    let is_read_only = level == SandboxLevel::ReadOnly;
    Ok(Policy {
        // The workspace may lie in a folder that is private.
        read: if is_read_only { paths.write } else { Vec::new() },
        write,
        protect: if is_read_only { Vec::new() } else { paths.protect },
        deny_read,
        network: if config.network { NetworkAccess::Full } else { NetworkAccess::None },
        limits: SandboxLimits::default(),
    })
}

/// Returns the files of a store on disk: it holds the conversations of every folder.
fn store_files(store: &StoreArgs) -> Vec<PathBuf> {
    let Ok(path) = setup::store_path(store) else { return Vec::new() };
    if setup::server_address(&path).is_some() {
        return Vec::new();
    }
    let path = std::path::absolute(&path).unwrap_or(path);
    let real = path.canonicalize().unwrap_or(path);
    ["", "-wal", "-shm"]
        .iter()
        .map(|suffix| {
            let mut name = real.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        })
        .collect()
}

fn resolve_configured(path: &Path, zones: &PathZones, key: &str) -> anyhow::Result<PathBuf> {
    let full = match (path.strip_prefix("~"), zones.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    };
    if !full.is_absolute() {
        let path = path.display();
        return Err(UsageError::wrap(anyhow::anyhow!(
            "`{path}` in `sandbox.{key}` of config.toml is not an absolute path; write it from / or ~"
        )));
    }
    match full.canonicalize() {
        Ok(real) => Ok(real),
        // It may be created later.
        Err(_) if key == "deny_read" => Ok(full),
        Err(error) => {
            bail!("cannot open `{}` in `sandbox.{key}` of config.toml: {error}", path.display())
        }
    }
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
