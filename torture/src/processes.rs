//! Processes as the kernel shows them. Every process of ours, however deep, works in a folder of
//! the campaign; that is how those are found that nobody waits for.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::clock::{Deadline, pause};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(4);

/// Looks in a row that must find nothing: a process may be about to start another.
const LOOKS: u32 = 2;

/// Whoever survives SIGKILL for so long is the kernel's.
const STUBBORN: Duration = Duration::from_secs(5);

/// Living processes that work in `folder` or below.
pub(crate) fn living_under(folder: &Path) -> Vec<Pid> {
    all().into_iter().filter(|pid| works_under(*pid, folder)).collect()
}

/// Waits until nobody works in `folder`; gives those who still do after `patience`.
pub(crate) fn wait_until_quiet(folder: &Path, patience: Duration) -> Vec<Pid> {
    let deadline = Deadline::after(patience);
    let mut quiet = 0;
    loop {
        let living = living_under(folder);
        quiet = if living.is_empty() { quiet + 1 } else { 0 };
        if quiet >= LOOKS || deadline.has_passed() {
            return living;
        }
        pause(LOOK);
    }
}

/// Ends everybody who works in `folder`.
pub(crate) fn end_all_under(folder: &Path) {
    let deadline = Deadline::after(STUBBORN);
    let mut quiet = 0;
    while quiet < LOOKS && !deadline.has_passed() {
        let living = living_under(folder);
        quiet = if living.is_empty() { quiet + 1 } else { 0 };
        for pid in living {
            // Gone by itself is as good.
            let _ = kill_process(pid, Signal::KILL);
        }
        pause(LOOK);
    }
}

/// A child, as the kernel shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kin {
    pub(crate) pid: Pid,
    pub(crate) life: Life,
}

/// Whether a process runs, or only waits to be buried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Running,
    Over,
}

/// All children of `parent`.
pub(crate) fn children_of(parent: Pid) -> Vec<Kin> {
    let kin = all().into_iter().filter_map(|pid| {
        let (life, ppid) = stat(pid)?;
        (ppid == parent).then_some(Kin { pid, life })
    });
    kin.collect()
}

fn all() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| Pid::from_raw(name.parse().ok()?)).collect()
}

/// The dead work nowhere, and others' folders cannot be seen.
fn works_under(pid: Pid, folder: &Path) -> bool {
    let link = format!("/proc/{}/cwd", pid.as_raw_nonzero());
    fs::read_link(link).is_ok_and(|work| work.starts_with(folder))
}

/// Whether it runs, and its parent.
fn stat(pid: Pid) -> Option<(Life, Pid)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in brackets may hold anything, brackets too.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let life = if matches!(words.next()?, "Z" | "X") { Life::Over } else { Life::Running };
    // The kernel writes -1 as the group of a process that ended this moment.
    let group = words.next()?.parse().ok().filter(|raw| *raw > 0)?;
    Some((life, Pid::from_raw(group)?))
}
