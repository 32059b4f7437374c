//! A server whose processes are all stopped: connections stay open, and nothing responds.

use std::fs;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

/// The stopped processes; they continue when this is dropped.
#[derive(Debug)]
pub struct FrozenServer(Vec<Pid>);

impl FrozenServer {
    pub(crate) fn freeze_with_children(parent: i32) -> Result<Self> {
        let parent = Pid::from_raw(parent).context("the server has no number")?;
        // The parent first, so that it starts no more processes.
        kill_process(parent, Signal::STOP).context("the server cannot be frozen")?;
        let mut frozen = Self(vec![parent]);
        for child in children_of(parent) {
            // It may have exited already.
            _ = kill_process(child, Signal::STOP);
            frozen.0.push(child);
        }
        Ok(frozen)
    }
}

impl Drop for FrozenServer {
    fn drop(&mut self) {
        for pid in &self.0 {
            _ = kill_process(*pid, Signal::CONT);
        }
    }
}

fn children_of(parent: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let pids = names.filter_map(|name| parse_pid(&name));
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name in parentheses may contain any characters, including parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    parse_pid(rest.split_whitespace().nth(1)?)
}

fn parse_pid(text: &str) -> Option<Pid> {
    let number: i32 = text.parse().ok()?;
    if number > 0 { Pid::from_raw(number) } else { None }
}
