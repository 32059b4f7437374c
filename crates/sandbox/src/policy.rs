//! What a confined process may touch.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::HostRule;

/// What a confined process may touch. All paths are absolute and have their links resolved.
///
/// Everything that is not named here can be read and not written. `/tmp`, `/var/tmp` and `/run` are
/// private and empty, except for paths beneath them that are named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Paths that can be read although a folder above them is private or denied.
    pub read: Vec<PathBuf>,
    /// Files and folders that can be written.
    pub write: Vec<PathBuf>,
    /// Files and folders that can be read and not written, although a folder above them can be
    /// written. One that does not exist cannot be created.
    pub protect: Vec<PathBuf>,
    /// Files and folders that can be neither read nor written.
    pub deny_read: Vec<PathBuf>,
    /// The access to the network.
    pub network: NetworkAccess,
    /// The hosts that can be reached through the proxy where there is no other access.
    #[serde(default)]
    pub hosts: Vec<HostRule>,
    /// Ports of this machine that can be reached on the loopback interface.
    #[serde(default)]
    pub local_ports: Vec<u16>,
    /// The resource limits.
    pub limits: SandboxLimits,
}

impl Policy {
    /// Returns the policy of a process that reads everything, writes nothing but its temporary
    /// files, and has no network.
    #[must_use]
    pub fn read_only() -> Self {
        Self {
            read: Vec::new(),
            write: Vec::new(),
            protect: Vec::new(),
            deny_read: Vec::new(),
            network: NetworkAccess::None,
            hosts: Vec::new(),
            local_ports: Vec::new(),
            limits: SandboxLimits::default(),
        }
    }

    /// Returns the policy without anything to write and without network. What could be written can
    /// be read.
    #[must_use]
    pub fn into_read_only(mut self) -> Self {
        self.read.append(&mut self.write);
        self.protect.clear();
        self.network = NetworkAccess::None;
        self.hosts.clear();
        self.local_ports.clear();
        self
    }
}

/// How much processes are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// Nothing but temporary files can be written.
    ReadOnly,
    /// The workspace can be written, except what decides what runs later.
    WorkspaceWrite,
    /// Processes have the rights of this process.
    Off,
}

impl SandboxLevel {
    /// All levels, the strictest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::Off];

    /// Returns the name of the level.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::Off => "off",
        }
    }

    /// Returns the level with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// The access to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkAccess {
    /// None: the process has a loopback interface of its own at most.
    None,
    /// The network of this machine.
    Full,
}

/// The resource limits of a confined process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxLimits {
    /// The number of processes and threads at once, where there is a pid namespace.
    pub processes: u64,
    /// The number of open files of one process.
    pub open_files: u64,
    /// The size of the private temporary folders, in bytes.
    pub temporary_bytes: u64,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self { processes: 4_096, open_files: 4_096, temporary_bytes: 4 * 1024 * 1024 * 1024 }
    }
}
