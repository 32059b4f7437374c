//! Processes by the folder they work in. Every process of the campaign works in its folder, so strays that
//! are not waited for are found by it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use windlass_cluster::process_table::all_pids;

use crate::process::clock::{Deadline, pause};

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

/// Returns whether the process works in `folder` or below. Zombies have no folder, and those of
/// other users cannot be read.
fn is_working_under(pid: Pid, folder: &Path) -> bool {
    let link = format!("/proc/{}/cwd", pid.as_raw_nonzero());
    fs::read_link(link).is_ok_and(|work| work.starts_with(folder))
}
