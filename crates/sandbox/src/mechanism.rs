//! What a process is confined by on this machine.

use serde::{Deserialize, Serialize};

/// The layers that a launcher asks for. Fewer than all of them are for tests, and to see what a
/// machine without namespaces does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layers {
    /// Namespaces with private mounts.
    pub namespaces: bool,
    /// A Landlock ruleset.
    pub landlock: bool,
    /// A seccomp filter.
    pub system_calls: bool,
}

impl Layers {
    /// Every layer.
    pub const ALL: Self = Self { namespaces: true, landlock: true, system_calls: true };
}

/// What confines a process that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanism {
    /// The namespaces of the process.
    pub namespaces: Namespaces,
    /// Whether a Landlock ruleset confines it.
    pub landlock: bool,
    /// Whether a seccomp filter confines it.
    pub system_calls: bool,
    /// Why there are no namespaces.
    pub without_namespaces: Option<String>,
}

/// The namespaces of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespaces {
    /// User, process, mount, IPC, and network unless the policy gives it.
    All,
    /// As above, but the user namespace of this machine: only root can do this.
    WithoutUser,
    /// None.
    None,
}

impl Mechanism {
    /// Describes the mechanism in a few words.
    #[must_use]
    pub fn describe(&self) -> String {
        let namespaces = match self.namespaces {
            Namespaces::All => Some("namespaces".to_owned()),
            Namespaces::WithoutUser => Some("namespaces (without a user namespace)".to_owned()),
            Namespaces::None => None,
        };
        let landlock = self.landlock.then(|| "Landlock".to_owned());
        let filter = self.system_calls.then(|| "seccomp".to_owned());
        let parts: Vec<String> = [namespaces, landlock, filter].into_iter().flatten().collect();
        let missing = self.without_namespaces.as_ref();
        let missing = missing.map(|why| format!("; no namespaces: {why}")).unwrap_or_default();
        format!("{}{missing}", parts.join(", "))
    }

    /// Returns whether the process is confined as the policy needs it: its files by mounts or
    /// Landlock, and its system calls.
    #[must_use]
    pub fn is_sufficient(&self) -> bool {
        self.landlock || self.namespaces != Namespaces::None
    }
}

/// Returns whether processes can be confined on this machine, without starting one: the kernel has
/// Landlock, or gives namespaces. A process is confined or not started whatever this says.
#[cfg(target_os = "linux")]
#[must_use]
pub fn is_available() -> bool {
    has_landlock() || crate::confinement::has_namespaces()
}

/// Returns whether processes can be confined on this machine: there is no sandbox on this system.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_available() -> bool {
    false
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the version of Landlock has no safe interface")]
fn has_landlock() -> bool {
    const VERSION_FLAG: u32 = 1;
    let nothing = std::ptr::null::<u8>();
    // SAFETY: with this flag the kernel reads no attributes and returns a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0, VERSION_FLAG) };
    version > 0
}
