//! Finds the processes of a group, also those that left the group but still have the mark in their
//! environment.

use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// The variable that marks a command's processes with the id of their group.
pub(super) const GROUP_VARIABLE: &str = "WINDLASS_GROUP";

/// Returns the value of the mark. It ends in a dot so that no value is a prefix of another.
pub(super) fn group_mark(group: Pid) -> String {
    format!("{}.", group.as_raw_nonzero())
}

/// Returns the running processes of a group, without the guard and the helpers of a launcher.
pub(super) async fn find_in_group(group: Pid, helpers: &[i32]) -> Vec<Pid> {
    let look = move || find_in_group_at(group, Path::new("/proc"));
    let mut found = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    found.retain(|pid| !helpers.contains(&pid.as_raw_nonzero().get()));
    found
}

/// Returns the running processes of a group, as seen in a given `/proc`; none where there is no
/// `/proc`.
pub(super) fn find_in_group_at(group: Pid, proc: &Path) -> Vec<Pid> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| pid_of_entry(&entry.file_name()));
    let entry = format!("{GROUP_VARIABLE}={}", group_mark(group));
    pids.filter(|pid| *pid != group && is_in_group(*pid, group, &entry, proc)).collect()
}

pub(super) fn pid_of_entry(name: &std::ffi::OsStr) -> Option<Pid> {
    parse_pid(name.to_str()?)
}

fn is_in_group(pid: Pid, group: Pid, mark: &str, proc: &Path) -> bool {
    let path = proc.join(pid.as_raw_nonzero().to_string());
    let Some(stat) = fs::read(path.join("stat")).ok().as_deref().and_then(parse_stat) else {
        return false;
    };
    stat.is_running && (stat.group == group || has_mark(&path, mark))
}

fn has_mark(path: &Path, mark: &str) -> bool {
    let environ = fs::read(path.join("environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

pub(super) struct ProcessStat {
    /// Whether it is running; otherwise it is a zombie that waits to be reaped.
    pub(super) is_running: bool,
    /// The parent process, or the one to which it was reparented; 0 for the first process.
    pub(super) parent: i32,
    pub(super) group: Pid,
    pub(super) session: i32,
    /// The start time, in the kernel's ticks.
    pub(super) start_ticks: u64,
}

/// Parses a process id. The kernel writes -1 as the group of a process that ended this moment, and
/// `Pid::from_raw` must not be given that.
pub(super) fn parse_pid(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|raw| *raw > 0).and_then(Pid::from_raw)
}

/// Parses `123 (any (name)) S 1 123 …`: the name may contain anything, so it is parsed from the
/// last bracket.
pub(super) fn parse_stat(bytes: &[u8]) -> Option<ProcessStat> {
    let end = bytes.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end.checked_add(1)?..)?).ok()?;
    let mut words = rest.split_ascii_whitespace();
    let is_running = !matches!(words.next()?, "Z" | "X" | "x");
    let parent = words.next()?.parse().ok()?;
    let group = parse_pid(words.next()?)?;
    let session = words.next()?.parse().ok()?;
    // Field 22 of the file; the session is field 6.
    let start_ticks = words.nth(15).and_then(|word| word.parse().ok()).unwrap_or_default();
    Some(ProcessStat { is_running, parent, group, session, start_ticks })
}
