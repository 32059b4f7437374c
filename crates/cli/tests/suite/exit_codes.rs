//! Exit codes for people and scripts, and for an SDK that started the process; the result message
//! agrees with them.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::test_home::{CommandOutput, TestHome};

const SCRIPT: &str = "when user is \"one\" and results 0\n  call Bash {\"command\": \"echo 1\"}\n\
    when user is \"two\" and results 0\n  call Bash {\"command\": \"echo 1\"}\n  call Bash {\"command\": \"echo 2\"}\n\
    when user is \"refuse\"\n  say \"No\"\n  stop refusal\n\
    when user is \"break\"\n  fail 401\n\
    when user is \"ask\" and results 0\n  call Bash {\"command\": \"touch x\"}\n\
    when user is \"slow\" and results 0\n  call Bash {\"command\": \"touch began; sleep 20\"}\n\
    when user is \"cut\" and ask 1\n  say \"half\"\n  stop max_tokens\n\
    when any\n  say \"done\"\n";

const ENDLESS: &str = "when any\n  say \"x\"\n  stop max_tokens\n";

const SDK: [(&str, &str); 1] = [("CLAUDE_AGENT_SDK_VERSION", "0.2.182")];

fn new_home(prompt: &str) -> TestHome {
    TestHome::new(if prompt == "endless" { ENDLESS } else { SCRIPT })
}

fn run(home: &TestHome, prompt: &str, more: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
    let store = home.path("w.db");
    let args = ["-p", prompt, "--script", "a.script", "--store", store.to_str().unwrap()];
    home.run_with_env(&[&args[..], more].concat(), variables)
}

fn parse_result(ran: &CommandOutput) -> Value {
    let line = ran.out.lines().last().unwrap_or_default();
    let result = serde_json::from_str(line);
    assert!(result.is_ok(), "{}{}", ran.out, ran.err);
    result.unwrap()
}

#[test]
fn every_way_to_end_has_its_code_in_both_modes() {
    let block = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}"#;
    for (prompt, more, own, sdk) in [
        ("hello", &[][..], 0, 0),
        ("one", &[], 0, 0),
        ("refuse", &[], 0, 1),
        ("break", &[], 1, 1),
        ("endless", &[], 1, 1),
        ("hello", &["--settings", block], 1, 0),
        ("ask", &["--when-asked", "park"], 3, 1),
        ("ask", &[], 0, 0),
        ("hello", &["--max-turns", "-1"], 2, 1),
        ("hello", &["--model", "nobody:knows"], 2, 1),
    ] {
        for (variables, code) in [(&[][..], own), (&SDK[..], sdk)] {
            let ran = run(&new_home(prompt), prompt, more, variables);
            assert_eq!(ran.code, code, "{prompt} {more:?} {variables:?}: {}", ran.err);
            if own == 2 {
                continue;
            }
            let ran = run(&new_home(prompt), prompt, &[more, &["--json"]].concat(), variables);
            let is_error = parse_result(&ran)["is_error"].as_bool().unwrap();
            assert_eq!((ran.code, is_error), (code, code != 0), "{prompt} {more:?}: {}", ran.out);
        }
    }
}

#[test]
fn an_sdk_reads_failures_of_the_api_as_results() {
    for (prompt, says) in [("refuse", "can't help"), ("break", "401"), ("endless", "4 replies cut")]
    {
        let ran = run(&new_home(prompt), prompt, &["--json"], &SDK);
        let result = parse_result(&ran);
        assert_eq!((&result["subtype"], &result["is_error"]), (&"success".into(), &true.into()));
        assert!(result["result"].as_str().unwrap().contains(says), "{prompt}: {result}");
    }
}

/// Interrupts a run with these signals.
#[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
fn run_interrupted(
    signals: &[rustix::process::Signal],
    variables: &[(&str, &str)],
) -> CommandOutput {
    let home = TestHome::new(SCRIPT);
    let store = home.path("w.db");
    let mut command = home.command(&[
        "-p",
        "slow",
        "--script",
        "a.script",
        "--allowedTools",
        "Bash",
        "--json",
        "--store",
        store.to_str().unwrap(),
    ]);
    command.envs(variables.iter().copied());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    while !home.path("began").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    for signal in signals {
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), *signal).unwrap();
        std::thread::sleep(Duration::from_millis(200));
    }
    CommandOutput::from(child.wait_with_output().unwrap())
}

#[test]
fn signals_have_their_codes_in_both_modes() {
    use rustix::process::Signal;
    for (signals, own, sdk) in
        [(&[Signal::INT, Signal::INT][..], 130, 0), (&[Signal::TERM], 143, 143)]
    {
        for (variables, code) in [(&[][..], own), (&SDK[..], sdk)] {
            let ran = run_interrupted(signals, variables);
            assert_eq!(ran.code, code, "{variables:?}: {}{}", ran.out, ran.err);
            assert_eq!(parse_result(&ran)["type"], "result");
        }
    }
}

#[test]
fn turns_are_counted_as_sdks_count_them() {
    let block = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}"#;
    let stream = ["--output-format", "stream-json", "--verbose"];
    for (prompt, more, turns) in [
        ("hello", &[][..], 1),
        ("one", &[], 2),
        ("two", &[], 3),
        ("ask", &[], 2),
        ("cut", &[], 2),
        ("hello", &["--settings", block], 0),
        ("/help", &[], 0),
    ] {
        for format in [&["--json"][..], &stream] {
            let home = TestHome::new(SCRIPT);
            let ran = run(&home, prompt, &[more, format].concat(), &[]);
            assert_eq!(parse_result(&ran)["num_turns"], turns, "{prompt} {format:?}: {}", ran.out);
        }
    }
    let ran = run_interrupted(&[rustix::process::Signal::INT; 2], &[]);
    assert!(parse_result(&ran)["num_turns"].as_u64().unwrap() >= 2, "{}", ran.out);
}
