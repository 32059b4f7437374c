//! The init process: the first process of the namespaces. It makes the mounts, starts the command,
//! reports its end, and reaps what is left behind until it is ended itself.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open,
    set_parent_process_death_signal, wait, waitpid,
};

use super::Program;
use super::command::{CommandPlan, become_program};
use super::descriptors::{
    detach_standard_streams, private_pipe, read_message, wait_readable, write_message,
};
use super::fork::{ForkSide, exit_now, fork};
use super::listeners::send_listeners;
use super::mounts::make_mounts;
use crate::protocol::{HelperReport, HelperRequest};
use crate::{Mechanism, Namespaces};

/// How often zombies are reaped once the command has ended.
const REAP_INTERVAL_MS: u32 = 100;

/// How often processes are searched that outlive a command without namespaces.
const MAX_KILL_ROUNDS: usize = 100;

/// What the init process is to do.
pub(super) struct InitPlan<'a> {
    pub(super) namespaces: Namespaces,
    pub(super) without_namespaces: Option<String>,
    pub(super) request: &'a HelperRequest,
    pub(super) program: &'a Program,
    /// Where it reports.
    pub(super) reports: File,
    /// Takes the listeners of the network namespace.
    pub(super) listeners: Option<&'a File>,
    /// Says when the users are mapped; closed when the supervisor ends.
    pub(super) supervisor: File,
}

/// Is the init process.
pub(super) fn run_init(mut plan: InitPlan<'_>) -> ! {
    let ended = prepare_and_run(&mut plan);
    if let Err(error) = &ended {
        let reason = error.to_string();
        let report = match error.kind() {
            io::ErrorKind::Unsupported => HelperReport::NoNamespaces { reason },
            _ => HelperReport::Refused { reason },
        };
        drop(write_message(&plan.reports, &report));
    }
    exit_now(i32::from(ended.is_err()))
}

fn prepare_and_run(plan: &mut InitPlan<'_>) -> io::Result<()> {
    match plan.namespaces {
        Namespaces::All | Namespaces::WithoutUser => {
            set_parent_process_death_signal(Some(Signal::KILL))?;
        }
        // Outside the group that is killed with the call, to end what has left that group.
        Namespaces::None => {
            rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        }
    }
    if plan.supervisor.read(&mut [0])? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if plan.namespaces != Namespaces::None {
        make_mounts(&plan.request.policy)?;
        if let Some(channel) = plan.listeners {
            send_listeners(channel, &plan.request.listeners.ports)?;
        }
    }
    let (failure, failed) = private_pipe()?;
    let (namespaces, request) = (plan.namespaces, plan.request);
    let command = match fork()? {
        ForkSide::Child => {
            let plan = CommandPlan { namespaces, request, program: plan.program };
            let report = become_program(&plan, &failed);
            drop(write_message(&failed, &report));
            exit_now(127)
        }
        ForkSide::Parent(command) => command,
    };
    drop(failed);
    if plan.namespaces == Namespaces::None {
        rustix::process::setpgid(None, None)?;
    }
    detach_standard_streams()?;
    let (mut failure, mut layers) = (BufReader::new(failure), None);
    while let Some(message) = read_message::<CommandMessage>(&mut failure)? {
        match message {
            CommandMessage::Confined { landlock, system_calls } => {
                layers = Some((landlock, system_calls));
            }
            CommandMessage::Failed { reason } => return Err(io::Error::other(reason)),
        }
    }
    let Some((landlock, system_calls)) = layers else {
        return Err(io::Error::other("it ended before the program started"));
    };
    let without_namespaces = plan.without_namespaces.clone();
    let mechanism = Mechanism { namespaces, landlock, system_calls, without_namespaces };
    write_message(&plan.reports, &HelperReport::Started { mechanism, init: 0 })?;
    reap(plan, command)
}

/// What the command says before it becomes the program.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum CommandMessage {
    /// It is confined by these layers; the end of the stream says that the program runs.
    Confined {
        /// Whether by a Landlock ruleset.
        landlock: bool,
        /// Whether by a seccomp filter.
        system_calls: bool,
    },
    /// The program was not executed.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Waits for the command, then for the end of the supervisor.
fn reap(plan: &InitPlan<'_>, command: Pid) -> io::Result<()> {
    let handle = pidfd_open(command, PidfdFlags::empty())?;
    let mut is_running = true;
    loop {
        let released = if is_running {
            let [_, released] = wait_readable([&handle, &plan.supervisor], Some(1_000))?;
            released
        } else {
            let [released] = wait_readable([&plan.supervisor], Some(REAP_INTERVAL_MS))?;
            released
        };
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == command {
                is_running = false;
                let report = HelperReport::Exited { status: status.as_raw() };
                write_message(&plan.reports, &report)?;
            }
        }
        if released {
            break;
        }
    }
    if plan.namespaces == Namespaces::None {
        end_descendants();
    }
    Ok(())
}

/// Kills everything that descends from this process: what has lost its parent has become its child.
fn end_descendants() {
    for _ in 0..MAX_KILL_ROUNDS {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            kill_process(child, Signal::KILL).unwrap_or_default();
            let _ = waitpid(Some(child), WaitOptions::empty());
        }
    }
}

/// Returns the children of this process that are not reaped yet.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero();
    let text = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}
