//! Finding what a command left running: members of its group, and those that left the group but
//! still carry the mark in their environment.

use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// The variable that marks a command's processes with the number of their group.
pub(super) const MARK: &str = "WINDLASS_GROUP";

/// The mark's value. It ends in a dot so that no value is the beginning of another.
pub(super) fn mark(group: Pid) -> String {
    format!("{}.", group.as_raw_nonzero())
}

/// The processes of a group that still run, without the guard.
pub(super) async fn of(group: Pid) -> Vec<Pid> {
    let look = move || look(group, Path::new("/proc"));
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// The same, seen in a given `/proc`. Where there is none, nothing is seen.
pub(super) fn look(group: Pid, proc: &Path) -> Vec<Pid> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| pid(&entry.file_name()));
    let entry = format!("{MARK}={}", mark(group));
    pids.filter(|pid| *pid != group && belongs(*pid, group, &entry, proc)).collect()
}

pub(super) fn pid(name: &std::ffi::OsStr) -> Option<Pid> {
    parse_pid(name.to_str()?)
}

fn belongs(pid: Pid, group: Pid, mark: &str, proc: &Path) -> bool {
    let place = proc.join(pid.as_raw_nonzero().to_string());
    let Some(stat) = fs::read(place.join("stat")).ok().as_deref().and_then(stat) else {
        return false;
    };
    stat.life == Life::Running && (stat.group == group || carries(&place, mark))
}

fn carries(place: &Path, mark: &str) -> bool {
    let environ = fs::read(place.join("environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

pub(super) struct Stat {
    pub(super) life: Life,
    /// The process that started it, or the one that adopted it; 0 for the first of all.
    pub(super) parent: i32,
    pub(super) group: Pid,
    pub(super) session: i32,
    /// When it started, in the kernel's ticks.
    pub(super) started: u64,
}

#[derive(PartialEq, Eq)]
pub(super) enum Life {
    Running,
    /// Ended, and only waiting to be asked for its status.
    Over,
}

/// A process id. The kernel writes -1 as the group of a process that ended this moment, and
/// `Pid::from_raw` must not be given that.
pub(super) fn parse_pid(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|raw| *raw > 0).and_then(Pid::from_raw)
}

/// `123 (any (name)) S 1 123 …`: the name may hold anything, so it is read from its last bracket.
pub(super) fn stat(bytes: &[u8]) -> Option<Stat> {
    let end = bytes.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(bytes.get(end.checked_add(1)?..)?).ok()?;
    let mut words = rest.split_ascii_whitespace();
    let life = match words.next()? {
        "Z" | "X" | "x" => Life::Over,
        _ => Life::Running,
    };
    let parent = words.next()?.parse().ok()?;
    let group = parse_pid(words.next()?)?;
    let session = words.next()?.parse().ok()?;
    // Field 22 of the file; the session is field 6.
    let started = words.nth(15).and_then(|word| word.parse().ok()).unwrap_or_default();
    Some(Stat { life, parent, group, session, started })
}
