//! How commands end: invalid input, output that cannot be written, parked runs, and signals.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::TerminalSession;
use crate::test_home::{CommandOutput, TestHome};

const WORK: &str = "when user is \"first\" and results 0\n  \
    call Bash {\"command\": \"touch begun; sleep 4; touch done\"}\n\
    when user is \"write\" and results 0\n  call Write {\"file_path\": \"new.txt\", \"content\": \"x\"}\n\
    when any\n  say \"R ${user}\"\n";

/// Starts a prompt in a background process.
fn begin(home: &TestHome, args: &[&str]) -> std::process::Child {
    let store = home.path("w.db");
    let mut command = home.command(args);
    command.args(["--script", "a.script", "--allowedTools", "Bash", "--store"]).arg(store);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &std::process::Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn not_understood(ran: &CommandOutput, says: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{says}: {}", ran.err);
    assert!(ran.err.contains(says), "{says:?} is missing in {}", ran.err);
}

#[test]
fn what_was_not_understood_ends_with_2_and_nothing_is_stored() {
    let home = TestHome::new(WORK);
    let said: &[(&[&str], &str)] = &[
        (&["--max-turns", "0"], "give a whole number above 0"),
        (&["--max-budget-tokens", "0"], "give a number of tokens above 0"),
        (&["--max-call-budget-usd", "0"], "give a number of dollars above 0"),
        (&["--temperature", "5"], "between 0 and 2"),
        (&["--max-tokens", "0"], "--max-tokens"),
        (&["--conversation", ""], "--conversation is empty"),
        (&["--workspace", "nowhere"], "--workspace"),
        (&["--settings", "{"], "not valid JSON"),
        (&["--settings", "{\"permissionss\": 1}"], "did you mean `permissions`"),
        (&["--log", "verbose"], "not a log level"),
    ];
    for (flags, says) in said {
        not_understood(&home.run_prompt_unattended("hi", flags), says);
    }
    not_understood(&home.run(&["-p", ""]), "usage: `windlass -p \"PROMPT\"`");
    not_understood(&home.run(&["-p", "/cost"]), "add --continue or --resume ID");
    not_understood(&home.run(&["-p", "hi", "--script", "nowhere"]), "cannot read the script");
    not_understood(&home.run(&["-p", "hi", "--model", "nowhere"]), "unknown provider for model");
    not_understood(&home.run_bare(&["man", "nothing"]), "unknown command");
    home.write("home", "");
    std::fs::remove_file(home.path("home")).unwrap();
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "modell = 1\n");
    not_understood(&home.run_prompt_unattended("hi", &[]), "config.toml is not valid");
    not_understood(&home.run_bare(&["models"]), "config.toml is not valid");
    assert!(!home.path("w.db").exists());
}

#[test]
fn output_that_is_lost_is_told_and_ends_with_1() {
    let home = TestHome::new(WORK);
    home.run_prompt_unattended("hi", &["--conversation", "c"]);
    let store = home.path("w.db");
    let store = ["--store", store.to_str().unwrap()];
    for args in [
        &["--help"][..],
        &["models"],
        &["man"],
        &["completions", "bash"],
        &[&["runs"], &store[..]].concat(),
        &[&["show", "c"], &store[..]].concat(),
        &[&["explain", "c"], &store[..]].concat(),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = CommandOutput::from(home.command(args).stdout(full).output().unwrap());
        assert_eq!(ran.code, 1, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("cannot write the output"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn sigterm_ends_with_143_and_the_run_can_be_resumed() {
    let home = TestHome::new(WORK);
    let child = begin(&home, &["-p", "first"]);
    home.wait_for_file("begun");
    signal(&child, Signal::TERM);
    let ran = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (143, ""), "{}", ran.err);
    assert!(ran.err.contains("interrupted; continue with `windlass resume "), "{}", ran.err);
}

#[test]
fn ctrl_d_leaves_the_question_open_and_says_how_to_answer_it() {
    let home = TestHome::new(WORK);
    let mut seat = TerminalSession::start(&home, &["-p", "write", "--conversation", "c"]);
    seat.wait_for_text("[y] allow once");
    seat.type_in("?\n");
    seat.wait_for_text("do not run it; text after n is sent to the model");
    seat.wait_for_text("run this call once");
    seat.type_in("\u{4}");
    let (status, output) = seat.end();
    assert_eq!(status.code(), Some(3), "{output}");
    assert!(output.contains("windlass answer c 1 ANSWER`: allow or deny"), "{output}");
    assert!(!home.path("new.txt").exists());
    assert_eq!(home.run(&["approve", "c", "--script", "a.script"]).code, 0);
    assert!(home.path("new.txt").exists());
}

#[test]
fn the_slash_command_cancel_ends_the_active_run() {
    let home = TestHome::new(WORK);
    let child = begin(&home, &["-p", "first", "--conversation", "c"]);
    home.wait_for_file("begun");
    let ran = home.run(&["-p", "/cancel", "--conversation", "c"]);
    assert!(ran.code == 0 && ran.out.contains("requested cancellation"), "{}{}", ran.out, ran.err);
    let ended = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 1, "{}", ended.err);
    assert!(ended.err.contains("stopped (user_cancel)"), "{}", ended.err);
}

#[test]
fn ctrl_c_of_a_prompt_that_waits_ends_it_alone_and_prints_no_answer_of_another() {
    let home = TestHome::new(WORK);
    let first = begin(&home, &["-p", "first", "--conversation", "c"]);
    home.wait_for_file("begun");
    let second = begin(&home, &["-p", "second", "--conversation", "c"]);
    home.wait_until("the second prompt", || home.json(&["runs"]).len() == 2);
    signal(&second, Signal::INT);
    let second = CommandOutput::from(second.wait_with_output().unwrap());
    assert_eq!((second.code, second.out.as_str()), (130, ""), "{}", second.err);
    assert!(!home.path("done").exists(), "it left at once");
    assert!(second.err.contains("another run is active"), "{}", second.err);
    let first = CommandOutput::from(first.wait_with_output().unwrap());
    assert_eq!((first.code, first.out.as_str()), (0, "R first\n"), "{}", first.err);
}

#[test]
fn ctrl_c_while_the_prompt_of_another_runs_leaves_it_to_that_one() {
    let home = TestHome::new(&WORK.replace("\"first\"", "\"second\""));
    let slow = "when user is \"one\"\n  delay 2s\n  say \"R one\"\n";
    home.write("a.script", &format!("{slow}{}", WORK.replace("\"first\"", "\"second\"")));
    let one = begin(&home, &["-p", "one", "--conversation", "c"]);
    home.wait_until("the prompt", || !home.json(&["runs"]).is_empty());
    let second = begin(&home, &["-p", "second", "--conversation", "c"]);
    home.wait_for_file("begun");
    signal(&one, Signal::INT);
    let one = CommandOutput::from(one.wait_with_output().unwrap());
    assert_eq!((one.code, one.out.as_str()), (0, "R one\n"), "{}", one.err);
    let second = CommandOutput::from(second.wait_with_output().unwrap());
    assert!(!second.err.contains("user_cancel"), "it was not cancelled: {}", second.err);
}

#[test]
fn the_slash_command_cancel_after_clear_has_nothing_to_cancel() {
    let home = TestHome::new("when any\n  say \"hello\"\n");
    home.run_prompt("hi", &[]);
    home.run_prompt("/clear", &["--continue"]);
    for _ in 0..2 {
        let ran = home.run_prompt("/cancel", &["--continue"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("there is nothing to cancel"), "{}", ran.out);
    }
    for (command, sentence) in [
        ("/context", "the conversation is empty, and so is its context"),
        ("/compact", "there is nothing to compact"),
    ] {
        let ran = home.run_prompt(command, &["--continue"]);
        assert!(ran.err.contains(sentence), "{command}: {}", ran.err);
    }
}
