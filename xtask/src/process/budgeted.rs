//! Running a program for so long and no longer.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::clock::timed;
use crate::invocation::Invocation;

use super::guard::Guard;
use super::{command, exit_code, not_started};

/// How a budgeted run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    Failed { code: u8 },
    OverBudget,
}

/// Runs each in turn; all of them share the budget.
pub(crate) fn run_within(invocations: &[Invocation], budget: Duration) -> Result<Ended> {
    let mut left = budget;
    for invocation in invocations {
        let (ended, took) = timed(|| run_one(invocation, left));
        match ended? {
            Ended::Passed => left = left.saturating_sub(took),
            stopped @ (Ended::Failed { .. } | Ended::OverBudget) => return Ok(stopped),
        }
    }
    Ok(Ended::Passed)
}

fn run_one(invocation: &Invocation, limit: Duration) -> Result<Ended> {
    let child = start(invocation)?;
    let guard = Guard::over(child.id())?;
    let finished = wait_aside(child);
    let Ok(status) = finished.recv_timeout(limit) else {
        guard.strike()?;
        // Nothing is left running: the leader has been reaped before we go on.
        drop(finished.recv());
        return Ok(Ended::OverBudget);
    };
    guard.stand_down()?;
    let status = status.with_context(|| format!("`{invocation}` cannot be awaited"))?;
    Ok(judged(status))
}

/// In a group of its own, and without the terminal's input: a background group that reads it
/// would be stopped, and look like a hang.
fn start(invocation: &Invocation) -> Result<Child> {
    let mut command = command(invocation);
    command.stdin(Stdio::null()).process_group(0);
    command.spawn().with_context(|| not_started(invocation))
}

/// A thread waits, so that we can wait for it with a limit instead of polling.
fn wait_aside(mut child: Child) -> Receiver<io::Result<ExitStatus>> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(child.wait()));
    receiver
}

fn judged(status: ExitStatus) -> Ended {
    if status.success() { Ended::Passed } else { Ended::Failed { code: exit_code(status) } }
}
