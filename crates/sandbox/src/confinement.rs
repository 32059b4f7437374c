//! The helper: what runs between the launcher and the confined program.
//!
//! Three processes. The *supervisor* stays outside: it hands over the policy, reports to the
//! launcher, and cleans up. The *init process* is the first of the namespaces: it makes the mounts,
//! and when it ends, the kernel ends everything in them. The *command* restricts itself and becomes
//! the program.

mod absent_paths;
mod command;
mod descriptors;
mod fork;
mod init_process;
mod landlock_rules;
mod link_targets;
mod listeners;
mod listening_sockets;
mod mounts;
mod supervisor;
mod system_calls;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::protocol::HELPER_NAME;

/// A program to execute.
#[derive(Debug)]
struct Program {
    program: OsString,
    arguments: Vec<OsString>,
}

/// Does the helper's work if this process was started as the helper of a
/// [`SandboxLauncher`](crate::SandboxLauncher), and returns its exit code. Call it at the beginning
/// of `main`, before a thread exists.
#[must_use]
pub fn run_if_requested() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    if arguments.next()? != HELPER_NAME {
        return None;
    }
    let control = arguments.next().and_then(|number| number.to_str()?.parse().ok());
    let program = arguments.next();
    let (Some(control), Some(program)) = (control, program) else {
        return Some(ExitCode::from(2));
    };
    let program = Program { program, arguments: arguments.collect() };
    Some(match supervisor::supervise(control, &program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Returns whether the kernel gives this process namespaces.
pub(crate) fn has_namespaces() -> bool {
    let kinds = [crate::Namespaces::All, crate::Namespaces::WithoutUser];
    kinds.into_iter().any(|kind| match fork::fork_into(kind, crate::NetworkAccess::None) {
        // Other threads of this process may hold locks: nothing is called that takes one.
        Ok(fork::ForkSide::Child) => fork::exit_now(0),
        Ok(fork::ForkSide::Parent(child)) => {
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
            true
        }
        Err(_) => false,
    })
}
