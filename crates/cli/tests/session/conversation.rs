//! The conversation: prompts, streamed answers, tools, interrupts, the end.

use rustix::termios::LocalModes;

use crate::pty_screen::{PtyScreen, assert_screen};
use crate::test_home::TestHome;

const TALK: &str = r#"
when user is "hello" and results 0
  say """
    Hello! This is **bold**, `code` and a list:

    - one
    - two

    | tool | what |
    |---|---|
    | Read | reads a file |

    ```rust
    fn main() {}
    ```
    """

when user is "read" and results 0
  call Read {"file_path": "notes.txt"}

when user is "go slow" and results 0
  pace 50ms
  say "This text takes its time, one word after another, and it does not end soon at all. It goes on and on and on, until somebody stops it."

when user is "sleep" and results 0
  call Bash {"command": "sleep 30"}

when any
  say "That is it."
"#;

// spec: TERMINAL-01
#[test]
fn a_thought_comes_before_the_text_that_follows_it() {
    let script = "when user is \"both\"\n  think \"I should look first.\"\n  say \"Looking.\"\n  think \"Now I see it.\"\n  say \"Found.\"\n";
    let home = TestHome::new(script);
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    screen.type_in("both\r");
    screen.wait_for("● Found.");
    screen.wait_until_idle();
    let shown = screen.everything();
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} in {shown}"));
    assert!(place("∴ I should look first.") < place("● Looking."), "{shown}");
    assert!(place("● Looking.") < place("∴ Now I see it."), "{shown}");
    assert!(place("∴ Now I see it.") < place("● Found."), "{shown}");
    assert_eq!(shown.matches("I should look first.").count(), 1, "{shown}");
    // Ctrl-O goes back from the last one.
    screen.type_in("\u{f}");
    screen.wait_for("   Now I see it.");
    screen.type_in("\u{f}");
    screen.wait_for("   I should look first.");
    screen.type_in("\u{f}");
    screen.wait_for("There is nothing more to unfold.");
}

// spec: TERMINAL-01
#[test]
fn a_conversation_stays_in_the_scrollback() {
    for (columns, name) in
        [(40, "conversation-40"), (80, "conversation-80"), (200, "conversation-200")]
    {
        let home = TestHome::new(TALK);
        home.write("notes.txt", "remember the milk\n");
        let mut screen = PtyScreen::start_sized(&home, &[], (columns, 40), &[]);
        screen.wait_until_idle();
        screen.type_in("hello\r");
        screen.wait_for("fn main() {}");
        screen.wait_until_idle();
        screen.type_in("read\r");
        screen.wait_for("That is it.");
        screen.wait_until_idle();
        let shown = screen.screen();
        if columns > 100 {
            // The folder differs in length.
            assert!(shown.contains("✓ Read notes.txt"), "{shown}");
        }
        let above: Vec<&str> =
            shown.lines().skip(3).filter(|line| !line.contains("asks first")).collect();
        assert_screen(name, &above.join("\n"), &home);
        let status = screen.quit();
        assert!(status.success());
        let end = screen.screen();
        assert!(end.contains("windlass --continue"), "{end}");
    }
}

#[test]
fn escape_interrupts_a_reply() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start(&home, &["go slow"]);
    screen.wait_for("one word after");
    screen.type_in("\u{1b}");
    screen.wait_for("Interrupted: the reply in progress was discarded.");
    screen.wait_until_idle();
    screen.type_in("and now\r");
    screen.wait_for("That is it.");
    assert!(screen.quit().success());
}

#[test]
fn a_second_escape_stops_a_running_command() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start(&home, &["--allowedTools", "Bash"]);
    screen.wait_until_idle();
    screen.type_in("sleep\r");
    screen.wait_for("Bash sleep 30");
    screen.type_in("\u{1b}");
    screen.wait_for("Stopping at the next safe point");
    screen.type_in("\u{1b}");
    screen.wait_for("Interrupted: Bash sleep 30 was stopped.");
    assert!(screen.quit().success());
}

#[test]
fn the_terminal_is_left_as_it_was() {
    use rustix::process::Signal;
    let home = TestHome::new(TALK);
    for (how, code) in [("quit", 0), ("term", 143), ("hangup", 129)] {
        let mut screen = PtyScreen::start(&home, &["go slow"]);
        let before = screen.modes().local_modes;
        screen.wait_for("one word");
        assert!(!screen.modes().local_modes.contains(LocalModes::ICANON));
        match how {
            "quit" => screen.type_in("\u{4}"),
            "term" => screen.signal_session(Signal::TERM),
            _ => screen.signal_session(Signal::HUP),
        }
        let status = screen.wait_for_exit();
        assert_eq!(status.code(), Some(code), "{how}: {}", screen.screen());
        assert_eq!(screen.modes().local_modes, before, "{how}");
    }
}

#[test]
fn a_session_continues_where_it_was() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start(&home, &["hello"]);
    screen.wait_for("fn main() {}");
    screen.wait_until_idle();
    screen.quit();
    let mut screen = PtyScreen::start(&home, &["--continue"]);
    screen.wait_until_idle();
    let shown = screen.screen();
    assert!(shown.contains("❯ hello") && shown.contains("fn main() {}"), "{shown}");
    screen.type_in("more\r");
    screen.wait_for("That is it.");
}

// spec: TERMINAL-01
#[test]
fn a_resize_in_the_middle_of_a_stream_loses_no_line() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start_sized(&home, &["go slow"], (80, 30), &[]);
    screen.wait_for("one word");
    for columns in [60, 100, 40, 80] {
        screen.resize(columns, 30);
        screen.wait_for("Working…");
    }
    screen.wait_until_idle();
    let shown = screen.everything();
    assert_eq!(shown.matches("❯ go slow").count(), 1, "{shown}");
    let words: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("one word after another, and it does not end soon at all."), "{shown}");
    assert!(words.contains("until somebody stops it."), "{shown}");
    assert_eq!(shown.matches("asks first").count(), 1, "{shown}");
}

#[test]
fn a_terminal_without_escape_sequences_gets_plain_lines() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start_sized(&home, &[], (80, 24), &[("TERM", "dumb")]);
    screen.wait_for(">");
    screen.type_in("more\n");
    screen.wait_for("That is it.");
    screen.type_in("\u{4}");
    assert!(screen.wait_for_exit().success(), "{}", screen.screen());
    let piped = home.run_with_stdin(&["--script", "a.script"], b"one\ntwo\n");
    assert_eq!(
        (piped.code, piped.out.as_str()),
        (0, "That is it.\nThat is it.\n"),
        "{}",
        piped.err
    );
}

// spec: TERMINAL-01
#[test]
fn no_color_means_no_color() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start_sized(&home, &["hello"], (80, 24), &[("NO_COLOR", "1")]);
    screen.wait_for("fn main() {}");
    assert!(!screen.has_styles(), "{}", screen.screen());
}

// spec: TERMINAL-15
#[test]
fn a_misspelled_command_is_not_a_prompt() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start(&home, &["explian"]);
    assert_eq!(screen.wait_for_exit().code(), Some(2));
    assert!(screen.screen().contains("did you mean `windlass explain`?"), "{}", screen.screen());
}

// spec: TERMINAL-12
#[test]
fn a_killed_session_leaves_modes_that_the_next_one_repairs() {
    use rustix::process::Signal;
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start(&home, &["go slow"]);
    let before = screen.modes().local_modes;
    screen.wait_for("one word");
    screen.signal_session(Signal::KILL);
    screen.wait_for_exit();
    assert_ne!(screen.modes().local_modes, before);
    screen.start_again(&home, &["--continue"]);
    screen.wait_for("until somebody stops it.");
    screen.wait_until_idle();
    assert!(screen.quit().success());
    assert_eq!(screen.modes().local_modes, before);
}

#[test]
fn the_output_of_a_running_command_is_shown_as_it_comes() {
    let home = TestHome::new(
        "when user is \"go on\" and results 0\n  call Bash {\"command\": \"echo compiling; sleep 20\"}\nwhen any\n  say \"Done.\"\n",
    );
    let mut screen = PtyScreen::start(&home, &["go on", "--allowedTools", "Bash"]);
    screen.wait_for("    compiling");
    screen.type_in("\u{1b}\u{1b}");
    screen.wait_for("Interrupted");
}

// spec: TERMINAL-15
#[test]
fn the_first_start_without_a_key_offers_the_demo() {
    let home = TestHome::new(TALK);
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_MODEL"];
    let none: Vec<(&str, &str)> = keys.iter().map(|key| (*key, "")).collect();
    let variables = [&[("NO_SCRIPT", "1")], &none[..]].concat();
    let mut screen = PtyScreen::start_sized(&home, &[], (80, 24), &variables);
    screen.wait_for("Watch the offline demo now?");
    assert!(screen.screen().contains("no model chosen"), "{}", screen.screen());
    screen.type_in("n\n");
    assert_eq!(screen.wait_for_exit().code(), Some(2));
}
