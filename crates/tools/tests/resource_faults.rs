//! Faults of commands, numbered as in the matrix, against real processes.

use std::fs;
use std::process::Stdio;
use std::sync::Arc;

use windlass_core::call::outcome::{CallResult, SideEffects, ToolOutcome};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Clock, Tool};
use windlass_tools::limits::{HEAD_BYTES, KILL_WAIT_MS, TAIL_BYTES, TERMINATION_GRACE_MS};
use windlass_tools::{BashTool, reap_orphans};

use crate::fixture::{TestWorkspace, call_context, failure_of, input, is_alive, success_text};

/// Additional time for any wait, for a loaded machine.
const SLACK_MS: u64 = 3_000;

// spec: FAULT-41
#[tokio::test]
async fn fault_41_a_command_that_hangs_for_ever_is_ended_with_its_group() {
    let workspace = TestWorkspace::new();
    let start = workspace.clock.monotonic_ms();
    let hangs = "sh -c 'echo $$ > grandchild; while :; do sleep 1; done' & echo $$ > child; \
                 cat < /dev/zero > /dev/null";
    let error = failure_of(workspace.command_within(hangs, 300).await);
    let elapsed = workspace.clock.monotonic_ms() - start;
    assert_eq!(&*error.code, "timed_out");
    assert!(
        (300..300 + TERMINATION_GRACE_MS + KILL_WAIT_MS + SLACK_MS).contains(&elapsed),
        "{elapsed}"
    );
    for name in ["child", "grandchild"] {
        assert!(!is_alive(workspace.pid(name).await), "{name}");
    }
}

// spec: FAULT-42
#[tokio::test]
async fn fault_42_a_daemon_does_not_hold_the_call_and_does_not_outlive_it() {
    let workspace = TestWorkspace::new();
    // A new session, a second fork, no open files: as a daemon detaches itself.
    let daemon = "(setsid sh -c 'setsid sh -c \"echo \\$\\$ > daemon; exec sleep 60\" & exit' \
                  <&- >&- 2>&- &); while [ ! -s daemon ]; do sleep 0.01; done; echo said";
    let start = workspace.clock.monotonic_ms();
    let output = success_text(workspace.command(daemon).await);
    let elapsed = workspace.clock.monotonic_ms() - start;
    assert!(output.starts_with("said\n"), "{output}");
    assert!(elapsed < TERMINATION_GRACE_MS + SLACK_MS, "{elapsed}");
    assert!(!is_alive(workspace.pid("daemon").await));
}

// spec: FAULT-43
#[tokio::test]
async fn fault_43_a_command_that_ignores_every_signal_is_killed() {
    let workspace = TestWorkspace::new();
    let deaf = "trap '' TERM INT HUP QUIT USR1; echo $$ > child; while :; do sleep 0.2; done";
    let start = workspace.clock.monotonic_ms();
    let error = failure_of(workspace.command_within(deaf, 300).await);
    let elapsed = workspace.clock.monotonic_ms() - start;
    assert_eq!(&*error.code, "timed_out");
    assert!(
        (300 + TERMINATION_GRACE_MS..300 + TERMINATION_GRACE_MS + KILL_WAIT_MS + SLACK_MS)
            .contains(&elapsed),
        "{elapsed}"
    );
    assert!(!is_alive(workspace.pid("child").await));
}

// spec: FAULT-44
#[tokio::test]
async fn fault_44_a_greedy_command_meets_its_bounds_and_we_do_not() {
    let workspace = TestWorkspace::new();
    // A buffer of 100 GB, allocated at once.
    let error = failure_of(workspace.command("dd if=/dev/zero of=/dev/null bs=100G count=1").await);
    assert!(error.message.ends_with("exit code 1"), "{}", error.message);
    // Opens files until the limit is reached.
    let leak = "i=10; while { eval \"exec $i</dev/null\"; } 2>/dev/null && [ $i -lt 9000 ]; do \
                i=$((i+1)); done; echo $i";
    let opened: u64 = success_text(workspace.command(leak).await).trim().parse().unwrap();
    assert!(opened <= 4_096, "{opened}");
    assert_eq!(success_text(workspace.command("ulimit -c; ulimit -u").await), "0\n16384\n");
    // Starts processes faster than they could be listed; bounded here, because the limit does not
    // apply to root.
    let bomb = "echo $$ > child; n=0; while [ $n -lt 400 ]; do sleep 60 & n=$((n+1)); done; wait";
    let error = failure_of(workspace.command_within(bomb, 1_500).await);
    assert_eq!(&*error.code, "timed_out");
    assert!(!is_alive(workspace.pid("child").await));
    assert!(error.message_and_output().contains("left running: "), "{error:?}");
    assert_eq!(success_text(workspace.command("echo alive").await), "alive\n");
}

const FLOOD: &str = "WINDLASS_TEST_FLOOD";
const MOST_KIB: u64 = 16 * 1024;

fn status_kib(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Not a test of its own: the part of [`fault_45_a_flood_is_held_in_bounded_memory`] that runs in
/// its own process, so that its memory can be measured.
#[tokio::test]
async fn stands_in_for_a_flood() {
    let Some(command) = std::env::var_os(FLOOD) else { return };
    let workspace = TestWorkspace::new();
    drop(workspace.command("head -c 1000000 /dev/zero").await);
    let before = status_kib("VmHWM:");
    let output = success_text(workspace.command(command.to_str().unwrap()).await);
    let grown = status_kib("VmHWM:") - before;
    assert!(grown < MOST_KIB, "grew by {grown} KiB");
    let omitted = 1_000_000_000 - HEAD_BYTES - TAIL_BYTES;
    assert!(output.contains(&format!("[… {omitted} bytes omitted …]")));
    assert!(output.contains("of 1000000000 bytes of output: "));
}

#[expect(clippy::disallowed_methods, reason = "the test needs a process to measure")]
fn flood(command: &str) {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "resource_faults::stands_in_for_a_flood"])
        .env(FLOOD, command)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "{command}");
}

// spec: FAULT-45
#[test]
fn fault_45_a_flood_is_held_in_bounded_memory() {
    flood("head -c 1000000000 /dev/zero");
    flood("yes abcdefg | head -c 1000000000");
}

// spec: FAULT-46
#[tokio::test]
async fn fault_46_any_bytes_are_told_and_none_is_lost() {
    let workspace = TestWorkspace::new();
    let bytes = r"printf 'a\0b\377\355\240\200c\033]52;c;eA==\a\033[2J\r'";
    let outcome = workspace.command(bytes).await;
    let result = CallResult::from_outcome(&outcome, 32_000, SideEffects::Unknown);
    assert!(serde_json::from_str::<String>(result.content.text()).is_ok());
    let output = success_text(outcome);
    assert!(output.starts_with("a\0b\u{fffd}") && output.contains("\u{1b}]52"), "{output:?}");
    // The file contains what was printed, to the byte.
    let many = format!("for i in $(seq 3000); do {bytes}; done");
    let output = success_text(workspace.command(&many).await);
    let path = output.split_once(" bytes): ").unwrap().1;
    let kept = fs::read(path.split_once("; read it").unwrap().0).unwrap();
    let once = b"a\0b\xff\xed\xa0\x80c\x1b]52;c;eA==\x07\x1b[2J\r";
    assert_eq!(kept, once.repeat(3_000));
    // A lone surrogate cannot be passed to a program as text.
    let lone = crate::fixture::json(r#"{"command": "echo \ud800"}"#);
    let problem = workspace.bash().assess(&lone).problem.unwrap();
    assert_eq!(&*problem.code, "invalid_input");
}

const FOLDER: &str = "WINDLASS_TEST_ORPHANS";

/// Not a test of its own: the part that [`orphans_are_found_and_ended_by_whoever_starts_next`]
/// starts and kills.
#[tokio::test]
async fn stands_in_for_an_owner() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let clock = Arc::new(SystemClock::start());
    let bash = BashTool::new(folder, clock);
    let command = "trap '' TERM; (setsid sh -c 'echo $$ > daemon; exec sleep 60' &); \
                   while [ ! -s daemon ]; do sleep 0.01; done; echo ${WINDLASS_GROUP%.} > guard; \
                   echo $$ > child; while :; do sleep 0.2; done";
    let _: ToolOutcome = bash.run(call_context(), input(command, 60_000)).await;
}

#[expect(clippy::disallowed_methods, reason = "the test needs an owner it can kill")]
fn owner(workspace: &TestWorkspace) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "resource_faults::stands_in_for_an_owner"])
        .env(FOLDER, workspace.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn orphans_are_found_and_ended_by_whoever_starts_next() {
    let workspace = TestWorkspace::new();
    let mut owner = owner(&workspace);
    let (child, daemon) = (workspace.pid("child").await, workspace.pid("daemon").await);
    let guard = workspace.pid("guard").await;
    reap_orphans(workspace.clock.as_ref()).await;
    assert!(is_alive(child) && is_alive(daemon), "what has an owner is left alone");
    // The guard is killed first, as when memory runs out, so that no guard ends the command.
    let guard = rustix::process::Pid::from_raw(guard).unwrap();
    rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(is_alive(child) && is_alive(daemon));
    let reaped = reap_orphans(workspace.clock.as_ref()).await;
    assert!(reaped.found >= 2 && reaped.leaked == 0, "{reaped:?}");
    assert!(!is_alive(child) && !is_alive(daemon));
}

/// A foreign process that has the name of an owner in its environment, for example in a copied
/// environment, is not an orphan.
#[tokio::test]
async fn a_process_that_only_carries_the_name_of_a_dead_owner_is_left_alone() {
    let workspace = TestWorkspace::new();
    let world = fs::read_link("/proc/self/ns/pid").unwrap();
    let world: String = world.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let own = fs::read_to_string("/proc/self/stat").unwrap();
    let started: u64 =
        own.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap();
    // An id that no process has; as old as this process, older, and younger than the process
    // itself.
    for started in [started, 1, u64::MAX / 2] {
        let owner = format!("{}.{started}.{world}", i32::MAX - 1);
        let mut bystander = bystander(&owner);
        let pid = i32::try_from(bystander.id()).unwrap();
        let reaped = reap_orphans(workspace.clock.as_ref()).await;
        assert!(is_alive(pid), "{owner} {reaped:?}");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test needs a process that is none of ours")]
fn bystander(owner: &str) -> std::process::Child {
    std::process::Command::new("sleep")
        .arg("60")
        .env("WINDLASS_OWNER", owner)
        .env("WINDLASS_GROUP", "1234567.")
        .spawn()
        .unwrap()
}
