//! Starts other programs: the only module of this crate that does.

mod budgeted;
mod guard;

#[cfg(test)]
mod budgeted_tests;
#[cfg(test)]
mod guard_tests;

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result, ensure};

use crate::invocation::Invocation;

pub(crate) use budgeted::{RunResult, run_within};

/// Runs each invocation in turn in the foreground, without a budget, and stops at the first that
/// fails, whose exit code becomes ours.
pub(crate) fn run_all(invocations: &[Invocation]) -> Result<ExitCode> {
    for invocation in invocations {
        let status = build_command(invocation).status().with_context(|| start_error(invocation))?;
        if !status.success() {
            return Ok(ExitCode::from(exit_code(status)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the invocation and returns its standard output; its standard error is ours.
pub(crate) fn output_of(invocation: &Invocation) -> Result<Vec<u8>> {
    let mut command = build_command(invocation);
    command.stderr(std::process::Stdio::inherit());
    let output = command.output().with_context(|| start_error(invocation))?;
    ensure!(output.status.success(), "`{invocation}` failed");
    Ok(output.stdout)
}

#[expect(clippy::disallowed_methods, reason = "running programs is what xtask is for")]
fn build_command(invocation: &Invocation) -> Command {
    let mut command = Command::new(invocation.executable());
    command.args(invocation.arguments());
    command.envs(invocation.variables().iter().map(|(name, value)| (name, value)));
    command
}

fn start_error(invocation: &Invocation) -> String {
    format!("cannot start `{invocation}`")
}

/// The exit code, or what a shell reports for a process killed by a signal.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
