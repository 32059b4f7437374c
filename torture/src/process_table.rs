//! Processes as /proc shows them. Every process of the campaign works in its folder, so strays that
//! are not waited for are found by it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::{Deadline, pause};

/// Time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Consecutive polls that must find nothing: a process may be about to start another.
const QUIET_POLLS: u32 = 2;

/// Time after SIGKILL within which a process must be gone; a longer survivor hangs in the kernel.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Running processes that work in `folder` or below.
pub(crate) fn processes_under(folder: &Path) -> Vec<Pid> {
    all_pids().into_iter().filter(|pid| is_working_under(*pid, folder)).collect()
}

/// Waits until no process works in `folder`; returns those that still do after `patience`.
pub(crate) fn wait_until_quiet(folder: &Path, patience: Duration) -> Vec<Pid> {
    let deadline = Deadline::after(patience);
    let mut quiet = 0;
    loop {
        let living = processes_under(folder);
        quiet = if living.is_empty() { quiet + 1 } else { 0 };
        if quiet >= QUIET_POLLS || deadline.has_passed() {
            return living;
        }
        pause(POLL_INTERVAL);
    }
}

/// Kills every process that works in `folder`.
pub(crate) fn kill_all_under(folder: &Path) {
    let deadline = Deadline::after(KILL_TIMEOUT);
    let mut quiet = 0;
    while quiet < QUIET_POLLS && !deadline.has_passed() {
        let living = processes_under(folder);
        quiet = if living.is_empty() { quiet + 1 } else { 0 };
        for pid in living {
            // It may have exited already.
            let _ = kill_process(pid, Signal::KILL);
        }
        pause(POLL_INTERVAL);
    }
}

/// A child process, as the kernel shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChildInfo {
    pub(crate) pid: Pid,
    pub(crate) life: ProcessLife,
}

/// Whether a process runs, or is a zombie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessLife {
    Running,
    Zombie,
}

/// All children of `parent`.
pub(crate) fn children_of(parent: Pid) -> Vec<ChildInfo> {
    let kin = all_pids().into_iter().filter_map(|pid| {
        let (life, ppid) = read_stat(pid)?;
        (ppid == parent).then_some(ChildInfo { pid, life })
    });
    kin.collect()
}

fn all_pids() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| Pid::from_raw(name.parse().ok()?)).collect()
}

/// Returns whether the process works in `folder` or below. Zombies have no folder, and those of
/// other users cannot be read.
fn is_working_under(pid: Pid, folder: &Path) -> bool {
    let link = format!("/proc/{}/cwd", pid.as_raw_nonzero());
    fs::read_link(link).is_ok_and(|work| work.starts_with(folder))
}

/// Reads whether a process runs, and its parent.
fn read_stat(pid: Pid) -> Option<(ProcessLife, Pid)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in parentheses may contain any characters, including parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let life =
        if matches!(words.next()?, "Z" | "X") { ProcessLife::Zombie } else { ProcessLife::Running };
    // The kernel writes -1 as the group of a process that is just ending.
    let group = words.next()?.parse().ok().filter(|raw| *raw > 0)?;
    Some((life, Pid::from_raw(group)?))
}
