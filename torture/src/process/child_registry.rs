//! Registry of child processes: those that this process started, and orphans that the kernel
//! reparents to us (subreaper) when their parent is killed.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{
    Pid, Resource, Rlimit, WaitOptions, getpid, set_child_subreaper, setrlimit, waitpid,
};
use windlass_cluster::process_table::{ProcessLife, children_of};

use crate::process::clock::{Deadline, pause};

/// Time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Children that are waited for.
#[derive(Debug)]
pub(crate) struct ChildRegistry {
    awaited_pids: Mutex<BTreeSet<i32>>,
}

impl ChildRegistry {
    /// Makes this process the parent of orphans (subreaper), and disables core dumps.
    pub(crate) fn become_subreaper() -> Result<Self> {
        set_child_subreaper(Some(getpid())).context("cannot become the parent of orphans")?;
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        setrlimit(Resource::Core, none).context("cannot switch core dumps off")?;
        Ok(Self { awaited_pids: Mutex::default() })
    }

    /// Starts a child that will be waited for.
    pub(crate) fn start_child<T>(&self, start: impl FnOnce() -> Result<(Pid, T)>) -> Result<T> {
        let mut awaited = self.lock_awaited();
        let (pid, child) = start()?;
        awaited.insert(raw_pid(pid));
        Ok(child)
    }

    /// Unregisters a child that was waited for.
    pub(crate) fn remove(&self, pid: Pid) {
        self.lock_awaited().remove(&raw_pid(pid));
    }

    /// Reaps orphans that have ended.
    pub(crate) fn reap_orphans(&self) {
        for pid in self.find_orphans(ProcessLife::Zombie) {
            // The process has ended, so this does not wait.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }

    /// Waits until no orphan runs any more; returns those that still do after `patience`.
    pub(crate) fn wait_for_orphans(&self, patience: Duration) -> Vec<Pid> {
        let deadline = Deadline::after(patience);
        loop {
            self.reap_orphans();
            let running = self.find_orphans(ProcessLife::Running);
            if running.is_empty() || deadline.has_passed() {
                return running;
            }
            pause(POLL_INTERVAL);
        }
    }

    /// Finds children that were reparented to us when their parent died.
    fn find_orphans(&self, life: ProcessLife) -> Vec<Pid> {
        // Locked while scanning, so that no child is between start and registration.
        let awaited = self.lock_awaited();
        let children = children_of(getpid()).into_iter().filter(|child| child.life == life);
        children.map(|child| child.pid).filter(|pid| !awaited.contains(&raw_pid(*pid))).collect()
    }

    fn lock_awaited(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.awaited_pids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn raw_pid(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}
