//! What the window of the terminal shows besides the conversation: title, notifications, the status
//! line of the user; and what is asked before a session begins.

use crate::pty_screen::PtyScreen;
use crate::test_home::TestHome;

const TALK: &str = r#"
when user is "run it" and results 0
  call Bash {"command": "echo one >> done"}

when user is "touch it" and results 0
  call Bash {"command": "touch made"}

when any
  say "All done."
"#;

// spec: TERMINAL-11
#[test]
fn the_title_says_what_happens_and_a_question_rings() {
    let home = TestHome::new(TALK);
    std::fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/config.toml", "[terminal]\nnotifications = \"osc9\"\n");
    let mut screen = PtyScreen::start(&home, &["run it"]);
    screen.wait_for_bytes("\u{1b}[22;0t");
    screen.wait_for_bytes("\u{1b}]0;✳ windlass");
    screen.wait_for_bytes("\u{1b}]0;? windlass");
    screen.wait_for_bytes("\u{1b}]9;windlass has a question\u{7}");
    screen.wait_for_question("Allow Bash");
    screen.type_in("y\r");
    screen.wait_for("All done.");
    screen.wait_until_idle();
    assert!(screen.quit().success());
    screen.wait_for_bytes("\u{1b}[23;0t");
}

// spec: TERMINAL-11
#[test]
fn a_command_of_the_user_draws_the_status_line() {
    let home = TestHome::new(TALK);
    std::fs::create_dir_all(home.path("user/.claude")).unwrap();
    let command =
        "printf '\\033[32mmine\\033[0m: '; grep -o '\\\"permission_mode\\\":\\\"[a-zA-Z]*'";
    let settings = format!(
        r#"{{"statusLine": {{"type": "command", "command": {}}}}}"#,
        serde_json::Value::from(command.replace("\\\"", "\""))
    );
    home.write("user/.claude/settings.json", &settings);
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_for("mine: \"permission_mode\":\"default");
    screen.type_in("\u{1b}[Z");
    screen.wait_for("Edits in the folder");
    screen.type_in("x\u{7f}");
    screen.wait_for("mine: \"permission_mode\":\"acceptEdits");
}

// spec: TERMINAL-14
#[test]
fn the_model_is_told_of_date_platform_folder_and_git_state() {
    let home = TestHome::new(TALK);
    std::fs::create_dir_all(home.path(".git")).unwrap();
    home.write(".git/HEAD", "ref: refs/heads/spring\n");
    let mut screen = PtyScreen::start(&home, &["hello"]);
    screen.wait_for("All done.");
    screen.wait_for("(spring)");
    screen.wait_until_idle();
    assert!(screen.quit().success());
    let stored: Vec<u8> = ["w.db", "w.db-wal"]
        .iter()
        .flat_map(|file| std::fs::read(home.path(file)).unwrap_or_default())
        .collect();
    let stored = String::from_utf8_lossy(&stored);
    for part in ["Date: 20", "Platform: Linux", "Git: branch spring, without a commit"] {
        assert!(stored.contains(part), "{part}");
    }
}

// spec: TERMINAL-15
#[test]
fn the_first_start_in_a_folder_with_settings_asks_for_trust() {
    let home = TestHome::new(TALK);
    std::fs::create_dir_all(home.path(".claude")).unwrap();
    home.write(".claude/settings.json", r#"{"permissions": {"allow": ["Bash(touch:*)"]}}"#);
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_for_question("Do you trust");
    screen.type_in("y\n");
    screen.wait_until_idle();
    screen.type_in("touch it\r");
    screen.wait_for("All done.");
    assert!(home.path("made").exists());
    screen.wait_until_idle();
    screen.quit();
    let mut screen = PtyScreen::start(&home, &[]);
    screen.wait_until_idle();
    assert!(!screen.everything().contains("Do you trust"), "{}", screen.everything());
}

#[test]
fn the_console_of_linux_gets_no_title() {
    let home = TestHome::new(TALK);
    let mut screen = PtyScreen::start_sized(&home, &["hello"], (80, 24), &[("TERM", "linux")]);
    screen.wait_for("All done.");
    screen.wait_until_idle();
    assert!(screen.quit().success());
    assert!(!screen.has_printed("\u{1b}]0;"));
}
