//! Resource limits (`ulimit`) per process: they stop accidents, not attacks. Limiting a whole tree
//! of processes takes a cgroup.

use std::fs;

use crate::limits::{MAX_OPEN_FILES, MAX_PROCESSES};

/// Limits for a command and everything it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResourceLimits {
    /// Processes of this user at once. The kernel does not apply it to root.
    pub(crate) processes: u64,
    /// Open files of one process, unless it raises the limit.
    pub(crate) open_files: u64,
    /// Writable private memory of one process.
    pub(crate) memory_kib: Option<u64>,
}

impl ResourceLimits {
    /// Returns the limits for this machine: no process may use more memory than there is.
    pub(crate) fn for_this_machine() -> Self {
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            processes: MAX_PROCESSES,
            open_files: MAX_OPEN_FILES,
            memory_kib: total_memory_kib(&memory),
        }
    }

    /// Returns the limits as shell commands. A limit that the shell does not know or may not set is
    /// skipped; the option for processes differs between shells.
    pub(super) fn ulimit_script(&self) -> String {
        let Self { processes, open_files, memory_kib } = self;
        let memory = memory_kib.map(|kib| format!("ulimit -d {kib} 2>/dev/null; "));
        format!(
            "ulimit -c 0 2>/dev/null; ulimit -S -n {open_files} 2>/dev/null; {}\
             ulimit -u {processes} 2>/dev/null || ulimit -p {processes} 2>/dev/null",
            memory.unwrap_or_default()
        )
    }
}

fn total_memory_kib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse().ok()
}
