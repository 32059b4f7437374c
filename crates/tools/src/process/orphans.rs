//! Commands whose owner is gone.
//!
//! A guard ends a command when we die, so there should be none. But a guard can be killed as well:
//! by the kernel when memory runs out, or by a user who ends everything at once. So every command
//! carries the name of its owner, and who starts looks for those whose owner is not there any more.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use windlass_runtime::ports::Clock;

use super::survivors::{Life, MARK, Stat, mark, parse_pid, stat};
use crate::limits::{GRACE_MS, KILL_WAIT_MS, POLL_MS};

/// The variable that names the owner.
pub(super) const OWNER: &str = "WINDLASS_OWNER";

/// What became of the orphans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reaped {
    /// How many there were.
    pub found: usize,
    /// How many would not go, even when killed.
    pub leaked: usize,
}

/// The name of this process as an owner: its number, when it started (numbers are used again), and
/// the world in which the number counts. Empty where there is no `/proc`, and then it has no
/// orphans.
pub(super) fn owner() -> String {
    name_of(rustix::process::getpid(), Path::new("/proc")).unwrap_or_default()
}

fn name_of(pid: Pid, proc: &Path) -> Option<String> {
    let place = proc.join(pid.as_raw_nonzero().to_string());
    let found = stat(&fs::read(place.join("stat")).ok()?)?;
    let world = fs::read_link(proc.join("self/ns/pid")).ok()?;
    let world: String = world.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let is_alive = found.life == Life::Running;
    is_alive.then(|| format!("{}.{}.{world}", pid.as_raw_nonzero(), found.started))
}

/// How many commands on this machine have lost their owner. Nothing is done about them.
pub async fn count_orphans() -> usize {
    orphans().await.len()
}

/// Ends every command on this machine whose owner is gone: asked first, then made to. Called when a
/// process starts, before it runs commands of its own.
pub async fn reap_orphans(clock: &dyn Clock) -> Reaped {
    let found = orphans().await;
    let mut left = found.clone();
    for (signal, patience_ms) in [(Signal::TERM, GRACE_MS), (Signal::KILL, KILL_WAIT_MS)] {
        for pid in &left {
            // One that is gone by now is what was wanted.
            kill_process(*pid, signal).unwrap_or_default();
        }
        let until = clock.monotonic_ms().saturating_add(patience_ms);
        while !left.is_empty() && clock.monotonic_ms() < until {
            clock.sleep(POLL_MS).await;
            left = orphans().await;
        }
    }
    Reaped { found: found.len(), leaked: left.len() }
}

async fn orphans() -> Vec<Pid> {
    let look = || look(Path::new("/proc"));
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// The orphans seen in a given `/proc`.
pub(super) fn look(proc: &Path) -> Vec<Pid> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| super::survivors::pid(&entry.file_name()));
    pids.filter(|pid| is_orphan(*pid, proc)).collect()
}

fn is_orphan(pid: Pid, proc: &Path) -> bool {
    let Some(found) = stat_of(pid.as_raw_nonzero().get(), proc) else { return false };
    let Some(owner) = variable(pid.as_raw_nonzero().get(), OWNER, proc) else { return false };
    found.life == Life::Running
        && is_of_this_world(&owner, proc)
        && !is_alive(&owner, proc)
        && is_a_commands(pid, &found, &owner, proc)
}

/// Whether the process belongs to a command of that owner. A name in an environment proves little: it
/// may have been copied, or passed on by a program that had it from somewhere. The process must be
/// younger than the owner, and a member of the command's group, or left behind by one: then its parent
/// is a process of the owner too, or one that adopted it.
fn is_a_commands(pid: Pid, found: &Stat, owner: &str, proc: &Path) -> bool {
    let number = pid.as_raw_nonzero().get();
    let owner_started = owner.split('.').nth(1).and_then(|started| started.parse::<u64>().ok());
    let is_younger = owner_started.is_some_and(|started| found.started >= started);
    let group = variable(number, MARK, proc);
    let is_member = group.is_some_and(|group| group == mark(found.group));
    is_younger && (is_member || is_left_behind(found, owner, proc))
}

fn is_left_behind(found: &Stat, owner: &str, proc: &Path) -> bool {
    if found.parent <= 1 || variable(found.parent, OWNER, proc).as_deref() == Some(owner) {
        return true;
    }
    // A parent in the same session started it, and that parent is none of ours.
    stat_of(found.parent, proc).is_some_and(|parent| parent.session != found.session)
}

fn stat_of(pid: i32, proc: &Path) -> Option<Stat> {
    stat(&fs::read(proc.join(pid.to_string()).join("stat")).ok()?)
}

/// The value of a variable that a process was started with.
fn variable(pid: i32, name: &str, proc: &Path) -> Option<String> {
    let environ = fs::read(proc.join(pid.to_string()).join("environ")).ok()?;
    let mut entries = environ.split(|byte| *byte == 0);
    let value =
        entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// A number from another pid namespace says nothing here.
fn is_of_this_world(owner: &str, proc: &Path) -> bool {
    let world = fs::read_link(proc.join("self/ns/pid")).unwrap_or_default();
    let world: String = world.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    owner.split('.').count() == 3 && owner.rsplit('.').next() == Some(&world)
}

fn is_alive(owner: &str, proc: &Path) -> bool {
    let pid = owner.split('.').next().and_then(parse_pid);
    pid.and_then(|pid| name_of(pid, proc)).as_deref() == Some(owner)
}
