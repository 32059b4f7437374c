//! The sandbox of a process: its policy, from `config.toml`, settings files and the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use serde::Deserialize;
use windlass::UnconfinedLauncher;
use windlass::core::message::raw_json::RawJson;
use windlass::ports::ProcessLauncher;
use windlass::tools::{PathZones, files_run_by};
use windlass_sandbox::{
    HostRule, NetworkAccess, Policy, SandboxLauncher, SandboxLevel, SandboxLimits,
};

use crate::args::{PermissionArgs, StoreArgs};
use crate::config::claude::sandbox_keys::ClaudePaths;
use crate::config::claude::settings_sources::SettingsSource;
use crate::config::config_toml;
use crate::config::sandbox_level::LevelChoice;
use crate::exit::UsageError;
use crate::setup;

/// The table `[sandbox]` of `config.toml`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SandboxConfig {
    /// How much commands and hooks are confined.
    pub(crate) level: Option<SandboxLevel>,
    /// Whether commands that the sandbox confines run without approval.
    pub(crate) auto_allow: bool,
    /// Whether they have the network of this machine.
    pub(crate) network: bool,
    /// Hosts that they may reach through the proxy.
    pub(crate) hosts: Vec<HostRule>,
    /// Ports of this machine that they may reach.
    pub(crate) local_ports: Vec<u16>,
    /// Whether they may use the SSH agent that `SSH_AUTH_SOCK` names.
    pub(crate) ssh_agent: bool,
    /// Further folders and files that they may write.
    pub(crate) write: Vec<PathBuf>,
    /// Further folders and files that they cannot read.
    pub(crate) deny_read: Vec<PathBuf>,
}

/// How the processes of tools and hooks are confined.
#[derive(Debug, Clone)]
pub(crate) struct SandboxChoice {
    pub(crate) level: LevelChoice,
    /// What a process may touch; without a sandbox, nothing is restricted.
    pub(crate) policy: Option<Policy>,
    /// The socket of the SSH agent, if commands may use it.
    ssh_agent: Option<PathBuf>,
    source: Option<PolicySource>,
}

/// What the policy follows from, to build it again when a process starts.
#[derive(Debug, Clone)]
struct PolicySource {
    level: SandboxLevel,
    config: SandboxConfig,
    claude: ClaudePaths,
    zones: PathZones,
    store: Vec<PathBuf>,
    /// What hooks and plugins consist of, wherever that is.
    programs: Vec<PathBuf>,
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
        let level = LevelChoice::resolve(args, &config, (sources, zones.root()))?;
        let ssh_agent = ssh_agent_socket(&config);
        if level.level == SandboxLevel::Off {
            return Ok(Self { level, policy: None, ssh_agent, source: None });
        }
        let source = PolicySource {
            level: level.level,
            claude: ClaudePaths::of(sources, zones),
            config,
            zones: zones.clone(),
            store: store_files(store),
            programs: installed_programs(sources, zones),
        };
        let policy = source.build(None, &[])?;
        Ok(Self { level, policy: Some(policy), ssh_agent, source: Some(source) })
    }

    /// Returns the variable that names the SSH agent, if commands may use it.
    pub(crate) fn ssh_agent_variable(&self) -> Option<(String, String)> {
        let socket = self.ssh_agent.as_ref()?.to_str()?;
        Some((SSH_AGENT_VARIABLE.to_owned(), socket.to_owned()))
    }

    /// Returns the launcher of the processes of tools and hooks.
    pub(crate) fn launcher(&self) -> Arc<dyn ProcessLauncher> {
        match (&self.policy, self.source.clone()) {
            (Some(policy), Some(source)) => {
                let current = move |workplace: Option<&Path>, folders: &[PathBuf]| {
                    source.build(workplace, folders).map_err(std::io::Error::other)
                };
                Arc::new(SandboxLauncher::new(policy.clone()).with_current_policy(current))
            }
            _ => Arc::new(UnconfinedLauncher),
        }
    }

    /// Returns the policy as it is recorded with a run.
    pub(crate) fn recorded(&self) -> RawJson {
        let policy = self.policy.as_ref().and_then(|policy| serde_json::to_value(policy).ok());
        let level = self.level.level.name();
        let recorded = serde_json::json!({
            "level": level,
            "from": self.level.decided_by,
            "policy": policy,
        });
        RawJson::encode(&recorded)
    }
}

impl PolicySource {
    /// Returns the policy as it is at this moment, in the workspace or in a folder that takes its
    /// place, with folders that were added.
    fn build(&self, workplace: Option<&Path>, added: &[PathBuf]) -> anyhow::Result<Policy> {
        let zones =
            workplace.map_or_else(|| self.zones.clone(), |place| self.zones.moved_to(place));
        let zones = added.iter().fold(zones, |zones, folder| zones.with_folder(folder));
        let mut policy = build_policy(self.level, &self.config, &self.claude, &zones)?;
        policy.deny_read.retain(|path| !self.programs.contains(path));
        policy.deny_read.extend(self.store.iter().cloned());
        let is_written = |path: &PathBuf| policy.write.iter().any(|root| path.starts_with(root));
        let (inside, outside): (Vec<_>, Vec<_>) =
            self.programs.iter().cloned().partition(is_written);
        policy.protect.extend(inside);
        policy.read.extend(outside);
        Ok(policy)
    }
}

/// Returns the folders of plugins and the scripts of hooks: a person approved them.
fn installed_programs(sources: &[SettingsSource], zones: &PathZones) -> Vec<PathBuf> {
    let plugins = sources.iter().filter_map(|source| Some(source.plugin.as_ref()?.root.clone()));
    let commands = sources.iter().flat_map(SettingsSource::commands);
    let scripts = commands.flat_map(|text| files_run_by(text, zones));
    plugins.chain(scripts).filter_map(|path| path.canonicalize().ok()).collect()
}

/// The variable that names the socket of the SSH agent.
const SSH_AGENT_VARIABLE: &str = "SSH_AUTH_SOCK";

/// Returns the socket of the SSH agent, if commands may use it and there is one.
fn ssh_agent_socket(config: &SandboxConfig) -> Option<PathBuf> {
    let socket = std::env::var_os(SSH_AGENT_VARIABLE).filter(|_| config.ssh_agent)?;
    PathBuf::from(socket).canonicalize().ok()
}

fn build_policy(
    level: SandboxLevel,
    config: &SandboxConfig,
    claude: &ClaudePaths,
    zones: &PathZones,
) -> anyhow::Result<Policy> {
    let paths = zones.sandbox_paths();
    let named = |list: &[PathBuf], key: &str| -> anyhow::Result<Vec<PathBuf>> {
        list.iter().map(|path| resolve_configured(path, zones, key)).collect()
    };
    let (mut write, mut deny_read) = (paths.write.clone(), paths.deny_read);
    write.extend(named(&config.write, "write")?);
    deny_read.extend(named(&config.deny_read, "deny_read")?);
    write.extend(claude.write.iter().filter_map(|path| path.canonicalize().ok()));
    deny_read.extend(claude.deny_read.iter().cloned());
    let mut protect = paths.protect;
    protect.extend(claude.deny_write.iter().cloned());
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
    // The workspace may lie in a folder that is private.
    let mut read = if is_read_only { paths.write } else { Vec::new() };
    read.extend(ssh_agent_socket(config));
    Ok(Policy {
        read,
        write,
        protect: if is_read_only { Vec::new() } else { protect },
        deny_read,
        network: if config.network { NetworkAccess::Full } else { NetworkAccess::None },
        hosts: config.hosts.iter().chain(&claude.hosts).cloned().collect(),
        local_ports: config.local_ports.clone(),
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
    ["", "-wal", "-shm", "-lock"]
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
