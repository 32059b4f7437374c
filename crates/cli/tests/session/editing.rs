//! The composer: lines, pastes, drafts.

use rustix::process::Signal;

use crate::pty_screen::PtyScreen;
use crate::test_home::TestHome;

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

// spec: TERMINAL-08
#[test]
fn a_prompt_has_several_lines() {
    let home = TestHome::new(ECHO);
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    screen.type_in("first\nsecond\u{1b}[A\u{1}the \r");
    screen.wait_for("You said: the first");
    assert!(screen.screen().contains("second"), "{}", screen.screen());
}

// spec: TERMINAL-08
#[test]
fn a_large_paste_is_a_placeholder() {
    let home = TestHome::new("when user contains \"line 4999\"\n  say \"Got it all.\"\n");
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    let lines: String =
        (0..5_000).map(|line| format!("this is line {line} of the paste\n")).collect();
    screen.type_in(&format!("\u{1b}[200~{lines}\u{1b}[201~"));
    screen.wait_for("[Pasted text #1: 5,000 lines]");
    screen.type_in("\r");
    screen.wait_for("Got it all.");
}

// spec: TERMINAL-08
#[test]
fn a_draft_survives_a_crash() {
    let home = TestHome::new(ECHO);
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    screen.type_in("not sent yet");
    screen.wait_for("not sent yet");
    home.wait_until("the draft", || {
        let drafts = std::fs::read_dir(home.path("home/drafts"));
        drafts.is_ok_and(|mut drafts| drafts.next().is_some())
    });
    screen.signal_session(Signal::KILL);
    screen.wait_for_exit();
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_for("not sent yet");
    screen.type_in("\r");
    screen.wait_for("You said: not sent yet");
}

// spec: TERMINAL-18
#[test]
fn any_queued_prompt_is_edited_or_removed() {
    let script = "when user is \"wait\" and results 0\n  call Bash {\"command\": \"while [ ! -e go ]; do sleep 0.02; done\"}\n\
                  when any\n  say \"You said: ${user}\"\n";
    let home = TestHome::new(script);
    let mut screen = PtyScreen::start_sized(&home, &["--allowedTools", "Bash"], (80, 40), &[]);
    screen.wait_until_idle();
    screen.type_in("wait\r");
    screen.wait_for("Bash while");
    for text in ["one", "two", "three"] {
        screen.type_in(&format!("{text}\u{1b}\r"));
        screen.wait_for(&format!("queued: {text}"));
    }
    screen.type_in("/queue\r");
    screen.wait_for("Prompts that wait for the run to end.");
    // The first one is removed, the second one edited.
    screen.type_in("\u{1b}[3~");
    screen.wait_until("two items", |screen| !screen.screen().contains("  one"));
    screen.type_in("two\r");
    screen.wait_for("❯ two");
    screen.wait_until("one in the queue", |screen| !screen.screen().contains("queued: two"));
    screen.type_in(" and a half\u{1b}\r");
    screen.wait_for("queued: two and a half");
    home.write("go", "");
    screen.wait_for("You said: two and a half");
    let shown = screen.everything();
    assert!(shown.contains("You said: three") && !shown.contains("You said: one"), "{shown}");
    screen.wait_until_idle();
    screen.type_in("/queue\r");
    screen.wait_for("no prompt waits");
}

#[test]
fn commands_and_paths_are_completed() {
    let home = TestHome::new(ECHO);
    home.write("quarterly-report.txt", "figures\n");
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    screen.type_in("/co");
    screen.wait_for("/context");
    let shown = screen.screen();
    assert!(shown.contains("/compact") && shown.contains("/cost"), "{shown}");
    screen.type_in("\u{1b}[B\u{1b}[B\r");
    screen.wait_for("0 tokens in 0 runs");
    screen.type_in("look at @quar");
    screen.wait_for("@quarterly-report.txt");
    screen.type_in("\r");
    screen.wait_for("❯ look at @quarterly-report.txt");
    screen.type_in("now\r");
    screen.wait_for("1 figures");
}

#[test]
fn the_mode_is_switched_and_shown() {
    let home = TestHome::new(ECHO);
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    for (about, mode) in [
        ("Edits in the folder need no approval", "edits allowed"),
        ("Only reads", "plan mode"),
        ("Asks before anything", "asks first"),
    ] {
        screen.type_in("\u{1b}[Z");
        screen.wait_for(about);
        screen.type_in("x\u{7f}");
        screen.wait_for(mode);
    }
}

// spec: TERMINAL-08
#[test]
fn the_editor_of_the_user_changes_the_prompt() {
    let home = TestHome::new(ECHO);
    let editor = [("EDITOR", "sed -i s/draft/text/"), ("VISUAL", "")];
    let mut screen = PtyScreen::start_sized(&home, &[], (80, 24), &editor);
    screen.wait_until_idle();
    screen.type_in("my draft\u{7}");
    screen.wait_for("❯ my text");
    screen.type_in("\r");
    screen.wait_for("You said: my text");
}

#[test]
fn a_new_conversation_begins_with_clear() {
    let home = TestHome::new(ECHO);
    let mut screen = PtyScreen::start(&home, &["first prompt"]);
    screen.wait_for("You said: first prompt");
    screen.wait_until_idle();
    screen.type_in("/clear\r");
    screen.wait_for("A new conversation begins.");
    screen.type_in("second prompt\r");
    screen.wait_for("You said: second prompt");
    screen.wait_until_idle();
    screen.quit();
    let runs = home.json(&["runs"]);
    let lanes: std::collections::BTreeSet<_> =
        runs.iter().map(|run| run["conversation"].to_string()).collect();
    assert_eq!((runs.len(), lanes.len()), (2, 2), "{runs:?}");
}
