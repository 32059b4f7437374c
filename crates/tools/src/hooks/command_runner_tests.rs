//! Hooks as real processes: hangs, invalid output, too much output, and processes they leave
//! running.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use windlass_runtime::ports::Clock;
use windlass_runtime::{SystemClock, UnconfinedLauncher};

use super::command_runner::{HookExit, HookJob, HookProcessEnd, run_hook_process};

async fn run_to_end(command: &str, input: &str, timeout_ms: u64) -> HookProcessEnd {
    let folder = Path::new("/tmp");
    let clock = SystemClock::start();
    let input = input.as_bytes().to_vec();
    let job = HookJob { command, folder, input, timeout_ms, variables: &[] };
    run_hook_process(job, &UnconfinedLauncher, &clock).await.unwrap()
}

#[tokio::test]
async fn the_input_arrives_whole_and_the_streams_stay_apart() {
    let input = format!(r#"{{"x": "{}"}}"#, "y".repeat(300_000));
    let ended = run_to_end("wc -c; echo oops >&2; exit 3", &input, 5_000).await;
    assert_eq!(ended.exit, HookExit::Exited(3));
    assert_eq!(ended.stdout.text.trim(), input.len().to_string());
    assert_eq!(ended.stderr.text, "oops\n");
}

#[tokio::test]
async fn a_hook_that_does_not_read_is_not_waited_for() {
    let ended = run_to_end("echo done", &"z".repeat(1_000_000), 5_000).await;
    assert_eq!((ended.exit, ended.stdout.text.as_str()), (HookExit::Exited(0), "done\n"));
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test measures how long it takes")]
async fn a_hook_that_hangs_is_ended_with_all_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let command = format!(
        "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > {0}; echo $$ >> {0}; \
         while :; do sleep 1; done",
        pids.display()
    );
    let started = Instant::now();
    let ended = run_to_end(&command, "", 200).await;
    assert_eq!(ended.exit, HookExit::TimedOut { after_ms: 200 });
    assert!(started.elapsed().as_secs() < 5);
    for pid in std::fs::read_to_string(&pids).unwrap().split_whitespace() {
        assert!(is_gone(pid).await, "{pid} lives on");
    }
}

#[tokio::test]
async fn what_a_hook_leaves_in_the_background_is_ended_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let ended = run_to_end(&format!("sleep 60 & echo $! > {}", pid.display()), "", 5_000).await;
    assert_eq!(ended.exit, HookExit::Exited(0));
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(is_gone(pid.trim()).await);
}

#[tokio::test]
async fn what_a_hook_starts_in_a_session_of_its_own_is_ended_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let command = format!(
        "setsid sh -c 'echo $$ > {0}; exec sleep 60' & \
         while ! [ -s {0} ]; do sleep 0.01; done",
        pid.display()
    );
    let ended = run_to_end(&command, "", 5_000).await;
    assert_eq!(ended.exit, HookExit::Exited(0));
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(is_gone(pid.trim()).await);
}

#[tokio::test]
async fn a_dropped_hook_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let command = format!("echo $$ > {}; sleep 60", pid.display());
    let clock = Arc::new(SystemClock::start());
    let task = tokio::spawn({
        let clock = Arc::clone(&clock);
        async move {
            let folder = Path::new("/tmp");
            let (command, input, timeout_ms) = (&*command, Vec::new(), 60_000);
            let job = HookJob { command, folder, input, timeout_ms, variables: &[] };
            run_hook_process(job, &UnconfinedLauncher, clock.as_ref()).await
        }
    });
    while std::fs::read_to_string(&pid).unwrap_or_default().is_empty() {
        clock.sleep(5).await;
    }
    task.abort();
    let _ = task.await;
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(is_gone(pid.trim()).await);
}

#[tokio::test]
async fn a_flood_is_bounded_and_junk_is_text() {
    let ended =
        run_to_end("head -c 50000000 /dev/zero; head -c 50000000 /dev/urandom >&2", "", 30_000)
            .await;
    assert_eq!(ended.exit, HookExit::Exited(0));
    assert!(ended.stdout.is_truncated && ended.stdout.text.len() <= 128 * 1024);
    assert!(ended.stderr.text.chars().count() <= 128 * 1024);
}

#[tokio::test]
async fn a_signal_and_a_missing_program_are_told_apart() {
    assert_eq!(run_to_end("kill -9 $$", "", 5_000).await.exit, HookExit::Killed);
    assert_eq!(run_to_end("no-such-program-here", "", 5_000).await.exit, HookExit::Exited(127));
}

#[tokio::test]
async fn secrets_of_this_process_stay_here() {
    let ended = run_to_end("env", "", 5_000).await;
    let names: Vec<&str> =
        ended.stdout.text.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(names.contains(&"CLAUDE_PROJECT_DIR") && names.contains(&"PATH"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("CARGO_PKG")), "{names:?}");
}

/// Returns whether the process ends soon; a zombie has ended.
async fn is_gone(pid: &str) -> bool {
    let clock = SystemClock::start();
    for _ in 0..200 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
        if matches!(state, None | Some("Z" | "X")) {
            return true;
        }
        clock.sleep(5).await;
    }
    false
}
