//! Orphaned commands: found by an owner mark in their environment and ended when a process starts.
//!
//! A guard ends a command when its owner dies, so there should be none. But a guard can be killed
//! as well: by the kernel when memory runs out, or by a user who ends everything at once. So every
//! command has the name of its owner, and a process that starts looks for commands whose owner has
//! ended.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use windlass_runtime::ports::Clock;

use super::group_processes::{GROUP_VARIABLE, ProcessStat, group_mark, parse_pid, parse_stat};
use crate::limits::{KILL_WAIT_MS, PROCESS_POLL_MS, TERMINATION_GRACE_MS};

/// The variable that names the owner.
pub(super) const OWNER_VARIABLE: &str = "WINDLASS_OWNER";

/// The result of ending orphaned commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReapedOrphans {
    /// The number of orphans found.
    pub found: usize,
    /// The number of orphans that did not end, even when killed.
    pub leaked: usize,
}

/// Returns the name of this process as an owner: its id, its start time (ids are reused), and its
/// pid namespace. Empty where there is no `/proc`, and then it has no orphans.
pub(super) fn own_owner_name() -> String {
    owner_name_of(rustix::process::getpid(), Path::new("/proc")).unwrap_or_default()
}

fn owner_name_of(pid: Pid, proc: &Path) -> Option<String> {
    let path = proc.join(pid.as_raw_nonzero().to_string());
    let found = parse_stat(&fs::read(path.join("stat")).ok()?)?;
    let world = fs::read_link(proc.join("self/ns/pid")).ok()?;
    let world: String = world.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let is_alive = found.is_running;
    is_alive.then(|| format!("{}.{}.{world}", pid.as_raw_nonzero(), found.start_ticks))
}

/// Returns how many commands on this machine are orphaned, without ending them.
pub async fn count_orphans() -> usize {
    find_orphans().await.len()
}

/// Ends every orphaned command on this machine: SIGTERM, then SIGKILL. Called when a process
/// starts, before it runs commands of its own.
pub async fn reap_orphans(clock: &dyn Clock) -> ReapedOrphans {
    let found = find_orphans().await;
    let mut left = found.clone();
    for (signal, patience_ms) in
        [(Signal::TERM, TERMINATION_GRACE_MS), (Signal::KILL, KILL_WAIT_MS)]
    {
        for pid in &left {
            // A process that has ended by now is fine.
            kill_process(*pid, signal).unwrap_or_default();
        }
        let until = clock.monotonic_ms().saturating_add(patience_ms);
        while !left.is_empty() && clock.monotonic_ms() < until {
            clock.sleep(PROCESS_POLL_MS).await;
            left = find_orphans().await;
        }
    }
    ReapedOrphans { found: found.len(), leaked: left.len() }
}

async fn find_orphans() -> Vec<Pid> {
    let look = || find_orphans_in(Path::new("/proc"));
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// Returns the orphans seen in a given `/proc`.
pub(super) fn find_orphans_in(proc: &Path) -> Vec<Pid> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| super::group_processes::pid_of_entry(&entry.file_name()));
    pids.filter(|pid| is_orphan(*pid, proc)).collect()
}

fn is_orphan(pid: Pid, proc: &Path) -> bool {
    let Some(found) = read_stat(pid.as_raw_nonzero().get(), proc) else { return false };
    let Some(owner) = read_variable(pid.as_raw_nonzero().get(), OWNER_VARIABLE, proc) else {
        return false;
    };
    found.is_running
        && is_in_this_pid_namespace(&owner, proc)
        && !is_owner_alive(&owner, proc)
        && belongs_to_command(pid, &found, &owner, proc)
}

/// Returns whether the process belongs to a command of that owner. A name in an environment proves
/// little: it may have been copied, or inherited from another program. The process must be younger
/// than the owner, and a member of the command's group, or left behind by one: then its parent is a
/// process of the owner too, or the one to which it was reparented.
fn belongs_to_command(pid: Pid, found: &ProcessStat, owner: &str, proc: &Path) -> bool {
    let number = pid.as_raw_nonzero().get();
    let owner_started = owner.split('.').nth(1).and_then(|started| started.parse::<u64>().ok());
    let is_younger = owner_started.is_some_and(|started| found.start_ticks >= started);
    let group = read_variable(number, GROUP_VARIABLE, proc);
    let is_member = group.is_some_and(|group| group == group_mark(found.group));
    is_younger && (is_member || is_abandoned(found, owner, proc))
}

fn is_abandoned(found: &ProcessStat, owner: &str, proc: &Path) -> bool {
    if found.parent <= 1
        || read_variable(found.parent, OWNER_VARIABLE, proc).as_deref() == Some(owner)
    {
        return true;
    }
    // A parent in the same session started it, and that parent is not ours.
    read_stat(found.parent, proc).is_some_and(|parent| parent.session != found.session)
}

fn read_stat(pid: i32, proc: &Path) -> Option<ProcessStat> {
    parse_stat(&fs::read(proc.join(pid.to_string()).join("stat")).ok()?)
}

/// Returns the value of a variable that a process was started with.
fn read_variable(pid: i32, name: &str, proc: &Path) -> Option<String> {
    let environ = fs::read(proc.join(pid.to_string()).join("environ")).ok()?;
    let mut entries = environ.split(|byte| *byte == 0);
    let value =
        entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// Returns whether the owner is in this pid namespace: an id from another one means nothing here.
fn is_in_this_pid_namespace(owner: &str, proc: &Path) -> bool {
    let world = fs::read_link(proc.join("self/ns/pid")).unwrap_or_default();
    let world: String = world.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    owner.split('.').count() == 3 && owner.rsplit('.').next() == Some(&world)
}

fn is_owner_alive(owner: &str, proc: &Path) -> bool {
    let pid = owner.split('.').next().and_then(parse_pid);
    pid.and_then(|pid| owner_name_of(pid, proc)).as_deref() == Some(owner)
}
