//! A server whose processes are all stopped: connections stay open, and nothing responds.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use crate::process_table::children_of;

/// The stopped processes; they continue when this is dropped.
#[derive(Debug)]
pub struct FrozenServer(Vec<Pid>);

impl FrozenServer {
    pub(crate) fn freeze_with_children(parent: i32) -> Result<Self> {
        let parent = Pid::from_raw(parent).context("the server has no process id")?;
        // The parent first, so that it starts no more processes.
        kill_process(parent, Signal::STOP).context("cannot freeze the server")?;
        let mut frozen = Self(vec![parent]);
        for child in children_of(parent) {
            // It may have exited already.
            _ = kill_process(child.pid, Signal::STOP);
            frozen.0.push(child.pid);
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
