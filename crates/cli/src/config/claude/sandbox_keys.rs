//! `sandbox` in settings files of Claude Code.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass::tools::PathZones;
use windlass_sandbox::HostRule;

use super::settings_sources::SettingsSource;

/// The part of `sandbox` in settings files of Claude Code that has an effect here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClaudeSandbox {
    /// Whether commands are confined. Here they are by default.
    pub(crate) enabled: Option<bool>,
    /// Whether commands that are confined run without approval.
    pub(crate) auto_allow_bash_if_sandboxed: Option<bool>,
    /// Files that commands may read and write.
    pub(crate) filesystem: ClaudeFilesystem,
    /// Hosts that commands may reach.
    pub(crate) network: ClaudeNetwork,
}

/// `sandbox.filesystem`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClaudeFilesystem {
    pub(crate) allow_write: Vec<String>,
    pub(crate) deny_write: Vec<String>,
    pub(crate) deny_read: Vec<String>,
}

/// `sandbox.network`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClaudeNetwork {
    pub(crate) allowed_domains: Vec<HostRule>,
    pub(crate) denied_domains: Vec<HostRule>,
}

/// The paths of `sandbox.filesystem` in all sources, absolute, and the hosts of `sandbox.network`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClaudePaths {
    pub(crate) write: Vec<PathBuf>,
    pub(crate) deny_write: Vec<PathBuf>,
    pub(crate) deny_read: Vec<PathBuf>,
    /// The hosts of `sandbox.network`.
    pub(crate) hosts: Vec<HostRule>,
}

impl ClaudePaths {
    /// Resolves the paths: `//` and `/` begin at the root, `~/` at home, others in the workspace.
    pub(crate) fn of(sources: &[SettingsSource], zones: &PathZones) -> Self {
        let mut all = Self::default();
        for source in sources {
            let files = &source.sandbox.filesystem;
            all.write.extend(resolve(&files.allow_write, zones));
            all.deny_write.extend(resolve(&files.deny_write, zones));
            all.deny_read.extend(resolve(&files.deny_read, zones));
            all.hosts.extend(source.sandbox.network.allowed_domains.iter().cloned());
        }
        let denied: Vec<_> =
            sources.iter().flat_map(|source| &source.sandbox.network.denied_domains).collect();
        // Rather one host too many is refused than one too few.
        all.hosts.retain(|host| !denied.iter().any(|denied| host.overlaps(denied)));
        all
    }
}

fn resolve(paths: &[String], zones: &PathZones) -> Vec<PathBuf> {
    let resolve_one = |path: &String| match (path.strip_prefix("~/"), zones.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => zones.root().join(Path::new(
            path.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(path),
        )),
    };
    paths.iter().map(resolve_one).collect()
}
