//! Processes and their parents, as /proc shows them.

use std::fs;

use rustix::process::Pid;

/// A child process, as the kernel shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildInfo {
    /// The number of the process.
    pub pid: Pid,
    /// Whether it runs.
    pub life: ProcessLife,
}

/// Whether a process runs, or is a zombie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessLife {
    /// It runs, or is stopped.
    Running,
    /// It has ended and was not waited for.
    Zombie,
}

/// Returns all children of `parent`.
#[must_use]
pub fn children_of(parent: Pid) -> Vec<ChildInfo> {
    let children = all_pids().into_iter().filter_map(|pid| {
        let (life, its_parent) = read_stat(pid)?;
        (its_parent == parent).then_some(ChildInfo { pid, life })
    });
    children.collect()
}

/// Returns all processes.
#[must_use]
pub fn all_pids() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| Pid::from_raw(name.parse().ok()?)).collect()
}

/// Reads whether a process runs, and its parent.
fn read_stat(pid: Pid) -> Option<(ProcessLife, Pid)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in parentheses may contain any characters, including parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let life =
        if matches!(words.next()?, "Z" | "X") { ProcessLife::Zombie } else { ProcessLife::Running };
    // A process that is just ending has no valid parent.
    let parent = words.next()?.parse().ok().filter(|raw| *raw > 0)?;
    Some((life, Pid::from_raw(parent)?))
}
