//! `windlass rewind`: prompts are taken back, with what their runs have done to the files.

use super::test_home::{CommandOutput, TestHome};

const EDITS: &str = r#"
when user contains "first" and results 0
  call Read {"file_path": "old.txt"}

when user contains "first" and result of Read
  call Write {"file_path": "old.txt", "content": "first\n"}
  call Write {"file_path": "new.txt", "content": "created\n"}

when user contains "second" and results 0
  call Edit {"file_path": "old.txt", "old_string": "first", "new_string": "second"}

when user contains "wait" and results 0
  call Write {"file_path": "new.txt", "content": "half done\n"}

when user contains "wait" and result of Write
  delay 60s
  say "late"

when user contains "what"
  say "nothing"

when any
  say "changed"
"#;

fn home() -> TestHome {
    let home = TestHome::new(EDITS);
    home.write("old.txt", "original\n");
    home
}

fn say(home: &TestHome, prompt: &str, more: &[&str]) {
    let flags = [&["--permission-mode", "acceptEdits"][..], more].concat();
    let ran = home.run_prompt_unattended(prompt, &flags);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

/// A conversation in which both files are changed, and one of them again.
fn two_turns() -> TestHome {
    let home = home();
    say(&home, "first change", &["--conversation", "work"]);
    say(&home, "second change", &["--conversation", "work"]);
    assert_eq!(files(&home), "second\ncreated\n");
    home
}

fn files(home: &TestHome) -> String {
    let read = |name| std::fs::read_to_string(home.path(name)).unwrap_or_default();
    read("old.txt") + &read("new.txt")
}

fn rewind(home: &TestHome, more: &[&str]) -> CommandOutput {
    home.run(&[&["rewind", "work"], more].concat())
}

/// The ids of the prompts, oldest first: those of their runs.
fn prompts(home: &TestHome) -> Vec<String> {
    home.query("SELECT run_id FROM run ORDER BY no")
}

// spec: SDK-34
#[test]
fn the_last_prompt_is_taken_back_with_its_changes() {
    let home = two_turns();
    let plan = rewind(&home, &["--dry-run"]);
    assert!(plan.out.contains("1 file would be brought back (+1 -1 lines)"), "{}", plan.out);
    assert_eq!(files(&home), "second\ncreated\n");
    let done = rewind(&home, &[]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("1 file brought back (+1 -1 lines)"), "{}", done.out);
    assert_eq!(files(&home), "first\ncreated\n");
    // The model does not see the prompt any more, and the next one follows the first.
    let log = home.run(&["show", "work"]);
    assert!(log.out.contains("second change"), "the log keeps it: {}", log.out);
    let refused = rewind(&home, &[]);
    assert_ne!(refused.code, 0);
    assert!(
        refused.err.contains("is the first prompt; start a new conversation"),
        "{}",
        refused.err
    );
    assert_eq!(files(&home), "first\ncreated\n");
    let done = rewind(&home, &["--files"]);
    assert_eq!((done.code, files(&home).as_str()), (0, "original\n"), "{}", done.err);
    let again = rewind(&home, &["--files"]);
    assert!(again.out.contains("no file is changed"), "{}", again.out);
}

// spec: SDK-34
#[test]
fn a_rewind_can_be_taken_back_in_any_order() {
    let home = two_turns();
    let ids = prompts(&home);
    let [first, second] = ids.as_slice() else { panic!("two prompts: {ids:?}") };
    for (to, expected) in [
        (first, "original\n"),
        (second, "first\ncreated\n"),
        (second, "first\ncreated\n"),
        (first, "original\n"),
    ] {
        let done = rewind(&home, &["--files", "--to", to]);
        assert_eq!((done.code, files(&home).as_str()), (0, expected), "{}", done.err);
    }
    // The conversation was left alone.
    say(&home, "what now", &["--conversation", "work"]);
    assert_eq!(prompts(&home).len(), 3);
    let back = rewind(&home, &["--conversation", "--to", second]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(files(&home), "original\n");
}

// spec: SDK-34
#[test]
fn a_file_that_something_else_changed_is_not_overwritten() {
    let home = two_turns();
    home.write("new.txt", "mine\n");
    let ids = prompts(&home);
    let to = ["--files", "--to", ids[0].as_str()];
    let refused = rewind(&home, &to);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("new.txt; nothing was rewound"), "{}", refused.err);
    assert_eq!(files(&home), "second\nmine\n");
    let json = rewind(&home, &[&to[..], &["--dry-run", "--output-format", "json"]].concat());
    let plan: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((plan["files"].as_array().unwrap().len(), &plan["done"]), (2, &false.into()));
    assert!(plan["conflicts"][0].as_str().unwrap().ends_with("new.txt"));
    let forced = rewind(&home, &[&to[..], &["--force"]].concat());
    assert_eq!((forced.code, files(&home).as_str()), (0, "original\n"), "{}", forced.err);
}

// spec: SDK-34
#[test]
fn unknown_messages_and_flags_that_contradict_change_nothing() {
    let home = two_turns();
    for (more, said) in [
        (&["--to", "11111111-2222"][..], "has no message 11111111-2222"),
        (&["--to", ""], "has no message"),
        (&["--files", "--conversation"], "cannot be used with"),
    ] {
        let refused = rewind(&home, more);
        assert_ne!(refused.code, 0);
        assert!(refused.err.contains(said), "{}", refused.err);
    }
    let unknown = home.run(&["rewind", "nowhere"]);
    assert_ne!(unknown.code, 0);
    assert_eq!(files(&home), "second\ncreated\n");
}

// spec: SDK-34
#[test]
fn after_a_crash_the_run_is_cancelled_and_then_taken_back() {
    let home = two_turns();
    let store = home.path("w.db");
    let fixed = ["-p", "wait", "--conversation", "work", "--script", "a.script"];
    let rights = ["--permission-mode", "acceptEdits", "--store", store.to_str().unwrap()];
    let mut child = home.command(&[&fixed[..], &rights].concat()).spawn().unwrap();
    home.wait_until("the change", || files(&home) == "second\nhalf done\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = rewind(&home, &[]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("is not finished; cancel it"), "{}", refused.err);
    home.run(&["cancel", "work", "--script", "a.script"]);
    let done = rewind(&home, &[]);
    assert_eq!((done.code, files(&home).as_str()), (0, "second\ncreated\n"), "{}", done.err);
}
