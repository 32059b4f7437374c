//! How much of the machine a command may take. These are the kernel's per-process bounds: they stop
//! the careless, not the determined. Holding a whole family of processes takes a cgroup.

use std::fs;

use crate::limits::{MAX_PROCESSES, OPEN_FILES};

/// Bounds for a command and everything it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rations {
    /// Processes of this user at once. The kernel does not hold root to it.
    pub(crate) processes: u64,
    /// Open files of one process, unless it asks for more.
    pub(crate) open_files: u64,
    /// Memory of one process that is its own to write.
    pub(crate) memory_kib: Option<u64>,
}

impl Rations {
    /// Those that fit this machine: no process may take more memory than there is.
    pub(crate) fn of_this_machine() -> Self {
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self { processes: MAX_PROCESSES, open_files: OPEN_FILES, memory_kib: total_kib(&memory) }
    }

    /// As orders to a shell. A bound it does not know or may not set is left out; the letter for
    /// processes differs between shells.
    pub(super) fn script(&self) -> String {
        let Self { processes, open_files, memory_kib } = self;
        let memory = memory_kib.map(|kib| format!("ulimit -d {kib} 2>/dev/null; "));
        format!(
            "ulimit -c 0 2>/dev/null; ulimit -S -n {open_files} 2>/dev/null; {}\
             ulimit -u {processes} 2>/dev/null || ulimit -p {processes} 2>/dev/null",
            memory.unwrap_or_default()
        )
    }
}

fn total_kib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse().ok()
}
