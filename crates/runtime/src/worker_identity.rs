//! The identity of a worker process: a random id at every start, followed by boot id, process
//! namespace, pid and start time, so that a process on the same machine can see that the worker has
//! ended without waiting for its lease to expire.
//!
//! This only saves waiting. A wrong answer does no harm: the store's fence decides who may write.

use std::fs;
use std::sync::Arc;

use windlass_core::permission::ProcessRights;

use crate::ports::WorkerId;

#[cfg(test)]
#[path = "worker_identity_tests.rs"]
mod worker_identity_tests;

/// Returns the rights of this process. Root counts as root unless `IS_SANDBOX=1` says that the
/// process runs in a sandbox.
#[must_use]
pub fn process_rights() -> ProcessRights {
    let is_sandbox = std::env::var_os("IS_SANDBOX").is_some_and(|value| value == "1");
    match (rustix::process::geteuid().is_root(), is_sandbox) {
        (false, _) => ProcessRights::Ordinary,
        (true, false) => ProcessRights::Root,
        (true, true) => ProcessRights::RootInSandbox,
    }
}

/// Creates a new worker id for this process.
#[must_use]
pub fn new_worker_id() -> WorkerId {
    let random = uuid::Uuid::now_v7();
    match boot_and_namespace().zip(process_start_ticks(std::process::id())) {
        Some((location, start)) => {
            Arc::from(format!("{random}+{location}+{}+{start}", std::process::id()))
        }
        None => Arc::from(random.to_string()),
    }
}

/// Returns whether the process of the worker has certainly ended.
#[must_use]
pub fn has_process_ended(worker: &str) -> bool {
    is_running_if_visible(worker) == Some(false)
}

/// Returns whether the process of the worker certainly exists; it may be stuck.
#[must_use]
pub fn is_process_running(worker: &str) -> bool {
    is_running_if_visible(worker) == Some(true)
}

/// Returns whether the process exists; `None` if that cannot be seen from here.
fn is_running_if_visible(worker: &str) -> Option<bool> {
    let mut parts = worker.split('+').skip(1);
    let (place_then, pid, start) = (parts.next()?, parts.next()?, parts.next()?);
    let pid = pid.parse().ok().filter(|_| boot_and_namespace().as_deref() == Some(place_then))?;
    Some(process_start_ticks(pid).is_some_and(|now| now == start))
}

/// The boot id and process namespace within which process ids are comparable.
fn boot_and_namespace() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace: String =
        namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Some(format!("{}.{namespace}", boot.trim()))
}

/// When a process started, in clock ticks since boot: distinguishes a reused pid from the old
/// process.
fn process_start_ticks(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    // A zombie has ended; it only waits to be reaped.
    (state != "Z" && state != "X").then(|| fields.nth(18).map(str::to_owned))?
}
