//! The command: restricts itself and becomes the program.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use super::Program;
use super::descriptors::{close_others_on_exec, write_message};
use super::init_process::CommandMessage;
use super::{landlock_rules, system_calls};
use crate::Namespaces;
use crate::protocol::HelperRequest;

/// The capabilities that root keeps, over its own files and processes.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// The number of the last capability that may exist.
const LAST_CAPABILITY: u32 = 63;

/// What the command is to become.
pub(super) struct CommandPlan<'a> {
    pub(super) namespaces: Namespaces,
    pub(super) request: &'a HelperRequest,
    pub(super) program: &'a Program,
}

/// Restricts this process and executes the program; returns only if that fails.
pub(super) fn become_program(plan: &CommandPlan<'_>, messages: &File) -> CommandMessage {
    let failed = |what: &str, error: io::Error| CommandMessage::Failed {
        reason: format!("{what}: {error}"),
    };
    match restrict(plan) {
        Ok(layers) => {
            if let Err(error) = write_message(messages, &layers) {
                return failed("it could not report", error);
            }
        }
        Err(error) => return failed("it could not be confined", error),
    }
    let error = program(plan).exec();
    failed(&format!("{} could not be executed", plan.program.program.display()), error)
}

fn restrict(plan: &CommandPlan<'_>) -> io::Result<CommandMessage> {
    let HelperRequest { policy, layers, folder, .. } = plan.request;
    std::env::set_current_dir(folder)?;
    close_others_on_exec()?;
    limit_resources(plan)?;
    set_no_new_privs(true)?;
    drop_capabilities()?;
    let landlock = layers.landlock && landlock_rules::restrict(policy, plan.namespaces)?;
    if plan.namespaces == Namespaces::None && !landlock {
        return Err(io::Error::other("the kernel has neither namespaces nor Landlock for it"));
    }
    if layers.system_calls {
        system_calls::restrict(policy.network, plan.namespaces)?;
    }
    Ok(CommandMessage::Confined { landlock, system_calls: layers.system_calls })
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the program")]
fn program(plan: &CommandPlan<'_>) -> Command {
    let environment = plan.request.environment.iter().map(|(name, value)| (name, value));
    let mut command = Command::new(&plan.program.program);
    command.args(&plan.program.arguments).env_clear().envs(environment);
    command
}

/// Lowers the limits; a limit that is lower already stays.
fn limit_resources(plan: &CommandPlan<'_>) -> io::Result<()> {
    let limits = plan.request.policy.limits;
    let files = getrlimit(Resource::Nofile).maximum;
    let files = files.map_or(limits.open_files, |most| most.min(limits.open_files));
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: Some(files) })?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    Ok(())
}

/// Drops every capability but those of root over files. Without a capability nothing is dropped.
fn drop_capabilities() -> io::Result<()> {
    clear_ambient_capability_set().or_else(ignore_missing)?;
    for number in 0..=LAST_CAPABILITY {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if !KEPT_CAPABILITIES.contains(capability) {
            // The kernel knows fewer, and without capabilities none can be removed.
            remove_capability_from_bounding_set(capability).or_else(ignore_missing)?;
        }
    }
    let kept = rustix::thread::capabilities(None)?.permitted & KEPT_CAPABILITIES;
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    Ok(set_capabilities(None, sets)?)
}

fn ignore_missing(error: rustix::io::Errno) -> Result<(), rustix::io::Errno> {
    match error {
        rustix::io::Errno::INVAL | rustix::io::Errno::PERM => Ok(()),
        error => Err(error),
    }
}
