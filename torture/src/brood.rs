//! The processes this one is answerable for: those it started, and those they left behind, which
//! the kernel gives to us when their parent is killed.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use rustix::process::{
    Pid, Resource, Rlimit, WaitOptions, getpid, set_child_subreaper, setrlimit, waitpid,
};

use crate::processes;

/// The children somebody waits for.
#[derive(Debug)]
pub(crate) struct Brood {
    awaited: Mutex<BTreeSet<i32>>,
}

impl Brood {
    /// From here on, orphans come to this process. Those who abort leave no core.
    pub(crate) fn gather() -> Result<Self> {
        set_child_subreaper(Some(getpid())).context("orphans cannot be gathered")?;
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        setrlimit(Resource::Core, none).context("core files cannot be switched off")?;
        Ok(Self { awaited: Mutex::default() })
    }

    /// Starts a child that somebody will wait for.
    pub(crate) fn add<T>(&self, start: impl FnOnce() -> Result<(Pid, T)>) -> Result<T> {
        let mut awaited = self.awaited();
        let (pid, child) = start()?;
        awaited.insert(pid.as_raw_nonzero().get());
        Ok(child)
    }

    /// Somebody has waited for it.
    pub(crate) fn remove(&self, pid: Pid) {
        self.awaited().remove(&pid.as_raw_nonzero().get());
    }

    /// Buries the orphans that died.
    pub(crate) fn bury(&self) {
        let awaited = self.awaited();
        for pid in processes::dead_children_of(getpid()) {
            if !awaited.contains(&pid.as_raw_nonzero().get()) {
                // It is dead, so this does not wait.
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
    }

    fn awaited(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
