//! The sandbox: starts processes so that they can touch only what a [`Policy`] names.
//!
//! [`SandboxLauncher`] implements the port `ProcessLauncher`. For each process it starts this
//! program again ([`run_if_requested`]), which makes namespaces, mounts, a Landlock ruleset, a
//! seccomp filter and resource limits before it executes what was asked for. Where the kernel gives
//! no namespaces, Landlock and seccomp remain; where neither is there, nothing is started.
//!
//! Not here: which paths a policy names. That follows from settings, rules and the workspace, and
//! is decided where those are known.

#[cfg(target_os = "linux")]
mod confinement;
mod host_rule;
#[cfg(target_os = "linux")]
mod launcher;
mod mechanism;
#[cfg(target_os = "linux")]
mod network;
mod policy;
#[cfg(target_os = "linux")]
mod protocol;
#[cfg(not(target_os = "linux"))]
mod unavailable;

#[cfg(test)]
mod host_rule_tests;

#[cfg(target_os = "linux")]
pub use confinement::run_if_requested;
pub use host_rule::HostRule;
#[cfg(target_os = "linux")]
pub use launcher::SandboxLauncher;
pub use mechanism::{Layers, Mechanism, Namespaces, is_available};
pub use policy::{NetworkAccess, Policy, SandboxLevel, SandboxLimits};
#[cfg(not(target_os = "linux"))]
pub use unavailable::{SandboxLauncher, run_if_requested};
