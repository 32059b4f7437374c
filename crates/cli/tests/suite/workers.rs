//! `windlass worker` and detached prompts.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use windlass_cluster::{DiskMode, PostgresCluster, ShutdownMode};

use crate::test_home::TestHome;

fn worker_on(home: &TestHome, store: &str) -> Child {
    let file = std::fs::File::create(home.path("said")).unwrap();
    home.command(&["worker", "--script", "a.script", "--store", store])
        .stdin(Stdio::null())
        .stderr(file)
        .spawn()
        .unwrap()
}

fn worker(home: &TestHome) -> Child {
    worker_on(home, "w.db")
}

// spec: FAULT-52
#[test]
fn a_worker_does_what_was_left_and_hands_over_when_told() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    let output = home.run_prompt("one", &["--detach", "--conversation", "c1"]);
    assert_eq!((output.code, output.out.as_str()), (0, "c1\n"), "{}", output.err);
    let mut child = worker(&home);
    let completed = |count: usize| {
        let runs = home.run(&["runs", "--json"]).out;
        runs.lines().filter(|line| line.contains("\"completed\"")).count() == count
    };
    home.wait_until("the first prompt", || completed(1));
    // A prompt that is sent while it works is found too.
    home.run_prompt("two", &["--detach", "--conversation", "c2"]);
    home.wait_until("the second prompt", || completed(2));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ended = child.wait().unwrap();
    assert!(ended.success(), "{ended}");
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

// spec: RESUME-09
#[test]
fn the_resume_policy_is_that_of_the_runs_profile_whoever_works() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"a.script\"}\nwhen any\n  delay 3s\n  say \"done\"\n",
    );
    std::fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/config.toml", "[profiles.careful]\nresume = \"manual\"\n[profiles.quick]\n");
    let quick = ["--lease-ms", "1000", "--beat-ms", "200", "--store", "w.db"];
    let state = |name: &str| {
        let runs = home.json(&["runs"]);
        let run = runs.into_iter().find(|run| run["conversation"] == name);
        run.map_or(String::new(), |run| run["state"].as_str().unwrap_or_default().to_owned())
    };
    for profile in ["careful", "quick"] {
        let args = ["-p", "go", "--script", "a.script", "--conversation", profile];
        let args = [&args[..], &["--profile", profile], &quick].concat();
        let mut command = home.command(&args);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        home.wait_until("the second model call", || {
            home.run(&["trace", profile]).out.contains("tool_use")
        });
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // One worker, with the default profile: it resumes one run and not the other.
    let file = std::fs::File::create(home.path("said")).unwrap();
    let worker = |more: &[&str]| {
        let args = [&["worker", "--script", "a.script"], &quick[..], more].concat();
        let file = file.try_clone().unwrap();
        home.command(&args).stdin(Stdio::null()).stderr(file).spawn().unwrap()
    };
    let mut child = worker(&[]);
    home.wait_until("the automatic run", || state("quick") == "completed");
    assert_eq!(state("careful"), "timed_out");
    child.kill().unwrap();
    child.wait().unwrap();
    // A person resumes it.
    assert_eq!(home.run(&["resume", "careful", "--script", "a.script"]).code, 0);
    assert_eq!(state("careful"), "completed");
}

// spec: FAULT-53
#[test]
fn a_worker_that_is_told_twice_ends_at_once() {
    let home = TestHome::new("when any\n  delay 5m\n  say \"done\"\n");
    home.run_prompt("one", &["--detach", "--conversation", "c1"]);
    let mut child = worker(&home);
    let running = || home.run(&["runs", "--json"]).out.contains("\"running\"");
    home.wait_until("the run", running);
    // The file is locked, so that the lane cannot be released.
    let held = rusqlite::Connection::open(home.path("w.db")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    signal(&child, rustix::process::Signal::TERM);
    #[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it waits for the file");
    signal(&child, rustix::process::Signal::TERM);
    let (elapsed, ended) = wait(&mut child);
    assert!(elapsed < Duration::from_secs(3), "{elapsed:?}");
    assert_eq!(ended.code(), Some(130));
    held.execute_batch("COMMIT").unwrap();
}

/// Returns how long a process took to end.
#[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
fn wait(child: &mut Child) -> (Duration, std::process::ExitStatus) {
    let begin = Instant::now();
    let ended = child.wait().unwrap();
    (begin.elapsed(), ended)
}

// spec: FAULT-25, STORE-10
#[test]
fn two_terminals_and_a_worker_share_one_file() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"true\"}\nwhen any\n  say \"done\"\n",
    );
    let mut child = worker(&home);
    let talk = |who: &str| {
        for nth in 0..8 {
            let name = format!("{who}{nth}");
            let flags = ["--conversation", &name, "--allowed-tools", "Bash"];
            let ran = home.run_prompt("go", &flags);
            assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{name}: {}", ran.err);
            assert!(!ran.err.contains("locked"), "{}", ran.err);
            let output =
                home.run_prompt("go", &["--detach", "--conversation", &format!("{name}-left")]);
            assert_eq!(output.code, 0, "{}", output.err);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| talk("a"));
        scope.spawn(|| talk("b"));
    });
    let ended = || {
        let runs = home.run(&["runs", "--json"]);
        assert_eq!(runs.code, 0, "{}", runs.err);
        let is_open = |line: &&str| line.contains("\"running\"") || line.contains("\"queued\"");
        runs.out.lines().filter(|line| !is_open(line)).count()
    };
    home.wait_until("everything that was left", || ended() == 32);
    signal(&child, rustix::process::Signal::TERM);
    assert!(child.wait().unwrap().success());
}

// spec: SCALE-03
#[test]
fn what_a_killed_worker_had_goes_on_elsewhere_in_time() {
    let home = TestHome::new("when any\n  delay 2s\n  say \"done\"\n");
    let mut first = worker(&home);
    for nth in 0..5 {
        home.run_prompt("go", &["--detach", "--conversation", &format!("c{nth}")]);
    }
    let runs = |state: &str| {
        let runs = home.run(&["runs", "--json"]).out;
        runs.lines().filter(|line| line.contains(state)).count()
    };
    home.wait_until("all of them", || runs("\"running\"") == 5);
    let mut second = worker(&home);
    first.kill().unwrap();
    first.wait().unwrap();
    // The model alone takes two seconds.
    let elapsed = home.wait_until("all of them, elsewhere", || runs("\"completed\"") == 5);
    // The promise is 15 s; a loaded machine needs longer for the processes of this test alone.
    assert!(elapsed < Duration::from_secs(40), "{elapsed:?}");
    second.kill().unwrap();
    second.wait().unwrap();
}

#[test]
fn a_worker_says_that_its_store_is_away_and_goes_on_when_it_is_back() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let store = cluster.url("postgres");
    let mut child = worker_on(&home, &store);
    let leave = || {
        let flags = ["-p", "go", "--detach", "--store", &store];
        let output = home.run_bare(&flags);
        assert_eq!(output.code, 0, "{}", output.err);
    };
    let completed = |count: usize| {
        let runs = home.run_bare(&["runs", "--json", "--store", &store]).out;
        runs.lines().filter(|line| line.contains("\"completed\"")).count() == count
    };
    let said = |text: &str| std::fs::read_to_string(home.path("said")).unwrap().contains(text);
    leave();
    home.wait_until("the first prompt", || completed(1));
    cluster.stop(ShutdownMode::Immediate).unwrap();
    home.wait_until("the trouble", || said("retrying until it responds"));
    cluster.resume().unwrap();
    home.wait_until("the end of it", || said("the store is responding again"));
    leave();
    home.wait_until("the second prompt", || completed(2));
    signal(&child, rustix::process::Signal::TERM);
    assert!(child.wait().unwrap().success());
}
