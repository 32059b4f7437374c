//! The supervisor: starts the init process, reports to the launcher, and cleans up.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::os::fd::RawFd;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::Program;
use super::absent_paths::AbsentPaths;
use super::descriptors::{
    detach_standard_streams, private_pipe, read_message, take_inherited, wait_readable,
    write_message,
};
use super::fork::{ForkSide, fork_into};
use super::init_process::{InitPlan, run_init};
use super::link_targets::with_link_targets;
use super::listening_sockets::unreachable_sockets;
use crate::Namespaces;
use crate::protocol::{HelperReport, HelperRequest};

/// Confines and runs a program; returns when nothing of it is left.
pub(super) fn supervise(control: RawFd, program: &Program) -> io::Result<()> {
    let control = take_inherited(control)?;
    let mut reader = BufReader::new(control.try_clone()?);
    let Some(mut request) = read_message::<HelperRequest>(&mut reader)? else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    request.policy.protect = with_link_targets(&request.policy.protect);
    request.policy.deny_read = with_link_targets(&request.policy.deny_read);
    let listeners = request.listeners.channel.map(take_inherited).transpose()?;
    let ends = LauncherEnds { control, listeners };
    let mut without = (!request.layers.namespaces).then(|| "switched off".to_owned());
    if without.is_none() {
        match supervise_in(Namespaces::All, &ends, &request, program, None)? {
            Outcome::Ended => return Ok(()),
            Outcome::NoNamespaces(why) => without = Some(why),
        }
        if rustix::process::geteuid().is_root() {
            match supervise_in(Namespaces::WithoutUser, &ends, &request, program, None)? {
                Outcome::Ended => return Ok(()),
                Outcome::NoNamespaces(why) => without = Some(why),
            }
        }
    }
    supervise_in(Namespaces::None, &ends, &request, program, without).map(drop)
}

/// What came of an attempt.
enum Outcome {
    /// The program was run, or refused for good.
    Ended,
    /// The kernel gave no namespaces; nothing has run.
    NoNamespaces(String),
}

/// The ends of the streams to the launcher.
struct LauncherEnds {
    control: File,
    /// Takes the listeners that are made in the network namespace.
    listeners: Option<File>,
}

fn supervise_in(
    namespaces: Namespaces,
    ends: &LauncherEnds,
    request: &HelperRequest,
    program: &Program,
    without_namespaces: Option<String>,
) -> io::Result<Outcome> {
    let control = &ends.control;
    let mut confined = request.clone();
    if namespaces != Namespaces::None {
        confined.policy.deny_read.extend(unreachable_sockets(&request.policy));
    }
    let request = &confined;
    let absent = match namespaces {
        Namespaces::All | Namespaces::WithoutUser => AbsentPaths::create(&request.policy.protect),
        Namespaces::None => Ok(AbsentPaths::default()),
    };
    let absent = match absent {
        Ok(absent) => absent,
        Err(error) => return refuse(control, &error.to_string()).map(|()| Outcome::Ended),
    };
    let (reports, report_to) = private_pipe()?;
    let (wait_for_map, mut map_is_made) = private_pipe()?;
    let init = match fork_into(namespaces, request.policy.network) {
        Ok(ForkSide::Parent(init)) => init,
        Ok(ForkSide::Child) => {
            drop((reports, map_is_made));
            run_init(InitPlan {
                namespaces,
                without_namespaces,
                request,
                program,
                reports: report_to,
                supervisor: wait_for_map,
                listeners: ends.listeners.as_ref(),
            })
        }
        Err(error) => {
            absent.remove();
            return match namespaces {
                Namespaces::None => Err(error),
                Namespaces::All | Namespaces::WithoutUser => {
                    Ok(Outcome::NoNamespaces(error.to_string()))
                }
            };
        }
    };
    drop((report_to, wait_for_map));
    let mapped = match namespaces {
        Namespaces::All => map_ids(init),
        Namespaces::WithoutUser | Namespaces::None => Ok(()),
    };
    let outcome = match mapped.and_then(|()| map_is_made.write_all(b"m")) {
        Ok(()) => forward_reports(control, reports, init),
        Err(error) => Ok(Outcome::NoNamespaces(format!("users could not be mapped: {error}"))),
    };
    // In namespaces, everything ends with the init process; without, it ends everything first.
    drop(map_is_made);
    if namespaces != Namespaces::None {
        kill_process(init, Signal::KILL).unwrap_or_default();
    }
    let _ = waitpid(Some(init), WaitOptions::empty());
    absent.remove();
    outcome
}

/// Maps the users and groups of the new namespace to those outside: all of them for root, who owns
/// them, and else the user alone.
fn map_ids(init: Pid) -> io::Result<()> {
    let folder = format!("/proc/{}", init.as_raw_nonzero());
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let (users, groups) = match user.is_root() {
        true => {
            (fs::read_to_string("/proc/self/uid_map")?, fs::read_to_string("/proc/self/gid_map")?)
        }
        false => {
            fs::write(format!("{folder}/setgroups"), "deny")?;
            let (user, group) = (user.as_raw(), group.as_raw());
            (format!("{user} {user} 1"), format!("{group} {group} 1"))
        }
    };
    fs::write(format!("{folder}/uid_map"), same_ids(&users))?;
    fs::write(format!("{folder}/gid_map"), same_ids(&groups))
}

/// Returns a map that gives every id of this namespace the same number in the new one.
fn same_ids(map: &str) -> String {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (inside, _, count) = (words.next()?, words.next()?, words.next()?);
        Some(format!("{inside} {inside} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

/// Forwards the reports of the init process until it ends or the launcher closes its end.
fn forward_reports(control: &File, reports: File, init: Pid) -> io::Result<Outcome> {
    let mut reader = BufReader::new(reports);
    let started = match read_message::<HelperReport>(&mut reader)? {
        Some(HelperReport::NoNamespaces { reason }) => return Ok(Outcome::NoNamespaces(reason)),
        Some(HelperReport::Started { mechanism, .. }) => {
            HelperReport::Started { mechanism, init: init.as_raw_nonzero().get() }
        }
        Some(other) => other,
        None => HelperReport::Refused { reason: "its preparation was killed".to_owned() },
    };
    detach_standard_streams()?;
    // The caller's group ends with the call, and this process cleans up after that.
    rustix::process::setpgid(None, None)?;
    write_message(control, &started)?;
    if let HelperReport::Started { .. } = started {
        loop {
            // What is buffered already is not seen by waiting for more.
            let [ended, closed] = match reader.buffer().is_empty() {
                true => wait_readable([reader.get_ref(), control], None)?,
                false => [true, false],
            };
            if ended {
                match read_message::<HelperReport>(&mut reader)? {
                    Some(report) => write_message(control, &report)?,
                    None => break,
                }
            }
            if closed {
                break;
            }
        }
    }
    Ok(Outcome::Ended)
}

fn refuse(control: &File, reason: &str) -> io::Result<()> {
    write_message(control, &HelperReport::Refused { reason: reason.to_owned() })
}
