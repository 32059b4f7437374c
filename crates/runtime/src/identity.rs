//! The name of a process that owns lanes: random at every start, and followed by what it takes to
//! see that it is gone. A neighbour on the same machine need not wait for a lease to run out when
//! the process it belongs to no longer exists.
//!
//! This only saves waiting. A wrong answer costs nothing: the fence decides who may write.

use std::fs;
use std::sync::Arc;

use windlass_core::permission::Rights;

use crate::ports::WorkerId;

#[cfg(test)]
#[path = "identity_tests.rs"]
mod identity_tests;

/// The rights of this process. Root counts as such unless `IS_SANDBOX=1` says that nothing here
/// matters.
#[must_use]
pub fn process_rights() -> Rights {
    let is_sandbox = std::env::var_os("IS_SANDBOX").is_some_and(|value| value == "1");
    match (rustix::process::geteuid().is_root(), is_sandbox) {
        (false, _) => Rights::Ordinary,
        (true, false) => Rights::Root,
        (true, true) => Rights::RootInSandbox,
    }
}

/// A new name for this process.
#[must_use]
pub fn new_worker() -> WorkerId {
    let random = uuid::Uuid::now_v7();
    match place().zip(started(std::process::id())) {
        Some((place, start)) => {
            Arc::from(format!("{random}+{place}+{}+{start}", std::process::id()))
        }
        None => Arc::from(random.to_string()),
    }
}

/// Whether the process behind the name has certainly ended.
#[must_use]
pub fn is_gone(worker: &str) -> bool {
    is_there(worker) == Some(false)
}

/// Whether the process behind the name certainly exists; it may stand still.
#[must_use]
pub fn exists(worker: &str) -> bool {
    is_there(worker) == Some(true)
}

/// Whether the process is there; `None` if that cannot be seen from here.
fn is_there(worker: &str) -> Option<bool> {
    let mut parts = worker.split('+').skip(1);
    let (place_then, pid, start) = (parts.next()?, parts.next()?, parts.next()?);
    let pid = pid.parse().ok().filter(|_| place().as_deref() == Some(place_then))?;
    Some(started(pid).is_some_and(|now| now == start))
}

/// This boot and process namespace: where process ids mean the same.
fn place() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace: String =
        namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Some(format!("{}.{namespace}", boot.trim()))
}

/// When a process started, in clock ticks since boot: tells a reused id from the old one.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    // A zombie has ended; it only waits to be seen off.
    (state != "Z" && state != "X").then(|| fields.nth(18).map(str::to_owned))?
}
