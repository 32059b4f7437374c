//! A session that is killed at any moment: nothing is lost, nothing happens twice.

use std::time::Duration;

use rustix::process::Signal;
use rustix::termios::LocalModes;

use crate::pty_screen::PtyScreen;
use crate::test_home::TestHome;

/// Three calls that leave a line each, and an answer.
const STEPS: &str = r#"
when user matches "go *" and results 0
  call Bash {"command": "echo a ${user} | tee -a log; sleep 0.05"}
when result contains "a go"
  say "Half of it is done."
  call Bash {"command": "echo b ${user} | tee -a log"}
when result contains "b go"
  call Bash {"command": "echo c ${user} | tee -a log; sleep 0.05"}
when any
  pace 5ms
  say "Finished ${user} as it should be."
"#;

/// How often the session is killed: `SESSION_KILLS`, or a few times.
fn kills() -> u64 {
    std::env::var("SESSION_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6)
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Brings the session to rest: answers what only a person can know, sends a prompt that was not
/// sent.
fn settle(screen: &mut PtyScreen, home: &TestHome) {
    loop {
        screen.wait_until("rest", |screen| {
            let shown = screen.screen();
            shown.contains("Ask for anything")
                || shown.contains("Did it take effect?")
                || shown.lines().rev().take(6).any(|line| line.starts_with("❯ go "))
        });
        let shown = screen.screen();
        if shown.contains("Did it take effect?") {
            screen.wait_for_question("Did it take effect?");
            let shown = screen.screen();
            let command = shown.lines().find_map(|line| line.trim().strip_prefix("echo "));
            assert!(command.is_some(), "{shown}");
            let command = command.unwrap();
            let line = command.split(" | ").next().unwrap().to_owned();
            let log = std::fs::read_to_string(home.path("log")).unwrap_or_default();
            let has_run = log.lines().any(|logged| logged == line);
            screen.type_in(if has_run { "d\r" } else { "r\r" });
            screen.wait_until("the answer", |screen| {
                !screen.screen().contains("Did it take effect?")
            });
        } else if shown.contains("Ask for anything") {
            return;
        } else {
            screen.type_in("\r");
            screen.wait_until("the prompt", |screen| {
                screen.everything().contains("Finished")
                    || screen.screen().contains("Working")
                    || screen.screen().contains("Did it take")
            });
        }
    }
}

// spec: TERMINAL-12
#[test]
#[expect(clippy::disallowed_methods, reason = "kills at moments that nothing announces")]
fn a_session_that_is_killed_continues() {
    let home = TestHome::new(STEPS);
    let seed =
        std::env::var("SESSION_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4_711);
    let mut random = Random(seed);
    let flags = ["--allowedTools", "Bash", "--beat-ms", "50", "--lease-ms", "400"];
    let mut screen = PtyScreen::start_sized(&home, &flags, (80, 50), &[]);
    screen.wait_until_idle();
    let continued = [&["--continue"][..], &flags].concat();
    for kill in 0..kills() {
        screen.type_in(&format!("go {kill}"));
        screen.wait_for(&format!("❯ go {kill}"));
        std::thread::sleep(Duration::from_millis(150));
        screen.type_in("\r");
        std::thread::sleep(Duration::from_millis(random.next(500)));
        screen.signal_session(Signal::KILL);
        screen.wait_for_exit();
        let begun = home.run(&["runs", "--json"]).out.lines().count() > 0;
        screen.start_again(&home, if begun { &continued } else { &flags });
        settle(&mut screen, &home);
    }
    let shown = screen.everything();
    for kill in 0..kills() {
        assert!(shown.contains(&format!("Finished go {kill} as it should be.")), "{kill}: {shown}");
    }
    let log = std::fs::read_to_string(home.path("log")).unwrap();
    for kill in 0..kills() {
        for step in ["a", "b", "c"] {
            let line = format!("{step} go {kill}");
            // A call that is marked as done ends the steps in this script.
            assert!(log.lines().filter(|logged| *logged == line).count() <= 1, "{line}: {log}");
        }
    }
    assert!(screen.quit().success());
    assert!(screen.modes().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
}
