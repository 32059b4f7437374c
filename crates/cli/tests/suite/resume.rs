//! What workers do with runs of a dead worker, and with conversations that cannot be driven.

use std::process::{Child, Stdio};

use crate::test_home::TestHome;

/// A short lease, so that dead workers are noticed soon. Long enough for a loaded machine.
const SHORT_LEASE: [&str; 4] = ["--beat-ms", "200", "--lease-ms", "2000"];

/// A process that is killed at the end of the test.
struct WorkerProcess(Child);

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn start_worker(home: &TestHome, more: &[&str]) -> WorkerProcess {
    let base = ["worker", "--script", "a.script", "--store", "w.db"];
    let file = std::fs::File::create(home.path("said")).unwrap();
    let mut command = home.command(&[&base, SHORT_LEASE.as_slice(), more].concat());
    WorkerProcess(command.stdin(Stdio::null()).stderr(file).spawn().unwrap())
}

fn run_state(home: &TestHome) -> String {
    let runs = home.json(&["runs"]);
    runs.first().map(|run| run["state"].as_str().unwrap().to_owned()).unwrap_or_default()
}

/// A run that was hanging when its worker was killed; the next worker can finish it.
fn home_with_dead_worker(config: &str, flags: &[&str]) -> TestHome {
    let home = TestHome::new("when any\n  delay 10m\n  say \"never\"\n");
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", config);
    let output =
        home.run_prompt("go", &[["--detach", "--conversation", "c"].as_slice(), flags].concat());
    assert_eq!(output.code, 0, "{}", output.err);
    let dying = start_worker(&home, &[]);
    home.wait_until("the run", || run_state(&home) == "running");
    drop(dying);
    home.write("a.script", "when any\n  say \"done\"\n");
    home
}

const CAREFUL: [&str; 2] = ["--profile", "careful"];

const MANUAL: &str = "[profiles.careful]\nresume = \"manual\"\n";

// spec: RESUME-09
#[test]
fn a_worker_that_is_told_to_leaves_runs_of_the_dead_to_people() {
    let manual = ["--resume", "manual"].as_slice();
    for (config, profile, flags) in [
        ("", [].as_slice(), manual),
        (MANUAL, &CAREFUL, &[]),
        ("[profiles.careful]\nresume = \"automatic\"\n", &CAREFUL, manual),
    ] {
        let home = home_with_dead_worker(config, profile);
        let working = start_worker(&home, &[profile, flags].concat());
        home.wait_until("the dead worker is noticed", || run_state(&home) == "timed_out");
        // A prompt that was sent later is done, so the worker had time for the interrupted run.
        home.run_prompt("later", &["--detach", "--conversation", "d"]);
        let ended = |run: &serde_json::Value| run["state"] == "completed";
        home.wait_until("the other prompt", || home.json(&["runs"]).iter().any(ended));
        let runs = home.json(&["runs"]);
        let left = runs.iter().find(|run| run["conversation"] == "c").unwrap();
        assert_eq!(left["state"], "timed_out", "{flags:?}: {left}");
        assert_eq!(left["resume_available"], true, "{flags:?}: {left}");
        let output = home.run(&["explain", "c"]).out;
        assert!(output.contains("windlass resume"), "{flags:?}: {output}");
        drop(working);
        let ran = home.run(&["resume", "c", "--script", "a.script"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{flags:?}: {}", ran.err);
    }
}

// spec: RESUME-09
#[test]
fn otherwise_a_worker_resumes_them_and_a_flag_counts_more_than_a_profile() {
    for (config, profile, flags) in [
        ("", [].as_slice(), [].as_slice()),
        (MANUAL, &[], &[]),
        (MANUAL, &CAREFUL, &["--resume", "automatic"]),
    ] {
        let home = home_with_dead_worker(config, profile);
        let _working = start_worker(&home, &[profile, flags].concat());
        home.wait_until("the run, resumed", || run_state(&home) == "completed");
    }
}

/// The log of one conversation is damaged, so that no driver can start to drive it.
// spec: LANES-05
#[test]
fn a_conversation_that_cannot_be_driven_is_told_and_holds_up_no_other() {
    let home = TestHome::new("when any\n  say \"done\"\n");
    home.run_prompt("hi", &["--conversation", "broken"]);
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    let text = "SELECT body FROM entry WHERE seq = 2";
    let whole: rusqlite::types::Value = store.query_row(text, [], |row| row.get(0)).unwrap();
    let put = |body: &rusqlite::types::Value| {
        let text = "UPDATE entry SET body = ?1 WHERE seq = 2
             AND lane_no = (SELECT no FROM lane WHERE id = 'broken')";
        assert_eq!(store.execute(text, [body]), Ok(1));
    };
    put(&rusqlite::types::Value::from("{}".to_owned()));
    home.run_prompt("one", &["--detach", "--conversation", "broken"]);
    let failing = start_worker(&home, &[]);
    let events = || home.json(&["logs"]);
    let is_failure = |event: &serde_json::Value| event["name"] == "agent_run.dispatch_next_failed";
    home.wait_until("the failure", || events().iter().any(is_failure));
    let failure = events().into_iter().find(is_failure).unwrap();
    assert_eq!(failure["conversation"], "broken", "{failure}");
    assert!(failure["worker"].is_string(), "{failure}");
    assert!(failure["fields"].to_string().contains("malformed"), "{failure}");
    // The other conversations continue, in the same worker.
    home.run_prompt("two", &["--detach", "--conversation", "sound"]);
    let completed = |lane: &str| {
        let runs = home.json(&["runs"]);
        let of_lane = runs.iter().filter(|run| run["conversation"] == lane);
        of_lane.filter(|run| run["state"] == "completed").count()
    };
    home.wait_until("the other conversation", || completed("sound") == 1);
    drop(failing);
    // Nothing is lost: once the log can be read, the next worker handles what is queued.
    put(&whole);
    assert_eq!(completed("broken"), 1);
    let _working = start_worker(&home, &[]);
    home.wait_until("the prompt that waited", || completed("broken") == 2);
}

/// A worker that is told to stop while a command runs.
fn stop_worker(grace: &str, log: &[&str]) -> (TestHome, WorkerProcess) {
    let home = TestHome::new(
        "when results 0
  call Bash {\"command\": \"touch begun; sleep 2; touch finished\"}

when any
  say \"done\"
",
    );
    home.run_prompt("go", &["--detach", "--conversation", "c", "--allowedTools", "Bash"]);
    let flags = [&["--allowedTools", "Bash", "--grace-seconds", grace], log].concat();
    let mut working = start_worker(&home, &flags);
    home.wait_until("the command", || home.path("begun").exists());
    let pid = rustix::process::Pid::from_child(&working.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(working.0.wait().unwrap().success());
    (home, working)
}

// spec: SCALE-10
#[test]
fn a_command_in_progress_finishes_within_the_grace_period_and_is_not_asked_about() {
    let (home, _) = stop_worker("60", &[]);
    assert!(home.path("finished").exists(), "the worker waited for the command");
    let before = home.json(&["runs"]);
    assert_eq!(before[0]["state"], "running", "what follows is for the next worker: {before:?}");
    std::fs::remove_file(home.path("begun")).unwrap();
    let _working = start_worker(&home, &["--allowedTools", "Bash"]);
    home.wait_until("the end", || run_state(&home) == "completed");
    assert!(!home.path("begun").exists(), "the command ran once");
}

// spec: SCALE-10
#[test]
fn without_a_grace_period_a_worker_leaves_what_is_in_progress() {
    let (home, _) = stop_worker("0", &[]);
    assert!(!home.path("finished").exists(), "it did not wait");
    // A person must say whether it happened.
    let _working = start_worker(&home, &["--allowedTools", "Bash"]);
    home.wait_until("the question", || run_state(&home) == "waiting_on_human");
}

#[test]
fn a_worker_logs_what_it_does_if_it_is_told_to() {
    let (home, _) = stop_worker("60", &["--log", "info"]);
    let output = std::fs::read_to_string(home.path("said")).unwrap();
    assert!(output.contains("agent_run.started"), "{output}");
    let (home, _) = stop_worker("60", &[]);
    let output = std::fs::read_to_string(home.path("said")).unwrap();
    assert!(!output.contains("agent_run.started"), "{output}");
}
