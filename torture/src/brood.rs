//! The processes this one is answerable for: those it started, and those they left behind, which
//! the kernel gives to us when their parent is killed.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{
    Pid, Resource, Rlimit, WaitOptions, getpid, set_child_subreaper, setrlimit, waitpid,
};

use crate::clock::{Deadline, pause};
use crate::processes::{self, Life};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

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
        awaited.insert(raw(pid));
        Ok(child)
    }

    /// Somebody has waited for it.
    pub(crate) fn remove(&self, pid: Pid) {
        self.awaited().remove(&raw(pid));
    }

    /// Buries the orphans that died.
    pub(crate) fn bury(&self) {
        for pid in self.orphans(Life::Over) {
            // It is dead, so this does not wait.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }

    /// Waits until no orphan runs any more; gives those that still do after `patience`.
    pub(crate) fn wait_for_orphans(&self, patience: Duration) -> Vec<Pid> {
        let deadline = Deadline::after(patience);
        loop {
            self.bury();
            let running = self.orphans(Life::Running);
            if running.is_empty() || deadline.has_passed() {
                return running;
            }
            pause(LOOK);
        }
    }

    /// Children that came to us when their parent died.
    fn orphans(&self, life: Life) -> Vec<Pid> {
        // Held while looking, so that nobody is between being started and being known.
        let awaited = self.awaited();
        let kin = processes::children_of(getpid()).into_iter().filter(|kin| kin.life == life);
        kin.map(|kin| kin.pid).filter(|pid| !awaited.contains(&raw(*pid))).collect()
    }

    fn awaited(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}
