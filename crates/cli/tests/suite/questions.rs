//! Questions to people: all of what would run, choices, and the meaning of answers.

use serde_json::Value;

use crate::terminal::TerminalSession;
use crate::test_home::TestHome;

/// A call whose command is given as JSON.
fn bash_script(command: &str) -> TestHome {
    TestHome::new(&format!(
        "when results 0\n  call Bash {{\"description\": \"looks around\", \"command\": {command}}}\n\
         when any\n  say \"Done.\"\n"
    ))
}

#[test]
fn what_is_approved_is_shown_whole_decoded_and_with_its_blanks() {
    let long = "harmless ".repeat(120);
    let home = bash_script(&format!("\"echo {long}; \\u0074ouch 'my  file'   other\""));
    let whole = format!("    echo {long}; touch 'my  file'   other");
    let ran = home.run_prompt("go", &["--conversation", "c"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines[0], "windlass: question 1: Allow Bash to run this command?");
    assert_eq!(lines[1], whole);
    assert_eq!(lines[2], "  description: looks around");
    let output = home.run(&["show", "c"]).out;
    assert!(output.contains("touch 'my  file'   other"), "{output}");
    let explained = &home.json(&["explain", "c"])[0]["explanation"];
    let asked = &explained["questions"][0];
    assert!(asked["input"]["command"].as_str().unwrap().ends_with("'my  file'   other"));
    assert!(explained["sections"].to_string().contains("touch 'my  file'   other"), "{explained}");
    let ran = home.run(&["approve", "c", "--script", "a.script"]);
    assert!(ran.err.contains(&whole), "{}", ran.err);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert!(home.path("my  file").exists());
}

#[test]
fn a_parked_question_has_tool_input_and_choices_in_json() {
    let home = bash_script("\"touch made\\u200b\"");
    let ran = home.run_prompt("go", &["--json", "--conversation", "c"]);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let question = &result["questions"][0];
    assert_eq!((&question["id"], &question["tool"]), (&1.into(), &"Bash".into()), "{result}");
    assert_eq!(question["input"]["command"], "touch made\u{200b}");
    assert_eq!(question["choices"], serde_json::json!(["allow", "deny"]));
    assert_eq!(question["text"], "Allow Bash to run this command?");
    // For people it is escaped.
    assert!(result["errors"][0].as_str().unwrap().contains("touch made\\u200b"), "{result}");
    let ran = home.run(&["answer", "c", "1", "allow", "--script", "a.script"]);
    assert!(ran.code == 0 && ran.err.contains("    touch made\\u200b"), "{}", ran.err);
}

#[test]
fn a_change_of_a_file_is_shown_as_a_diff_before_it_is_made() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"a.py\"}\nwhen result of Read\n  \
         call Edit {\"file_path\": \"a.py\", \"old_string\": \"    return a - b\", \
         \"new_string\": \"    return a + b\"}\nwhen any\n  say \"Done.\"\n",
    );
    home.write("a.py", "def f(a, b):\n    return a - b\n");
    let mut seat = TerminalSession::start(&home, &["-p", "go"]);
    seat.wait_for_text("[n] deny");
    assert!(seat.screen_text().contains("Allow Edit of a.py?"), "{}", seat.screen_text());
    assert!(seat.screen_text().contains("   2 -    return a - b"), "{}", seat.screen_text());
    assert!(seat.screen_text().contains("   2 +    return a + b"), "{}", seat.screen_text());
    seat.type_in("y\n");
    let (status, output) = seat.end();
    assert!(status.success(), "{output}");
    assert!(std::fs::read_to_string(home.path("a.py")).unwrap().contains("a + b"));
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let home = TestHome::new(
        "when results 0\n  delay 1s\n  call Bash {\"command\": \"touch made\"}\n\
         when any\n  say \"Done.\"\n",
    );
    let mut seat = TerminalSession::start(&home, &["-p", "go", "--conversation", "c"]);
    seat.wait_for_text("0 s");
    seat.type_in("y\ny\n");
    seat.wait_for_text("[n] deny");
    seat.type_in("n not yet\n");
    let (status, output) = seat.end();
    assert!(status.success(), "{output}");
    assert!(!home.path("made").exists(), "{output}");
    assert!(output.contains("denied, not yet"), "{output}");
}

/// After `fg` the question is shown again.
#[test]
fn the_prompt_is_shown_again_when_the_process_goes_on() {
    let home = bash_script("\"touch made\"");
    let mut seat = TerminalSession::start(&home, &["-p", "go"]);
    seat.wait_for_text("[n] deny");
    seat.signal(rustix::process::Signal::STOP);
    seat.signal(rustix::process::Signal::CONT);
    seat.wait_until("the prompt again", |seat| seat.screen_text().matches("[n] deny").count() == 2);
    seat.type_in("y\n");
    let (status, output) = seat.end();
    assert!(status.success() && home.path("made").exists(), "{output}");
}

#[test]
fn a_long_call_is_shown_in_pages() {
    let lines: String = (1..=60).map(|n| format!("echo line{n}\\n")).collect();
    let home = bash_script(&format!("\"{lines}touch made\""));
    let mut seat = TerminalSession::start(&home, &["-p", "go"]);
    seat.wait_for_text("of 62 lines; Enter for more");
    assert!(!seat.screen_text().contains("line60"), "{}", seat.screen_text());
    seat.type_in("a\n");
    seat.wait_for_text("[n] deny");
    assert!(seat.screen_text().contains("    touch made"), "{}", seat.screen_text());
    seat.type_in("what?\n");
    seat.wait_for_text("Please answer y");
    seat.type_in("y\n");
    let (status, output) = seat.end();
    assert!(status.success() && home.path("made").exists(), "{output}");
}

const CHOICES: &str = "when results 0\n  call AskUserQuestion {\"questions\": [\
    {\"question\": \"Which color?\", \"header\": \"Color\", \"options\": [\
    {\"label\": \"Red\", \"description\": \"like a rose\"}, {\"label\": \"Blue\"}]}, \
    {\"question\": \"Which sizes?\", \"multiSelect\": true, \"options\": [\
    {\"label\": \"S\"}, {\"label\": \"M\"}, {\"label\": \"L\"}]}]}\n\
    when any\n  say \"You chose: ${result}\"\n";

#[test]
fn a_question_of_the_model_offers_its_choices() {
    let home = TestHome::new(CHOICES);
    let mut seat = TerminalSession::start(&home, &["-p", "go"]);
    seat.wait_for_text("or type your own answer:");
    for expected in ["Color: Which color?", "  1. Red - like a rose", "  2. Blue"] {
        assert!(seat.screen_text().contains(expected), "{expected}: {}", seat.screen_text());
    }
    seat.type_in("1,2\n");
    seat.wait_for_text("Please choose from the list");
    seat.type_in("2\n");
    seat.wait_for_text("Choose numbers separated by commas");
    seat.type_in("1, 3\n");
    let (status, output) = seat.end();
    assert!(status.success(), "{output}");
    let said = output.split("You chose:").last().unwrap();
    assert!(said.contains("Blue") && said.contains("S, L"), "{output}");

    // A parked question is answered with the same numbers.
    let ran = home.run_prompt("go", &["--conversation", "c"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("  1. Red - like a rose"), "{}", ran.err);
    let ran = home.run(&["answer", "c", "1", "text", "7; 1", "--script", "a.script"]);
    assert!(ran.code == 1 && ran.err.contains("choose from"), "{}", ran.err);
    let ran = home.run(&["answer", "c", "1", "text", "1; 2", "--script", "a.script"]);
    assert!(ran.out.contains("Red") && ran.out.contains("M"), "{} {}", ran.out, ran.err);
}

#[test]
fn tasks_are_a_list_and_calls_that_never_ran_have_a_line() {
    let home = TestHome::new(
        "when results 0\n  call TodoWrite {\"todos\": [\
         {\"content\": \"read the code\", \"status\": \"completed\"}, \
         {\"content\": \"fix it\", \"status\": \"in_progress\", \"activeForm\": \"fixing it\"}, \
         {\"content\": \"test it\", \"status\": \"pending\"}]}\n  \
         call Hammer {\"nail\": 1}\n  call Read {\"path\": 3}\nwhen any\n  say \"Done.\"\n",
    );
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.err.contains("✓ TodoWrite 1 of 3 tasks done"), "{}", ran.err);
    for task in ["    ☒ read the code", "    ▸ fixing it", "    ☐ test it"] {
        assert!(ran.err.contains(task), "{task}: {}", ran.err);
    }
    assert!(ran.err.contains("✗ Hammer"), "{}", ran.err);
    assert!(ran.err.contains("✗ Read"), "{}", ran.err);
}

#[test]
fn the_running_command_is_shown() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"sleep 1.5\"}\nwhen any\n  say \"Done.\"\n",
    );
    let mut seat = TerminalSession::start(&home, &["-p", "go", "--allowedTools", "Bash"]);
    seat.wait_for_text("tokens · Bash sleep 1.5");
    let (status, output) = seat.end();
    assert!(status.success(), "{output}");
}

/// Ids and output of tools come from outside: none of it may reach the terminal as a control
/// sequence.
#[test]
fn no_control_sequence_reaches_the_terminal() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"a\\u001b]0;x\\u0007.txt\"}\n\
         when any\n  say \"\\u001b[2Jdone\\u009b2J\"\n",
    );
    let hostile = "c\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}2J\u{202e}";
    assert_eq!(home.run_prompt("go\u{1b}[2J", &["--conversation", hostile]).code, 0);
    for args in [
        &["runs"][..],
        &["show", hostile],
        &["explain", hostile],
        &["logs", hostile],
        &["trace", hostile],
        &["replay", hostile],
        &["stats"],
        &["show", "\u{1b}[2Jno"],
    ] {
        let ran = home.run(args);
        for text in [&ran.out, &ran.err] {
            let bad =
                text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}');
            assert_eq!(bad, None, "{args:?}: {text:?}");
        }
    }
    for args in
        [&["runs", "--json"][..], &["show", hostile, "--json"], &["logs", hostile, "--json"]]
    {
        let ran = home.run(args);
        assert!(
            ran.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()),
            "{args:?}"
        );
        assert!(!ran.out.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{args:?}: {:?}", ran.out);
    }
}

/// Every way a command can end has its code.
#[test]
fn exit_codes_tell_how_it_ended() {
    let home = TestHome::new(
        "when user is \"bad\"\n  fail 400 \"no\"\nwhen user is \"refuse\"\n  stop refusal\n\
         when user is \"ask\" and results 0\n  call Bash {\"command\": \"touch x\"}\n\
         when any\n  say \"ok\"\n",
    );
    let code = |prompt: &str, more: &[&str]| home.run_prompt(prompt, more).code;
    assert_eq!([code("fine", &[]), code("refuse", &[])], [0, 0]);
    assert_eq!(code("bad", &[]), 1);
    assert_eq!(code("ask", &["--conversation", "c"]), 3);
    assert_eq!(home.run(&["resume", "c", "--script", "a.script", "--when-asked", "park"]).code, 3);
    for wrong in [
        &["--permission-mode", "foo"][..],
        &["--profile", "nope"],
        &["--set", "foo=1"],
        &["--session-id", "abc"],
        &["--tools", "Nope"],
        &["--output-format", "yaml"],
    ] {
        assert_eq!(code("fine", wrong), 2, "{wrong:?}");
    }
    assert_eq!(home.run_bare(&["rnus"]).code, 2);
    // An SDK knows two codes.
    let store = home.path("w.db");
    let args = ["-p", "ask", "--script", "a.script", "--when-asked", "park", "--store"];
    let args = [&args[..], &[store.to_str().unwrap()]].concat();
    assert_eq!(home.run_with_env(&args, &[("CLAUDE_AGENT_SDK_VERSION", "1.0")]).code, 1);
}

/// Runs `./x.sh`, changes to `src`, and runs `./x.sh` there: another program.
fn two_programs_of_one_name() -> TestHome {
    let home = TestHome::new(
        "when ask 1\n  call Bash {\"command\": \"./x.sh\"}\n\
         when ask 2\n  call Bash {\"command\": \"cd src\"}\n\
         when ask 3\n  call Bash {\"command\": \"./x.sh\"}\n\
         when any\n  say \"Done.\"\n",
    );
    std::fs::create_dir(home.path("src")).unwrap();
    for (script, made) in [("x.sh", "made"), ("src/x.sh", "other")] {
        home.write(script, &format!("#!/bin/sh\ntouch {made}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(home.path(script), mode).unwrap();
    }
    home
}

// spec: PERMISSIONS-23
#[test]
fn a_question_says_which_folder_a_command_starts_in() {
    let home = two_programs_of_one_name();
    let allow = ["--conversation", "c", "--allow", "Bash(./x.sh)", "--allow", "Bash(cd:*)"];
    let ran = home.run_prompt("go", &allow);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let asked = "Allow Bash to run this command?\n    ./x.sh\n  folder: src\n";
    assert!(ran.err.contains(asked), "{}", ran.err);
    assert!(home.path("made").exists() && !home.path("src/other").exists());
    let output = home.run(&["show", "c"]).out;
    assert!(output.contains("folder: src"), "{output}");
    let explained = &home.json(&["explain", "c"])[0]["explanation"];
    assert_eq!(explained["questions"][0]["folder"], "src", "{explained}");
    assert!(explained["sections"].to_string().contains("folder: src"), "{explained}");
    let ran = home.run(&["approve", "c", "--rule", "--script", "a.script"]);
    assert!(ran.err.contains("  folder: src"), "{}", ran.err);
    let kept = "the rule Bash(./src/x.sh) is allowed in this conversation for the folder src";
    assert!(ran.err.contains(kept), "{}", ran.err);
    assert!(ran.code == 0 && home.path("src/other").exists(), "{}", ran.err);
}

/// A rule that a person gave for a command applies in the folder they saw it run in.
// spec: PERMISSIONS-23
#[test]
fn a_rule_given_in_one_folder_does_not_hold_in_another() {
    for (command, in_root) in [("./x.sh", "Bash(./x.sh)"), ("touch other", "Bash(touch other)")] {
        let home = two_programs_of_one_name();
        let script = std::fs::read_to_string(home.path("a.script")).unwrap();
        home.write("a.script", &script.replace("./x.sh", command));
        let mut seat = TerminalSession::start(&home, &["-p", "go", "--allow", "Bash(cd:*)"]);
        seat.wait_for_text("[n] deny");
        assert!(seat.screen_text().contains(in_root), "{}", seat.screen_text());
        assert!(!seat.screen_text().contains("folder:"), "{}", seat.screen_text());
        seat.type_in("c\n");
        seat.wait_for_text("folder: src");
        assert!(!home.path("src/other").exists(), "{}", seat.screen_text());
        seat.wait_until("the second question", |seat| {
            seat.screen_text().matches("[n] deny").count() == 2
        });
        // A rule of the whole project is not offered in one of its folders.
        seat.type_in("p\n");
        seat.wait_for_text("Please answer y");
        seat.type_in("n\n");
        let (status, output) = seat.end();
        assert!(status.success() && !home.path("src/other").exists(), "{output}");
    }
}
