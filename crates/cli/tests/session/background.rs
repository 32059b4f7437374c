//! Work beside the conversation: commands in the background, and runs of other processes.

use crate::pty_screen::PtyScreen;
use crate::test_home::TestHome;

const WORK: &str = r#"
when user is "build" and results 0
  call Bash {"command": "echo compiling; while [ ! -e go ]; do sleep 0.02; done; echo built"}

when result contains "moved the command to the background"
  say "I go on meanwhile."
  call Bash {"command": "while [ ! -e end ]; do sleep 0.02; done"}

when user is "ask first" and results 0
  call Bash {"command": "echo allowed >> done"}

when user is "build alone" and results 0
  call Bash {"command": "echo compiling; while [ ! -e go ]; do sleep 0.02; done; echo built; exit 3"}

when user contains "The background command bash_1_0 has ended: exit code 3"
  say "I know how it ended."

when user is "be quick"
  say "I am quick."

when any
  say "All done."
"#;

// spec: TERMINAL-09
#[test]
fn a_running_command_moves_to_the_background() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["--allowedTools", "Bash"]);
    screen.wait_until_idle();
    screen.type_in("build\r");
    screen.wait_for("    compiling");
    screen.type_in("\u{2}");
    screen.wait_for("I go on meanwhile.");
    screen.type_in("/tasks\r");
    screen.wait_for("running  echo compiling");
    home.write("go", "");
    screen.wait_until("the end of the command", |screen| {
        screen.type_in("/tasks\r");
        screen.everything().contains("    built")
    });
    screen.type_in("/tasks unknown\r");
    screen.wait_for("there is no task unknown");
    home.write("end", "");
    screen.wait_for("All done.");
}

/// A session in which a command was moved to the background and the run has ended.
fn start_with_background_command(home: &TestHome) -> PtyScreen {
    let mut screen = PtyScreen::start_sized(home, &["--allowedTools", "Bash"], (100, 40), &[]);
    screen.wait_until_idle();
    screen.type_in("build alone\r");
    screen.wait_for("    compiling");
    screen.type_in("\u{2}");
    screen.wait_for("runs in the background as bash_1_0");
    screen.wait_for("I go on meanwhile.");
    home.write("end", "");
    screen.wait_for("All done.");
    screen.wait_until_idle();
    screen
}

// spec: TERMINAL-16
#[test]
fn a_command_in_the_background_outlives_the_run_and_its_end_is_told() {
    let home = TestHome::new(WORK);
    let mut screen = start_with_background_command(&home);
    screen.wait_for("1 in background");
    screen.type_in("/tasks\r");
    screen.wait_for("bash_1_0  running  echo compiling");
    home.write("go", "");
    screen.wait_for("bash_1_0 has ended (exit code 3): echo compiling");
    screen.wait_until("no task", |screen| !screen.screen().contains("1 in background"));
    screen.type_in("and now?\r");
    screen.wait_for("I know how it ended.");
}

// spec: TERMINAL-16
#[test]
fn a_command_in_the_background_ends_with_the_session_or_its_conversation() {
    let home = TestHome::new(WORK);
    let mut screen = start_with_background_command(&home);
    screen.type_in("/clear\r");
    screen.wait_for("Ended the command in the background: bash_1_0 (echo compiling");
    screen.wait_until_idle();
    screen.type_in("/tasks\r");
    screen.wait_for("No command and no sub-agent runs in the background.");
    screen.quit();
    std::fs::remove_file(home.path("end")).unwrap();
    let mut screen = start_with_background_command(&home);
    assert!(screen.quit().success());
    let shown = screen.screen();
    assert!(shown.contains("Ended the command in the background: bash_1_0"), "{shown}");
}

// spec: TERMINAL-16
#[test]
fn no_command_in_the_background_outlives_kill_9() {
    let home = TestHome::new(WORK);
    // Its arguments are those of no other process.
    let waits = format!("[ ! -e {} ]", home.path("go").display());
    home.write("a.script", &WORK.replace("[ ! -e go ]", &waits));
    let mut screen = start_with_background_command(&home);
    assert!(is_any_process_called(&waits));
    screen.signal_session(rustix::process::Signal::KILL);
    screen.wait_for_exit();
    home.wait_until("the end of the command", || !is_any_process_called(&waits));
}

fn is_any_process_called(text: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let called = |path: std::path::PathBuf| std::fs::read(path.join("cmdline")).unwrap_or_default();
    processes
        .map(|entry| called(entry.path()))
        .any(|line| String::from_utf8_lossy(&line).contains(text))
}

// spec: TERMINAL-09
#[test]
fn a_task_is_stopped() {
    let home = TestHome::new(WORK);
    let mut screen = PtyScreen::start(&home, &["--allowedTools", "Bash"]);
    screen.wait_until_idle();
    screen.type_in("build\r");
    screen.wait_for("    compiling");
    screen.type_in("\u{2}");
    screen.wait_for("I go on meanwhile.");
    screen.type_in("/tasks\r");
    screen.wait_for("/tasks stop ID ends it.");
    let shown = screen.screen();
    let id = shown.split_whitespace().find(|word| word.starts_with("bash_")).unwrap();
    let id = id.trim_end_matches(';').to_owned();
    screen.type_in(&format!("/tasks stop {id}\r"));
    screen.wait_for("is asked to end.");
    screen.wait_until("the end", |screen| {
        screen.type_in(&format!("/tasks {id}\r"));
        screen.everything().contains("stopped after")
    });
    home.write("end", "");
    screen.wait_for("All done.");
}

// spec: TERMINAL-10
#[test]
fn a_run_of_another_process_is_followed_and_answered() {
    let home = TestHome::new(WORK);
    let mut driver = PtyScreen::start(&home, &["ask first"]);
    driver.wait_for_question("Allow Bash");
    let mut watcher = PtyScreen::start(&home, &["attach"]);
    watcher.wait_for("windlass watches a conversation");
    watcher.wait_for_question("Allow Bash");
    watcher.type_in("y\r");
    driver.wait_for("All done.");
    watcher.wait_for("All done.");
    assert_eq!(std::fs::read_to_string(home.path("done")).unwrap(), "allowed\n");
    // What comes later is shown, too.
    driver.wait_until_idle();
    driver.type_in("once more\r");
    watcher.wait_for("❯ once more");
    watcher.wait_until_idle();
    watcher.type_in("/clear\r");
    watcher.wait_for("open the conversation with --resume");
    watcher.type_in("\u{4}");
    assert!(watcher.wait_for_exit().success());
    assert!(watcher.screen().contains("windlass attach"), "{}", watcher.screen());
    assert!(driver.quit().success());
}

// spec: TERMINAL-10
#[test]
fn a_run_of_another_process_is_steered() {
    let home = TestHome::new(WORK);
    let mut driver = PtyScreen::start(&home, &["--allowedTools", "Bash"]);
    driver.wait_until_idle();
    driver.type_in("build\r");
    driver.wait_for("    compiling");
    let mut watcher = PtyScreen::start(&home, &["attach"]);
    watcher.wait_for("Bash echo compiling");
    watcher.type_in("be quick\r");
    watcher.wait_for("❯ be quick");
    home.write("go", "");
    driver.wait_for("I am quick.");
    watcher.wait_for("I am quick.");
}

#[test]
fn attach_says_what_it_needs() {
    let home = TestHome::new(WORK);
    let piped = home.run(&["attach"]);
    assert_eq!(piped.code, 1);
    assert!(piped.err.contains("windlass attach needs a terminal"), "{}", piped.err);
    let mut screen = PtyScreen::start(&home, &["attach", "unknown"]);
    assert_eq!(screen.wait_for_exit().code(), Some(1));
}

const SUB_AGENTS: &str = r#"
when user contains "inner job" and results 0
  call Bash {"command": "echo begun >> begun; while [ ! -e go ]; do sleep 0.02; done"}

when user contains "inner job"
  say "inner answer"

when user contains "outer job" and results 0
  call Agent {"description": "an inner job", "prompt": "do the inner job", "run_in_background": true}

when user contains "task-notification"
  say "The sub-agent says: ${user}"

when result of Agent
  say "It is started."

when any
  say "You said ${user}."
"#;

// spec: CHILDREN-08
#[test]
fn a_sub_agent_works_in_the_background_of_a_session() {
    let home = TestHome::new(SUB_AGENTS);
    let mut screen = PtyScreen::start(&home, &["--allowedTools", "Agent Bash"]);
    screen.wait_until_idle();
    screen.type_in("outer job\r");
    screen.wait_for("It is started.");
    screen.wait_for("1 sub-agent works");
    home.wait_for_file("begun");
    // The session is free meanwhile.
    screen.type_in("hello\r");
    screen.wait_for("You said hello.");
    screen.type_in("/tasks\r");
    screen.wait_for("sub-agent, ");
    home.write("go", "");
    screen.wait_for("The sub-agent says:");
    screen.wait_for("inner answer");
    screen.type_in("hello again\r");
    screen.wait_for("You said hello again.");
    assert!(screen.quit().success());
}

// spec: CHILDREN-08
#[test]
fn a_sub_agent_in_the_background_asks_and_outlives_the_session() {
    let home = TestHome::new(SUB_AGENTS);
    let mut screen = PtyScreen::start(&home, &["--allowedTools", "Agent"]);
    screen.wait_until_idle();
    screen.type_in("outer job\r");
    screen.wait_for("It is started.");
    screen.wait_for_question("Allow Bash");
    screen.signal_session(rustix::process::Signal::KILL);
    screen.wait_for_exit();
    let mut screen = PtyScreen::start(&home, &["--continue", "--allowedTools", "Agent"]);
    screen.wait_for_question("Allow Bash");
    home.write("go", "");
    screen.type_in("y\r");
    screen.wait_for("The sub-agent says:");
    screen.wait_for("inner answer");
    assert_eq!(std::fs::read_to_string(home.path("begun")).unwrap(), "begun\n");
    assert!(screen.quit().success());
}
