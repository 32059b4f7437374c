//! Runs programs with a time limit.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::clock::measure_time;
use crate::invocation::Invocation;

use super::guard::GroupGuard;
use super::{build_command, exit_code, start_error};

/// How a run with a time limit ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunResult {
    Passed,
    Failed { code: u8 },
    OverBudget,
}

/// Runs each invocation in turn; all of them share the budget.
pub(crate) fn run_within(invocations: &[Invocation], budget: Duration) -> Result<RunResult> {
    let mut left = budget;
    for invocation in invocations {
        let (ended, took) = measure_time(|| run_one(invocation, left));
        match ended? {
            RunResult::Passed => left = left.saturating_sub(took),
            stopped @ (RunResult::Failed { .. } | RunResult::OverBudget) => return Ok(stopped),
        }
    }
    Ok(RunResult::Passed)
}

fn run_one(invocation: &Invocation, limit: Duration) -> Result<RunResult> {
    let child = start_in_group(invocation)?;
    let guard = GroupGuard::watch_group(child.id())?;
    let finished = wait_in_thread(child);
    let Ok(status) = finished.recv_timeout(limit) else {
        guard.kill_group()?;
        // Nothing is left running: the leader has been reaped before this function returns.
        drop(finished.recv());
        return Ok(RunResult::OverBudget);
    };
    guard.stand_down()?;
    let status = status.with_context(|| format!("cannot wait for `{invocation}`"))?;
    Ok(result_of_status(status))
}

/// Starts the program in a process group of its own, and without the terminal's input: a background
/// group that reads it would be stopped, and look like a hang.
fn start_in_group(invocation: &Invocation) -> Result<Child> {
    let mut command = build_command(invocation);
    command.stdin(Stdio::null()).process_group(0);
    command.spawn().with_context(|| start_error(invocation))
}

/// Waits in a thread, so that the caller can wait with a limit instead of polling.
fn wait_in_thread(mut child: Child) -> Receiver<io::Result<ExitStatus>> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(child.wait()));
    receiver
}

fn result_of_status(status: ExitStatus) -> RunResult {
    if status.success() { RunResult::Passed } else { RunResult::Failed { code: exit_code(status) } }
}
