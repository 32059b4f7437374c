//! Sentences about the sandbox.

use windlass::core::permission::RuleDecision;
use windlass_sandbox::{NetworkAccess, Policy};

pub(crate) const UNCONFINED: &str = "Commands and hooks run with the rights of this process; confine them with --sandbox workspace-write";
pub(crate) const MODE_NEEDS_SANDBOX: &str = "no sandbox is available on this machine, so commands would run unseen and unconfined in this mode; use another mode, or accept that with --sandbox off";
pub(crate) const MISSING: &str = "No sandbox is available on this machine: every command needs approval. Run without one with --sandbox off.";
pub(crate) const ONLY_READS: &str =
    "It only reads, so it can write nothing but temporary files and has no network.";
pub(crate) const WRITE: &str = "Can be written, besides temporary files that end with the command:";
pub(crate) const PROTECT: &str = "Cannot be written, and not created where it does not exist:";
pub(crate) const DENY_READ: &str = "Cannot be read:";

pub(crate) fn command_line(command: &str) -> String {
    format!("Command: {command}")
}

/// Whether a command is asked about.
pub(crate) fn decision_line(decision: &RuleDecision) -> String {
    match decision {
        RuleDecision::Allow(by) => format!("Runs without approval: {by}"),
        RuleDecision::Ask(by) => format!("Needs approval: {by}"),
        RuleDecision::Undecided => "Needs approval: no rule allows it".to_owned(),
        RuleDecision::Deny(_, reason) => format!("Does not run: {reason}"),
    }
}

pub(crate) fn level_line(level: &str, decided_by: &str) -> String {
    format!("Level: {level} (from {decided_by})")
}

pub(crate) fn mechanism_line(mechanism: &str) -> String {
    format!("Confined by: {mechanism}")
}

pub(crate) fn unavailable_line(error: &std::io::Error) -> String {
    format!("Nothing will run: {error}; run without a sandbox with --sandbox off")
}

pub(crate) fn network_line(policy: &Policy) -> String {
    let hosts = policy.hosts.iter().map(ToString::to_string);
    let ports = policy.local_ports.iter().map(|port| format!("port {port} of this machine"));
    let reached: Vec<String> = hosts.chain(ports).collect();
    match (policy.network, reached.is_empty()) {
        (NetworkAccess::None, true) => "Network: none".to_owned(),
        (NetworkAccess::None, false) => format!("Network: {}", reached.join(", ")),
        (NetworkAccess::Full, _) => "Network: that of this machine".to_owned(),
    }
}

/// The line of `windlass doctor`.
pub(crate) fn doctor_line(mechanism: &str, level: &str, decided_by: &str) -> String {
    format!("available: {mechanism}; level {level} (from {decided_by})")
}

pub(crate) fn doctor_unavailable(error: &std::io::Error, level: &str) -> String {
    format!("not available: {error}; level {level}")
}
