use std::fs;
use std::path::Path;

use rustix::process::Pid;

use super::group_processes::find_in_group_at;

fn process(proc: &Path, pid: i32, stat: &str, environ: &[u8]) {
    let path = proc.join(pid.to_string());
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("stat"), stat).unwrap();
    fs::write(path.join("environ"), environ).unwrap();
}

fn find_pids(proc: &Path, group: i32) -> Vec<i32> {
    let found = find_in_group_at(Pid::from_raw(group).unwrap(), proc);
    let mut found: Vec<i32> = found.into_iter().map(|pid| pid.as_raw_nonzero().get()).collect();
    found.sort_unstable();
    found
}

#[test]
fn members_and_marked_ones_are_found_and_nobody_else() {
    let proc = tempfile::tempdir().unwrap();
    let proc = proc.path();
    process(proc, 70, "70 (sh) S 1 70 70 0", b"");
    process(proc, 71, "71 (a) R 1 70 70 0", b"");
    process(proc, 72, "72 (odd ) R 9 9 (name) S 1 70 70 0", b"");
    process(proc, 73, "73 (dead) Z 1 70 70 0", b"");
    process(proc, 74, "74 (daemon) S 1 74 74 0", b"A=b\0WINDLASS_GROUP=70.\0");
    process(proc, 75, "75 (other) S 1 75 75 0", b"WINDLASS_GROUP=700.\0");
    process(proc, 76, "76 (other) S 1 76 76 0", b"X=WINDLASS_GROUP=70.\0");
    process(proc, 79, "79 (ended) X 0 -1 -1 0", b"WINDLASS_GROUP=70.\0");
    process(proc, 77, "77 (torn", b"WINDLASS_GROUP=70.\0");
    process(proc, 78, "78 (torn) S 1", b"WINDLASS_GROUP=70.\0");
    fs::write(proc.join("uptime"), "1").unwrap();
    assert_eq!(find_pids(proc, 70), [71, 72, 74]);
}

#[test]
fn without_a_proc_nothing_is_seen() {
    assert_eq!(find_pids(Path::new("/no/such/place"), 70), [0; 0]);
}
