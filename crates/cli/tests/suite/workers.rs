//! `windlass worker` and prompts that are left for it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::kit::Place;

#[expect(clippy::disallowed_methods, reason = "the test runs the real binary")]
fn worker(place: &Place) -> Child {
    Command::new(env!("CARGO_BIN_EXE_windlass"))
        .args(["worker", "--script", "a.script", "--store", "w.db"])
        .current_dir(place.path("."))
        .env("WINDLASS_HOME", place.path("home"))
        .env("HOME", place.path("user"))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the test watches real processes")]
fn until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
    begin.elapsed()
}

#[test]
fn a_worker_does_what_was_left_and_hands_over_when_told() {
    let place = Place::new("when any\n  say \"done\"\n");
    let left = place.ask("one", &["--detach", "--conversation", "c1"]);
    assert_eq!((left.code, left.out.as_str()), (0, "c1\n"), "{}", left.err);
    let mut child = worker(&place);
    let completed = |count: usize| {
        let runs = place.run(&["runs", "--json"]).out;
        runs.lines().filter(|line| line.contains("\"completed\"")).count() == count
    };
    until("the first prompt", || completed(1));
    // One that comes while it works is found too.
    place.ask("two", &["--detach", "--conversation", "c2"]);
    until("the second prompt", || completed(2));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ended = child.wait().unwrap();
    assert!(ended.success(), "{ended}");
}
