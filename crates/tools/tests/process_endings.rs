//! Nothing a command started outlives its call.

use std::process::Stdio;

use windlass_core::call::outcome::ToolOutcome;
use windlass_runtime::ports::{Clock, Tool};
use windlass_tools::limits::{OUTPUT_DRAIN_MS, TERMINATION_GRACE_MS};

use crate::fixture::{TestWorkspace, call_context, input, is_alive, success_text};

/// Additional time for any wait, for a loaded machine.
const SLACK_MS: u64 = 3_000;

/// Returns how long a command took that timed out, to a tenth of a second.
fn timed_out(outcome: &ToolOutcome) -> u64 {
    let ToolOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(&*error.code, "timed_out");
    let after = error.message.strip_prefix("the command timed out after ").unwrap();
    let (seconds, rest) = after.split_once('.').unwrap();
    let (tenths, _) = rest.split_once(' ').unwrap();
    seconds.parse::<u64>().unwrap() * 1_000 + tenths.parse::<u64>().unwrap() * 100
}

// spec: TOOLS-08
#[tokio::test]
async fn a_command_has_a_group_of_its_own() {
    let workspace = TestWorkspace::new();
    let groups = "cut -d' ' -f5 /proc/$$/stat /proc/self/stat; echo ${WINDLASS_GROUP%.}";
    let output = success_text(workspace.command(groups).await);
    let mut groups: Vec<&str> = output.lines().collect();
    groups.dedup();
    let ours = rustix::process::getpgrp().as_raw_nonzero().to_string();
    assert!(groups.len() == 1 && groups != [ours.as_str()], "{output}");
}

// spec: TOOLS-08
#[tokio::test]
async fn a_call_ends_with_its_command_although_a_child_holds_the_pipe() {
    let workspace = TestWorkspace::new();
    let start = workspace.clock.monotonic_ms();
    let output = success_text(workspace.command("sleep 60 & echo $! > child; echo said").await);
    let elapsed = workspace.clock.monotonic_ms() - start;
    assert!(
        output.starts_with("said\n[ended processes that the command left running: 1"),
        "{output}"
    );
    assert!(
        (OUTPUT_DRAIN_MS..OUTPUT_DRAIN_MS + TERMINATION_GRACE_MS + SLACK_MS).contains(&elapsed),
        "{elapsed}"
    );
    assert!(!is_alive(workspace.pid("child").await));
}

#[tokio::test]
async fn a_daemon_that_left_the_group_is_ended_too() {
    let workspace = TestWorkspace::new();
    let daemon = "(setsid sh -c 'echo $$ > daemon; exec sleep 60' &) ; \
                  while [ ! -s daemon ]; do sleep 0.01; done; echo said";
    let output = success_text(workspace.command(daemon).await);
    assert!(output.starts_with("said\n"), "{output}");
    assert!(!is_alive(workspace.pid("daemon").await));
}

#[tokio::test]
async fn a_daemon_that_closed_everything_is_ended_too() {
    let workspace = TestWorkspace::new();
    let daemon = "(setsid sh -c 'echo $$ > daemon; exec sleep 60' <&- >&- 2>&- &) ; \
                  while [ ! -s daemon ]; do sleep 0.01; done; echo said";
    success_text(workspace.command(daemon).await);
    assert!(!is_alive(workspace.pid("daemon").await));
}

// spec: TOOLS-08
#[tokio::test]
async fn a_timeout_ends_the_whole_family() {
    let workspace = TestWorkspace::new();
    let family = "sh -c 'echo $$ > grandchild; sleep 60; true' & echo $$ > child; sleep 60; true";
    let after_ms = timed_out(&workspace.command_within(family, 300).await);
    assert!((300..300 + TERMINATION_GRACE_MS).contains(&after_ms), "{after_ms}");
    for name in ["child", "grandchild"] {
        assert!(!is_alive(workspace.pid(name).await), "{name}");
    }
}

#[tokio::test]
async fn who_heeds_term_may_clean_up() {
    let workspace = TestWorkspace::new();
    // On a loaded machine a shell may need seconds to install its trap.
    let tidy = "trap 'seq 100000; sleep 0.3 && touch tidied; exit 0' TERM; echo $$ > child; \
                while true; do sleep 0.05; done";
    timed_out(&workspace.command_within(tidy, 3_000).await);
    assert!(workspace.path().join("tidied").exists());
}

#[tokio::test]
async fn who_ignores_term_is_killed_after_the_grace() {
    let workspace = TestWorkspace::new();
    let deaf = "trap '' TERM HUP INT; echo $$ > child; while true; do sleep 0.2; done";
    let after_ms = timed_out(&workspace.command_within(deaf, 300).await);
    assert!(
        (TERMINATION_GRACE_MS..300 + TERMINATION_GRACE_MS + SLACK_MS).contains(&after_ms),
        "{after_ms}"
    );
    assert!(!is_alive(workspace.pid("child").await));
}

#[tokio::test]
async fn a_command_that_stops_itself_is_ended_too() {
    let workspace = TestWorkspace::new();
    timed_out(&workspace.command_within("echo $$ > child; kill -STOP $$", 300).await);
    assert!(!is_alive(workspace.pid("child").await));
}

#[tokio::test]
async fn a_command_that_signals_its_group_does_not_end_its_guard() {
    let workspace = TestWorkspace::new();
    let signals = "trap '' TERM INT; kill -TERM 0; kill -INT 0; echo $$ > child; sleep 60; true";
    let bash = workspace.bash();
    let call = bash.run(call_context(), input(signals, 60_000));
    let pid = dropped_while_running(&workspace, call).await;
    workspace.wait_until_gone(pid, TERMINATION_GRACE_MS + SLACK_MS).await;
}

#[tokio::test]
async fn a_command_that_kills_its_guard_is_ended_when_dropped() {
    let workspace = TestWorkspace::new();
    let kills = "kill -9 ${WINDLASS_GROUP%.}; sleep 0.1; echo $$ > child; sleep 60; true";
    let bash = workspace.bash();
    let call = bash.run(call_context(), input(kills, 60_000));
    let pid = dropped_while_running(&workspace, call).await;
    workspace.wait_until_gone(pid, SLACK_MS).await;
}

/// Polls a call until its command has written its process id, then drops it.
async fn dropped_while_running(
    workspace: &TestWorkspace,
    mut call: windlass_runtime::ports::BoxFuture<'_, ToolOutcome>,
) -> i32 {
    tokio::select! {
        outcome = &mut call => panic!("{outcome:?}"),
        pid = workspace.pid("child") => pid,
    }
}

// spec: TOOLS-08
#[tokio::test]
async fn dropping_the_call_ends_the_group() {
    let workspace = TestWorkspace::new();
    let bash = workspace.bash();
    let family = "sh -c 'echo $$ > grandchild; sleep 60; true' & \
                  while [ ! -s grandchild ]; do sleep 0.01; done; echo $$ > child; sleep 60; true";
    let pid =
        dropped_while_running(&workspace, bash.run(call_context(), input(family, 60_000))).await;
    workspace.wait_until_gone(pid, SLACK_MS).await;
    workspace.wait_until_gone(workspace.pid("grandchild").await, SLACK_MS).await;
}

#[tokio::test]
async fn dropping_the_call_ends_the_deaf_and_the_daemons_after_the_grace() {
    let workspace = TestWorkspace::new();
    let bash = workspace.bash();
    let deaf = "trap '' TERM; (setsid sh -c 'echo $$ > daemon; exec sleep 60' &); \
                while [ ! -s daemon ]; do sleep 0.01; done; echo $$ > child; \
                while true; do sleep 0.2; done";
    let pid =
        dropped_while_running(&workspace, bash.run(call_context(), input(deaf, 60_000))).await;
    workspace.wait_until_gone(pid, TERMINATION_GRACE_MS + SLACK_MS).await;
    workspace.wait_until_gone(workspace.pid("daemon").await, TERMINATION_GRACE_MS + SLACK_MS).await;
}

#[tokio::test]
async fn no_guard_is_left_over() {
    let workspace = TestWorkspace::new();
    let output = success_text(workspace.command("echo ${WINDLASS_GROUP%.}").await);
    assert!(!is_alive(output.trim().parse().unwrap()));
}

const FOLDER: &str = "WINDLASS_TEST_FOLDER";

/// Not a test of its own: the part that [`killing_the_parent_ends_the_command`] starts and kills.
#[tokio::test]
async fn stands_in_for_a_parent() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let clock = std::sync::Arc::new(windlass_runtime::SystemClock::start());
    let bash = windlass_tools::BashTool::new(folder, clock);
    let deaf = "trap '' TERM HUP; (setsid sh -c 'echo $$ > daemon; exec sleep 60' &); \
                while [ ! -s daemon ]; do sleep 0.01; done; echo $$ > child; \
                while true; do sleep 0.2; done";
    bash.run(call_context(), input(deaf, 60_000)).await;
}

#[expect(clippy::disallowed_methods, reason = "the test needs a parent it can kill")]
fn parent(workspace: &TestWorkspace) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process_endings::stands_in_for_a_parent"])
        .env(FOLDER, workspace.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

// spec: TOOLS-08
#[tokio::test]
async fn killing_the_parent_ends_the_command() {
    let workspace = TestWorkspace::new();
    let mut parent = parent(&workspace);
    let (child, daemon) = (workspace.pid("child").await, workspace.pid("daemon").await);
    assert!(is_alive(child) && is_alive(daemon));
    parent.kill().unwrap();
    parent.wait().unwrap();
    workspace.wait_until_gone(child, TERMINATION_GRACE_MS + SLACK_MS).await;
    workspace.wait_until_gone(daemon, TERMINATION_GRACE_MS + SLACK_MS).await;
}
