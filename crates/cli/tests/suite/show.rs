//! `windlass show`.

use crate::test_home::TestHome;

const LOOK: &str = r#"
when results 0
  say "Let me look."
  call Read {"file_path": "a.txt"}
  call Bash {"command": "echo hi"}
when any
  say "It is 42."
"#;

fn home_with_run() -> TestHome {
    let home = TestHome::new(LOOK);
    home.write("a.txt", &format!("the answer: 42\n{}", "more\n".repeat(200)));
    home.run_prompt("what is it?", &["--allow", "Bash", "--conversation", "c1"]);
    home
}

#[test]
fn a_conversation_is_read_from_top_to_bottom() {
    let ran = home_with_run().run(&["show", "c1"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let in_order = [
        "you ",
        "what is it?",
        "model ",
        "Let me look.",
        "→ Read {\"file_path\": \"a.txt\"}",
        "→ Bash",
        "← Read:",
        "the answer: 42",
        "more lines",
        "It is 42.",
        "stopped (end_turn)",
        "c1 completed",
        "1 of 50 rounds",
    ];
    let mut rest = ran.out.as_str();
    for expected in in_order {
        let at = rest.find(expected);
        assert!(at.is_some(), "{expected:?} is missing or out of order in\n{}", ran.out);
        rest = &rest[at.unwrap()..];
    }
    assert!(!ran.out.contains('\x1b'), "no colours in a pipe");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
}

#[test]
fn json_has_every_word_and_where_it_stands() {
    let home = home_with_run();
    let scenes = home.json(&["show", "c1"]);
    let kinds: Vec<&str> = scenes.iter().map(|scene| scene["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["prompt", "reply", "call", "call", "result", "result", "reply", "end"]);
    let read = scenes.iter().find(|scene| scene["kind"] == "result" && scene["tool"] == "Read");
    assert!(read.unwrap()["text"].as_str().unwrap().matches("more").count() == 200, "not cut");
    assert!(scenes.iter().all(|scene| scene["entry"].as_u64() > Some(0)));
}

#[test]
fn a_run_is_shown_alone_and_the_beginning_of_its_id_is_enough() {
    let home = TestHome::new("when any\n  say \"said ${user}\"\n");
    home.run_prompt("one", &["--conversation", "c"]);
    home.run_prompt("two", &["--conversation", "c"]);
    let runs = home.json(&["runs"]);
    let second = runs[0]["run"].as_str().unwrap();
    let ran = home.run(&["show", &second[..second.len() - 1]]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("said two") && !ran.out.contains("said one"), "{}", ran.out);
    assert!(home.run(&["show", "c"]).out.contains("said one"));
    // Both ids start with the same digits of the time.
    let ran = home.run(&["show", &second[..2]]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(
        ran.err.contains("give more characters") && ran.err.lines().count() == 1,
        "{}",
        ran.err
    );
}

#[test]
fn what_is_unknown_says_what_to_do() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    for command in ["show", "trace", "explain", "logs", "fork", "compact"] {
        let ran = home.run(&[command, "nobody"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{command}");
        assert!(ran.err.contains("no runs yet") && ran.err.contains("windlass -p"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    home.run_prompt("hi", &[]);
    for command in ["show", "trace", "explain", "logs", "fork", "compact", "approve"] {
        let ran = home.run(&[command, "nobody"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{command}");
        assert!(ran.err.contains("`nobody`") && ran.err.contains("windlass runs"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}

#[test]
fn a_damaged_log_is_shown_as_far_as_it_can_be_read() {
    let home = home_with_run();
    home.overwrite_entry(4, "{\"seq\": 4, this is not");
    for command in ["show", "trace", "explain", "logs"] {
        let ran = home.run(&[command, "c1"]);
        assert_eq!(ran.code, 1, "{command}");
        assert!(!ran.out.is_empty(), "{command} shows what stands before it");
        assert!(ran.err.contains("c1: entry 4 is malformed"), "{command}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    assert!(home.run(&["show", "c1"]).out.contains("Let me look."));
    home.overwrite_entry(4, "{\"seq\":4,\"at\":1,\"input\":{\"dreamt/9\":{}},\"records\":[]}");
    let ran = home.run(&["show", "c1"]);
    assert!(ran.err.contains("dreamt/9") && ran.err.contains("upgrade"), "{}", ran.err);
}

#[test]
fn what_models_and_tools_say_cannot_write_on_the_terminal() {
    let home = TestHome::new("when any\n  say \"a\\u001b[31mb\"\n");
    home.run_prompt("hi\u{7}", &["--conversation", "c"]);
    let ran = home.run(&["show", "c"]);
    assert!(!ran.out.contains('\x1b') && !ran.out.contains('\u{7}'), "{:?}", ran.out);
    assert!(ran.out.contains("[31mb"));
}

#[test]
fn an_unwritable_home_is_one_sentence() {
    let place = TestHome::new("");
    place.write("home", "not a folder");
    for command in [["show", "x"], ["explain", "x"], ["stats", "--json"], ["logs", "--json"]] {
        let ran = place.run_bare(&command);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{command:?}");
        assert!(ran.err.contains("home") && ran.err.contains("--store"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}
