//! Questions in the session: approvals, rules, reasons, forms and plans.

use crate::pty_screen::{PtyScreen, assert_screen};
use crate::test_home::TestHome;

const WORK: &str = r#"
when user is "write it" and results 0
  call Write {"file_path": "a.txt", "content": "first line\nsecond line\n"}

when user is "run it" and results 0
  call Bash {"command": "echo one >> done"}

when user is "touch it" and results 0
  call Bash {"command": "touch made-${ask}"}

when user is "ask me" and results 0
  call AskUserQuestion {"questions": [{"question": "Which color?", "header": "Color", "options": [{"label": "Red", "description": "like a rose"}, {"label": "Blue"}]}]}

when result of AskUserQuestion contains "Blue"
  say "Blue it is."

when error
  say "Not done: ${result}"

when any
  say "All done."
"#;

// spec: TERMINAL-02
#[test]
fn a_file_change_is_shown_in_full_and_allowed() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["write it"]);
    screen.wait_for_question("Allow Write to a.txt?");
    assert_screen(
        "approval-write",
        &screen.screen().lines().skip(3).collect::<Vec<_>>().join("\n"),
        &home,
    );
    screen.type_in("y\r");
    screen.wait_for("All done.");
    assert_eq!(std::fs::read_to_string(home.path("a.txt")).unwrap(), "first line\nsecond line\n");
}

// spec: TERMINAL-02
#[test]
fn a_call_is_denied_with_a_reason() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["run it"]);
    screen.wait_for_question("Allow Bash");
    screen.type_in("nnot today\r");
    screen.wait_for("Not done:");
    assert!(screen.screen().contains("not today"), "{}", screen.screen());
    assert!(!home.path("done").exists());
}

// spec: TERMINAL-02
#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    screen.type_in("run it\ry\ry\r");
    screen.wait_for_question("Allow Bash");
    assert!(!home.path("done").exists(), "{}", screen.screen());
    screen.type_in("y\r");
    screen.wait_for("All done.");
}

// spec: TERMINAL-02
#[test]
fn a_command_is_changed_before_it_runs() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["run it"]);
    screen.wait_for_question("Allow Bash");
    screen.type_in("e\t\u{15}echo two >> done\r");
    screen.wait_for("All done.");
    assert_eq!(std::fs::read_to_string(home.path("done")).unwrap(), "two\n");
}

#[test]
fn a_form_is_filled_in() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["ask me"]);
    screen.wait_for_question("Which color?");
    assert_screen("form", &screen.screen().lines().skip(3).collect::<Vec<_>>().join("\n"), &home);
    screen.type_in("\u{1b}[B\r");
    screen.wait_for("Blue it is.");
}

// spec: TERMINAL-02
#[test]
fn a_question_that_is_answered_elsewhere_disappears() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["run it"]);
    screen.wait_for_question("Allow Bash");
    let runs = home.json(&["runs"]);
    let run = runs[0]["run"].as_str().unwrap().to_owned();
    let approved = home.run(&["approve", &run, "--detach"]);
    assert_eq!(approved.code, 0, "{}", approved.err);
    screen.wait_for("All done.");
    assert!(!screen.screen().contains("Allow Bash"), "{}", screen.screen());
}

// spec: TERMINAL-17
#[test]
fn a_rule_is_kept_for_all_folders_of_the_user() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["touch it"]);
    screen.wait_for_question("Allow Bash");
    screen.type_in("u\t\u{15}Bash(touch:*)\r");
    screen.wait_for("All done.");
    screen.wait_until_idle();
    screen.quit();
    let kept = std::fs::read_to_string(home.path("user/.claude/settings.json")).unwrap();
    assert!(kept.contains("\"Bash(touch:*)\""), "{kept}");
    // A later session in an untrusted folder has it, too.
    let mut screen = PtyScreen::start(&home, &["touch it"]);
    screen.wait_for("All done.");
}

// spec: TERMINAL-17
#[test]
fn a_question_shows_what_the_sandbox_allows() {
    let home = TestHome::new(WORK);
    let size = (100, 40);
    let args = ["run it", "--sandbox", "read-only"];
    let mut screen = PtyScreen::start_sized(&home, &args, size, &[]);
    screen.wait_for_question("Allow Bash");
    screen.wait_for("s shows the sandbox");
    assert!(!screen.screen().contains("Level: read-only"), "{}", screen.screen());
    screen.type_in("s");
    screen.wait_for("Level: read-only");
    screen.wait_for("Network: none");
    // It answers nothing.
    screen.type_in("s");
    screen.wait_until("the sandbox is hidden", |screen| !screen.screen().contains("Level:"));
    assert!(screen.screen().contains("Allow Bash"), "{}", screen.screen());
}

// spec: TERMINAL-02
#[test]
fn a_rule_that_is_edited_and_kept_covers_the_next_call() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["touch it"]);
    screen.wait_for_question("Allow Bash");
    screen.type_in("c\t\u{15}Bash(touch:*)\r");
    screen.wait_for("All done.");
    screen.wait_until_idle();
    screen.type_in("touch it\r");
    screen.wait_until("the second answer", |screen| {
        screen.screen().matches("All done.").count() == 2
    });
    assert!(home.path("made-1").exists() && home.path("made-3").exists());
}
