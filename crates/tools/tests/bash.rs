//! The results of commands.

use std::sync::Arc;

use tokio::task::JoinSet;
use windlass_core::call::call_facts::{Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_runtime::ports::Tool;
use windlass_tools::limits::MAX_COMMAND_BYTES;

use crate::fixture::{TestWorkspace, call_context, failure_of, input, json, success_text};

#[tokio::test]
async fn a_command_says_what_it_prints_in_the_order_it_prints_it() {
    let workspace = TestWorkspace::new();
    let output = success_text(workspace.command("echo one; echo two >&2; printf three").await);
    assert_eq!(output, "one\ntwo\nthree");
    assert_eq!(success_text(workspace.command("true").await), "(no output)");
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_with_nothing_to_read() {
    let workspace = TestWorkspace::new();
    workspace.write("here", "");
    assert_eq!(success_text(workspace.command("ls; cat; export X=1").await), "here\n");
    assert_eq!(success_text(workspace.command("ls; echo \"[$X]\"").await), "here\n[]\n");
}

#[tokio::test]
async fn a_command_that_fails_says_how_and_what_it_printed() {
    let workspace = TestWorkspace::new();
    let error = failure_of(workspace.command("echo out; echo err >&2; exit 3").await);
    assert_eq!(&*error.code, "exit_status");
    assert_eq!(&*error.message, "the command ended with exit code 3");
    assert_eq!(error.output.as_deref(), Some("out\nerr\n"));
    assert!(error.recoverable && !error.transient);
    let error = failure_of(workspace.command("kill -9 $$").await);
    assert_eq!(&*error.message, "the command was killed by signal 9");
    assert_eq!(error.output.as_deref(), Some("(no output)"));
    let error = failure_of(workspace.command("no-such-program").await);
    assert!(error.message.ends_with(" exit code 127"), "{}", error.message);
}

#[tokio::test]
async fn a_long_failure_keeps_its_end() {
    let workspace = TestWorkspace::new();
    let error = failure_of(workspace.command("seq 1000000; echo the end; exit 1").await);
    let output = error.output.unwrap();
    assert!(output.starts_with("1\n2\n"));
    assert!(output.contains("the end\n[full output (") && output.len() < 40_000);
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_told() {
    let workspace = TestWorkspace::new();
    let bash = workspace.bash();
    std::fs::remove_dir(workspace.path()).unwrap();
    let error = failure_of(bash.run(call_context(), input("true", 1_000)).await);
    assert_eq!(&*error.code, "not_started");
    assert!(error.message.contains(workspace.path().to_str().unwrap()), "{}", error.message);
}

#[tokio::test]
async fn an_input_that_does_not_fit_does_not_run() {
    let workspace = TestWorkspace::new();
    let long = format!(r#"{{"command": "{}"}}"#, "x".repeat(MAX_COMMAND_BYTES + 1));
    let inputs = [
        "[]",
        "\"touch ran\"",
        "null",
        "{}",
        r#"{"command": ""}"#,
        r#"{"command": " \n"}"#,
        r#"{"command": 7}"#,
        r#"{"command": "touch ran", "cwd": "/"}"#,
        r#"{"command": "true", "command": "touch ran"}"#,
        r#"{"command": "true", "\u0063ommand": "touch ran"}"#,
        r#"{"command": "touch ran", "timeout": 0}"#,
        r#"{"command": "touch ran", "timeout": 600001}"#,
        r#"{"command": "touch ran", "timeout": -1}"#,
        r#"{"command": "touch ran", "timeout": 1e999}"#,
        r#"{"command": "touch ran\u0000"}"#,
        r#"{"command": "touch ran \ud800"}"#,
        &long,
    ];
    for text in inputs {
        let problem = workspace.bash().assess(&json(text)).problem.unwrap();
        assert_eq!((&*problem.code, problem.recoverable), ("invalid_input", true), "{text}");
        let error = failure_of(workspace.bash().run(call_context(), json(text)).await);
        assert_eq!(error, problem, "{text}");
    }
    assert!(!workspace.path().join("ran").exists());
}

#[tokio::test]
async fn a_command_is_exclusive_and_runs_once() {
    let bash = TestWorkspace::new().bash();
    let facts = bash.assess(&json(r#"{"command": "ls\u001b[2J\nrm x", "description": "look"}"#));
    assert_eq!(facts.touches, TouchedResources::Exclusive);
    assert_eq!(
        (facts.repeat, facts.interrupt),
        (Repeatability::OnceOnly, Interruptibility::Interruptible)
    );
    assert_eq!(facts.problem, None);
    assert_eq!(facts.summary.as_deref(), Some("ls\\u{1b}[2J\\nrm x  # look"));
    // The tool's own timeout must elapse first, because it ends the command before it returns.
    assert!(facts.timeout_ms > 120_000);
    assert_eq!(bash.spec().input_schema.read::<serde_json::Value>().unwrap()["type"], "object");
}

/// Where tools are installed on the machine of the test.
const INSTALLATIONS: [&str; 7] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "PYENV_ROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "LOGNAME",
];

#[tokio::test]
async fn the_environment_is_an_allowlist_with_the_calls_key() {
    let workspace = TestWorkspace::new();
    let output = success_text(workspace.command("env").await);
    let names: Vec<&str> = output.lines().filter_map(|line| line.split('=').next()).collect();
    let shells_own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let ours = ["PATH", "HOME", "LANG", "USER", "TMPDIR", "TERM"];
    let known = |name: &&str| {
        shells_own.contains(name)
            || ours.contains(name)
            || name.starts_with("WINDLASS_")
            || name.starts_with("GIT_CONFIG_")
            || INSTALLATIONS.contains(name)
            || name.starts_with("LC_")
    };
    assert!(names.iter().all(known), "{names:?}");
    assert!(output.contains("WINDLASS_CALL=run-1:toolu_1\n") && output.contains("TERM=dumb\n"));
}

#[tokio::test]
async fn commands_side_by_side_do_not_meet() {
    let workspace = TestWorkspace::new();
    let bash = Arc::new(workspace.bash());
    let mut calls = JoinSet::new();
    for n in 1..=8 {
        let bash = Arc::clone(&bash);
        let command = input(&format!("sleep 0.{n}; echo {n}; exit {n}"), 60_000);
        calls.spawn(async move { (n, bash.run(call_context(), command).await) });
    }
    for (n, outcome) in calls.join_all().await {
        let output = failure_of(outcome).message_and_output();
        assert_eq!(output, format!("the command ended with exit code {n}\n{n}\n"));
    }
}

/// A stack trace is output like any other; the message stays a sentence.
#[tokio::test]
async fn a_trace_that_a_command_prints_is_no_message() {
    let workspace = TestWorkspace::new();
    let trace = "Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: no\n";
    workspace.write("trace", trace);
    let error = failure_of(workspace.command("cat trace; exit 1").await);
    assert_eq!(&*error.message, "the command ended with exit code 1");
    assert_eq!(error.output.as_deref(), Some(trace));
}
