//! Which run is meant if none is named, or only a part of its id.

use std::process::Stdio;

use crate::test_home::{CommandOutput, TestHome};

const HELLO: &str = "when any\n  say \"said ${user}\"\n";

/// Runs the binary in a folder of the test home, with its store.
fn run_in_folder(home: &TestHome, folder: &str, args: &[&str]) -> CommandOutput {
    let store = home.path("w.db");
    let all = [args, &["--store", store.to_str().unwrap()]].concat();
    let mut command = home.command(&all);
    command.current_dir(home.path(folder)).stdin(Stdio::null());
    CommandOutput::from(command.output().unwrap())
}

fn home_with_folders(script: &str, names: &[&str]) -> TestHome {
    let home = TestHome::new(script);
    for name in names {
        std::fs::create_dir(home.path(name)).unwrap();
    }
    home
}

#[test]
fn without_an_id_the_newest_run_of_the_folder_is_meant() {
    let home = home_with_folders(HELLO, &["a", "b", "empty"]);
    let script = home.path("a.script");
    let go = |folder: &str, prompt: &str| {
        let script = script.to_str().unwrap();
        assert_eq!(run_in_folder(&home, folder, &["-p", prompt, "--script", script]).code, 0);
    };
    go("a", "first");
    go("a", "second");
    go("b", "elsewhere");
    for command in ["show", "explain", "trace", "replay", "resume", "cancel", "fork", "compact"] {
        let script: &[&str] = match command {
            "resume" => &["--script", script.to_str().unwrap()],
            _ => &[],
        };
        let ran = run_in_folder(&home, "a", &[&[command], script].concat());
        // The newest run has ended: it is found, and there is nothing to resume.
        let found = ran.code == 0 || ran.err.contains("there is nothing to resume");
        assert!(found, "{command}: {}", ran.err);
    }
    let output = run_in_folder(&home, "a", &["show"]).out;
    assert!(output.contains("said second") && !output.contains("first"), "{output}");
    assert!(run_in_folder(&home, "b", &["show"]).out.contains("said elsewhere"));
    for command in ["show", "explain", "trace", "replay", "resume", "cancel", "fork", "approve"] {
        let ran = run_in_folder(&home, "empty", &[command]);
        assert_eq!(ran.code, 1, "{command}: {}", ran.out);
        assert!(ran.err.contains("no run in ") && ran.err.contains("empty yet"), "{}", ran.err);
    }
}

#[test]
fn the_newest_run_is_that_of_a_person_and_not_of_a_sub_agent() {
    let script = "when user is \"part\"\n  say \"part done\"\n\
                  when results 0\n  call Agent {\"description\": \"x\", \"prompt\": \"part\"}\n\
                  when any\n  say \"whole done\"\n";
    let home = TestHome::new(script);
    assert_eq!(home.run_prompt("whole", &[]).code, 0);
    let output = home.run(&["show"]).out;
    assert!(output.contains("whole done"), "{output}");
    // The same applies to the conversation that is continued.
    let ran = home.run_prompt("again", &["--continue"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let runs = home.json(&["runs", "again"]);
    assert_eq!(runs.len(), 1);
    assert!(!runs[0]["conversation"].as_str().unwrap().contains('/'), "{runs:?}");
    // A prefix that matches the conversation matches those of its sub-agents too.
    let lane = runs[0]["conversation"].as_str().unwrap().replace("conversation:", "");
    let ran = home.run(&["show", &lane[..30]]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn an_end_of_an_id_is_enough_and_several_are_named() {
    let home = TestHome::new(HELLO);
    home.run_prompt("one", &["--conversation", "night-alpha"]);
    home.run_prompt("two", &["--conversation", "night-beta"]);
    let run = home.json(&["runs", "one"])[0]["run"].as_str().unwrap().to_owned();
    let end = &run[run.len() - 8..];
    assert!(home.run(&["runs"]).out.contains(end), "the list shows what can be typed");
    assert!(home.run(&["explain", end]).out.contains(&run));
    assert!(home.run(&["show", "alpha"]).out.contains("said one"));
    let ran = home.run(&["show", "night"]);
    assert_eq!(ran.code, 1);
    let output =
        "`night` is ambiguous: it matches night-alpha and night-beta; give more characters";
    assert!(ran.err.contains(output), "{}", ran.err);
    let ran = home.run(&["show", "conversation:zzz"]);
    assert!(ran.err.contains("no run or conversation has the id"), "{}", ran.err);
}

#[test]
fn a_conversation_that_was_just_cleared_has_nothing_to_tell() {
    let home = TestHome::new(HELLO);
    home.run_prompt("one", &[]);
    assert_eq!(home.run_prompt("/clear", &["--continue"]).code, 0);
    for prompt in ["/context", "/compact"] {
        let ran = home.run_prompt(prompt, &["--continue"]);
        assert!(ran.err.contains("the conversation is empty"), "{}", ran.err);
    }
    let ran = home.run_prompt("/cost", &["--continue"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("0 tokens in 0 runs"), "{}", ran.out);
}

#[test]
fn resuming_in_another_folder_says_which() {
    let script =
        "when results 0\n  call Bash {\"command\": \"touch x\"}\nwhen any\n  say \"done\"\n";
    let home = home_with_folders(script, &["here", "there"]);
    let path = home.path("a.script");
    let parked = ["--script", path.to_str().unwrap(), "--when-asked", "park"];
    let go = [&["-p", "go", "--conversation", "c"], &parked[..]].concat();
    run_in_folder(&home, "here", &go);
    let ran = run_in_folder(&home, "there", &[&["resume", "c"], &parked[..]].concat());
    let (here, there) = (home.path("here"), home.path("there"));
    let (here, there) = (here.canonicalize().unwrap(), there.canonicalize().unwrap());
    let output = format!("folder changed from {} to {}", here.display(), there.display());
    assert!(ran.err.contains(&output), "{}", ran.err);
}
