//! Prompts that are slash commands, files that prompts mention, and piped input.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::test_home::{CommandOutput, TestHome};

const ECHO: &str = "when user contains \"conversation:\"\n  say \"So far: talk.\"\n\
     when any\n  say \"You said: ${user}\"\n";

fn output_lines(ran: &CommandOutput) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A conversation that is long enough to be compacted.
fn home_with_long_history() -> TestHome {
    let home = TestHome::new(ECHO);
    for n in 0..9 {
        assert_eq!(home.run_prompt(&format!("number {n}"), &["--conversation", "c"]).code, 0);
    }
    home
}

// spec: CLI-02
#[test]
fn commands_are_answered_without_a_model() {
    let home = home_with_long_history();
    // No model is named, and none is needed.
    let told = |command: &str| home.run(&["-p", command, "--resume", "c"]);
    let help = home.run(&["-p", "/help"]);
    assert!(help.code == 0 && help.out.contains("/compact"), "{}", help.err);
    let cost = told("/cost");
    assert!(cost.code == 0 && cost.out.contains("tokens in 9 runs: price unknown"), "{}", cost.out);
    let context = told("/context");
    assert!(context.code == 0 && context.out.contains("The window is 0 % full"), "{}", context.err);
    assert_eq!(home.json(&["runs"]).len(), 9, "a command is no run");
}

// spec: CLI-02
#[test]
fn programs_get_the_messages_of_a_local_command() {
    let home = home_with_long_history();
    let stream = ["--output-format", "stream-json", "--verbose", "--continue"];
    let frames = output_lines(&home.run(&[&["-p", "/cost"], &stream[..]].concat()));
    let kinds: Vec<&Value> = frames.iter().map(|frame| &frame["type"]).collect();
    assert_eq!(kinds, ["system", "assistant", "result"]);
    assert_eq!(
        frames[0]["slash_commands"],
        serde_json::json!(["cancel", "clear", "compact", "context", "cost", "help"])
    );
    assert_eq!(frames[0]["model"], "scripted");
    assert_eq!(frames[1]["message"]["model"], "<synthetic>");
    let result = &frames[2];
    assert_eq!((&result["num_turns"], &result["is_error"]), (&0.into(), &false.into()));
    assert_eq!((&result["local_command"], &result["session_id"]), (&"cost".into(), &"c".into()));
    assert_eq!(frames[1]["message"]["content"][0]["text"], result["result"]);
}

// spec: CLI-02
// spec: WINDOW-20
#[test]
fn room_is_made_for_whoever_asks_with_what_they_want_kept() {
    let home = home_with_long_history();
    let ran = home.run(&["-p", "/compact the word swordfish", "--resume", "c"]);
    assert!(ran.code == 0 && ran.out.contains("before its next model call"), "{}", ran.err);
    let flags = ["--set", "kept_messages=4", "--resume", "c"];
    let ran = home.run_prompt_unattended("and now?", &flags);
    assert!(ran.code == 0 && ran.err.contains("old messages were compacted"), "{}", ran.err);
    let log = home.run(&["show", "c"]).out;
    assert!(log.contains("a compaction was requested"), "{log}");
    let store = std::fs::read(home.path("w.db")).unwrap();
    assert!(String::from_utf8_lossy(&store).contains("the word swordfish"));
    // A conversation without old messages says so.
    home.run_prompt("hi", &["--conversation", "short"]);
    let ran = home.run(&["-p", "/compact", "--resume", "short"]);
    assert!(
        ran.code == 0 && ran.out.starts_with("Nothing was done: there is nothing to compact"),
        "{}",
        ran.out
    );
}

// spec: WINDOW-20
#[test]
fn a_compaction_happens_at_once_if_a_model_is_there() {
    let script = "when user contains \"must keep\" and user contains \"swordfish\"\n  \
                  say \"The word is swordfish.\"\nwhen any\n  say \"You said: ${user}\"\n";
    let home = TestHome::new(script);
    let talk = |conversation: &str| {
        for n in 0..9 {
            let ran = home.run_prompt(&format!("number {n}"), &["--conversation", conversation]);
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
    };
    let boundaries =
        |id: &str| home.run(&["show", id]).out.matches("message parts compacted").count();
    talk("c");
    let script = ["--script", "a.script", "--set", "kept_messages=4"];
    let ran = home.run(&[&["compact", "c", "the word swordfish"], &script[..]].concat());
    assert!(
        ran.code == 0 && ran.out.starts_with("c was compacted: from about "),
        "{} {}",
        ran.out,
        ran.err
    );
    assert_eq!(boundaries("c"), 1);
    let store = std::fs::read(home.path("w.db")).unwrap();
    assert!(String::from_utf8_lossy(&store).contains("The word is swordfish."));
    // The same again: there is nothing left.
    let again = home.run(&[&["compact", "c"], &script[..]].concat());
    assert!(again.code == 0 && again.out.starts_with("Nothing was done"), "{}", again.out);
    // The conversation goes on from there.
    assert_eq!(home.run_prompt("and now?", &["--resume", "c"]).out, "You said: and now?\n");
    // As a prompt, and for programs.
    talk("d");
    let ran = home.run(&[&["-p", "/compact swordfish", "--resume", "d"], &script[..]].concat());
    assert!(ran.code == 0 && ran.out.starts_with("d was compacted"), "{} {}", ran.out, ran.err);
    talk("e");
    let told = &home.json(&[&["compact", "e"], &script[..]].concat())[0];
    let tokens = |of: &str| told[of]["tokens"].as_u64().unwrap();
    assert!(told["sent"] == true && tokens("after") < tokens("before"), "{told}");
    talk("f");
    let ran = home.run(&[&["compact", "f", "--detach"], &script[..]].concat());
    assert_eq!(ran.out, "f will be compacted before its next model call\n");
    assert_eq!(boundaries("f"), 0);
}

// spec: WINDOW-20
#[test]
fn no_tool_lets_the_model_make_room() {
    let ran = TestHome::new(ECHO)
        .run_prompt_unattended("hi", &["--output-format", "stream-json", "--verbose"]);
    let tools = output_lines(&ran)[0]["tools"].to_string().to_lowercase();
    assert!(tools.contains("read") && !tools.contains("compact"), "{tools}");
}

// spec: CLI-02
#[test]
fn what_is_no_command_is_told_or_goes_to_the_model() {
    let home = TestHome::new(ECHO);
    let ran = home.run_prompt_unattended("/frobnicate now", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("unknown command /frobnicate; available: /cancel"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    let ran = home.run_prompt_unattended("/cost", &[]);
    assert!(ran.code == 2 && ran.err.contains("add --continue or --resume ID"), "{}", ran.err);
    assert!(!home.path("w.db").exists(), "nothing is stored");
    for text in ["/usr/bin/x dies", " /compact", "/tmp is full"] {
        assert_eq!(home.run_prompt_unattended(text, &[]).out, format!("You said: {text}\n"));
    }
}

// spec: CLI-02
#[test]
fn files_and_folders_that_are_mentioned_reach_the_model_once() {
    let home = TestHome::new(
        "when user contains \"swordfish\" and user contains \"a.script\"\n  say \"both\"\n\
         when user contains \"swordfish\" and results 0\n  \
         call Edit {\"file_path\": \"a.txt\", \"old_string\": \"swordfish\", \"new_string\": \"x\"}\n\
         when error\n  say \"${result}\"\nwhen any\n  say \"${user}\"\n",
    );
    home.write("a.txt", "the word is swordfish");
    home.write(".env", "SECRET=1");
    assert_eq!(home.run_prompt_unattended("what of @a.txt, and @. there?", &[]).out, "both\n");
    // The file counts as read: an edit needs no further read.
    let edited = home.run_prompt_unattended("change @a.txt", &["--permission-mode", "acceptEdits"]);
    assert_eq!(edited.code, 0, "{}", edited.err);
    assert_eq!(std::fs::read_to_string(home.path("a.txt")).unwrap(), "the word is x");
    let ran = home.run_prompt_unattended("ask @alice or a@b.c", &[]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("ask @alice or a@b.c\n", ""));
    let ran = home.run_prompt_unattended("and @.env?", &["--disallowedTools", "Read(.env)"]);
    assert!(ran.err.contains("@.env is not attached: the rule Read(.env)"), "{}", ran.err);
    let store = std::fs::read(home.path("w.db")).unwrap();
    assert!(!String::from_utf8_lossy(&store).contains("SECRET"));
}

#[test]
fn what_comes_through_a_pipe_goes_below_the_prompt() {
    let home = TestHome::new(ECHO);
    let prompt = ["-p", "why?", "--script", "a.script"];
    let ran = home.run_with_stdin(&prompt, b"error: it broke\n");
    assert_eq!(ran.out, "You said: why?\n\nerror: it broke\n", "{}", ran.err);
    let mut child = home
        .command(&prompt)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe").unwrap();
    let ran = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!(ran.out, "You said: why?\n\nfrom a pipe\n", "{}", ran.err);
}

#[test]
fn a_pipe_that_stays_silent_holds_nobody_up() {
    let home = TestHome::new(ECHO);
    let mut child = home
        .command(&["-p", "why?", "--script", "a.script"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held_open = child.stdin.take();
    let ran = CommandOutput::from(child.wait_with_output().unwrap());
    drop(held_open);
    assert_eq!((ran.code, ran.out.as_str()), (0, "You said: why?\n"), "{}", ran.err);
    assert!(ran.err.contains("no data on standard input"), "{}", ran.err);
}

#[test]
fn flags_that_mean_nothing_are_told() {
    let home = TestHome::new(ECHO);
    let ran = home.run_prompt_unattended("hi", &["--session-id", "mine"]);
    assert!(ran.code == 2 && ran.err.contains("not a UUID"), "{}", ran.err);
    let ran = home.run_prompt_unattended("hi", &["--fork-session"]);
    assert!(ran.code == 2 && ran.err.contains("name it with --resume ID"), "{}", ran.err);
}

#[test]
fn a_conversation_that_does_not_exist_is_a_result_for_programs() {
    let home = TestHome::new(ECHO);
    let ran = home.run_prompt_unattended("hi", &["--resume", "nobody", "--output-format", "json"]);
    let result = &output_lines(&ran)[0];
    assert_eq!((ran.code, &result["subtype"]), (1, &"error_during_execution".into()));
    assert_eq!((&result["is_error"], &result["num_turns"]), (&true.into(), &0.into()));
    assert!(result["errors"][0].as_str().unwrap().contains("nobody"), "{result}");
    assert!(ran.err.contains("nobody"), "{}", ran.err);
}
