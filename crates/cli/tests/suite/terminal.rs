//! The binary at a real terminal: the effect of Ctrl-C, what is drawn, and what is left when the
//! terminal is closed.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::test_home::TestHome;

/// A program with a terminal of its own.
pub(crate) struct TerminalSession {
    terminal: File,
    screen: String,
    child: Child,
}

impl TerminalSession {
    #[expect(clippy::disallowed_methods, reason = "the test runs the real binary")]
    pub(crate) fn start(home: &TestHome, args: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let terminal = terminal.unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        fcntl_setfl(&terminal, fcntl_getfl(&terminal).unwrap() | OFlags::NONBLOCK).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let desk = File::options().read(true).write(true).open(name).unwrap();
        let stream = || Stdio::from(desk.try_clone().unwrap());
        // `setsid -c` makes it the controlling terminal: without that no key sends a signal. Tests
        // that were started with `nohup` or with `&` would inherit ignored signals.
        let child = Command::new("setsid")
            .args(["-c", "-w", "env", "--default-signal=HUP,INT", env!("CARGO_BIN_EXE_windlass")])
            .args(args)
            .args(["--script", "a.script", "--store", "w.db"])
            .current_dir(home.path("."))
            .env("WINDLASS_HOME", home.path("home"))
            .env("HOME", home.path("user"))
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap();
        Self { terminal: terminal.into(), screen: String::new(), child }
    }

    /// All output so far.
    pub(crate) fn screen_text(&mut self) -> &str {
        let mut buffer = [0; 4_096];
        while let Ok(read @ 1..) = self.terminal.read(&mut buffer) {
            self.screen.push_str(&String::from_utf8_lossy(buffer.get(..read).unwrap()));
        }
        &self.screen
    }

    #[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
    pub(crate) fn wait_until(&mut self, what: &str, holds: impl Fn(&mut Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            let waited = begin.elapsed();
            assert!(
                waited < Duration::from_secs(30),
                "{what} did not come:\n{}",
                self.screen_text()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn wait_for_text(&mut self, text: &str) {
        self.wait_until(text, |seat| seat.screen_text().contains(text));
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end; returns the exit status and all output.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        self.wait_until("the end", |seat| {
            seat.screen_text();
            seat.child.try_wait().unwrap().is_some()
        });
        let status = self.child.wait().unwrap();
        (status, self.screen_text().to_owned())
    }
}

const TWO_COMMANDS: &str = "when user is \"go\" and results 0\n  \
    call Bash {\"command\": \"echo one >> done; sleep 1\"}\n  \
    call Bash {\"command\": \"echo two >> done\"}\n\
    when user is \"and now?\"\n  say \"Going on.\"\nwhen any\n  say \"Both done.\"\n";

// spec: CLI-04
#[test]
fn ctrl_c_ends_at_the_next_safe_point_and_the_conversation_goes_on() {
    let home = TestHome::new(TWO_COMMANDS);
    let mut seat = TerminalSession::start(&home, &["-p", "go", "--allowedTools", "Bash"]);
    seat.wait_until("the first command", |_| home.path("done").exists());
    seat.type_in("\u{3}");
    let (status, output) = seat.end();
    assert_eq!(status.code(), Some(130), "{output}");
    assert!(output.contains("cancelling at the next safe point"), "{output}");
    assert!(output.contains("✓ Bash echo one"), "what ran was waited for: {output}");
    assert!(output.contains("stopped (user_cancel)"), "{output}");
    assert_eq!(std::fs::read_to_string(home.path("done")).unwrap(), "one\n");
    let ran = home.run_prompt_unattended("and now?", &["--continue"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Going on.\n"), "{}", ran.err);
}

// spec: CLI-04
#[test]
fn ctrl_c_twice_interrupts_what_runs_and_the_conversation_goes_on() {
    let home = TestHome::new(&TWO_COMMANDS.replace("sleep 1", "sleep 60"));
    let mut seat = TerminalSession::start(&home, &["-p", "go", "--allowedTools", "Bash"]);
    seat.wait_until("the first command", |_| home.path("done").exists());
    seat.type_in("\u{3}");
    seat.wait_for_text("cancelling at the next safe point");
    seat.type_in("\u{3}");
    let (status, output) = seat.end();
    assert_eq!(status.code(), Some(130), "{output}");
    assert!(output.contains("interrupting running calls"), "{output}");
    assert!(output.contains("stopped (user_cancel)"), "{output}");
    assert_eq!(std::fs::read_to_string(home.path("done")).unwrap(), "one\n");
    let ran = home.run_prompt_unattended("and now?", &["--continue"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Going on.\n"), "{}", ran.err);
}

#[test]
fn a_terminal_that_goes_away_takes_nothing_with_it() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"a.txt\"}\n\
         when any\n  delay 60s\n  say \"late\"\n",
    );
    home.write("a.txt", "42\n");
    let mut seat = TerminalSession::start(&home, &["-p", "go", "--conversation", "c"]);
    seat.wait_for_text("✓ Read a.txt");
    let TerminalSession { terminal, mut child, .. } = seat;
    drop(terminal);
    child.wait().unwrap();
    home.write("a.script", "when any\n  say \"It says 42.\"\n");
    let ran = home.run(&["resume", "c", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "It says 42.\n"), "{}", ran.err);
    let calls = home.json(&["show", "c"]);
    let reads = calls.iter().filter(|scene| scene["kind"] == "call").count();
    assert_eq!(reads, 1, "what was done is not done again");
}

/// The reader of the output is gone, as after `windlass -p … | head -1`.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test runs the real binary")]
fn a_reader_that_goes_away_takes_nothing_with_it() {
    for format in [
        &["--output-format", "stream-json", "--verbose"][..],
        &["--output-format", "stream-json", "--verbose", "--include-partial-messages"],
    ] {
        let home = TestHome::new(
            "when ask 1\n  say \"Looking.\"\n  call Read {\"file_path\": \"a.txt\"}\n\
             when ask 2\n  delay 300ms\n  say \"Again.\"\n  call Read {\"file_path\": \"a.txt\"}\n\
             when any\n  delay 60s\n  say \"late\"\n",
        );
        home.write("a.txt", "42\n");
        let mut child = Command::new(env!("CARGO_BIN_EXE_windlass"))
            .args(["-p", "go", "--script", "a.script", "--store", "w.db", "--conversation", "c"])
            .args(format)
            .current_dir(home.path("."))
            .env("WINDLASS_HOME", home.path("home"))
            .env("HOME", home.path("user"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        drop(child.stdout.take());
        let mut output = String::new();
        child.stderr.take().unwrap().read_to_string(&mut output).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{output}");
        assert!(!output.contains("panicked"), "{output}");
        home.write("a.script", "when any\n  say \"It says 42.\"\n");
        let ran = home.run(&["resume", "c", "--script", "a.script"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "It says 42.\n"), "{format:?} {}", ran.err);
    }
}

// spec: CLI-03
#[test]
fn at_a_terminal_text_is_rendered_thoughts_are_dimmed_and_escapes_are_not_obeyed() {
    let home = TestHome::new(
        "when any\n  think \"Let me see.\"\n  say \"# Result\\n**done** \\u001b]0;title\\u0007\"\n",
    );
    let (status, output) = TerminalSession::start(&home, &["-p", "go"]).end();
    assert!(status.success(), "{output}");
    assert!(output.contains("\u{1b}[2mLet \u{1b}[0m"), "{output:?}");
    assert!(output.contains("\u{1b}[1mResult\u{1b}[0m"), "{output:?}");
    assert!(output.contains("\u{1b}[1mdone\u{1b}[0m"), "{output:?}");
    assert!(!output.contains("\u{1b}]0;") && output.contains("]0;title"), "{output:?}");
}

#[test]
fn a_question_is_asked_there_and_ctrl_c_leaves_it_waiting() {
    let script =
        "when results 0\n  call Bash {\"command\": \"touch made\"}\nwhen any\n  say \"Made.\"\n";
    let home = TestHome::new(script);
    let mut seat = TerminalSession::start(&home, &["-p", "go", "--conversation", "c"]);
    seat.wait_for_text("[n] deny");
    assert!(
        !seat.screen_text().contains("[p]"),
        "nobody trusts this folder: {}",
        seat.screen_text()
    );
    seat.type_in("\u{3}");
    let (status, output) = seat.end();
    assert_eq!(status.code(), Some(130), "{output}");
    assert!(!output.contains("^Cwindlass"), "the prompt's line is ended: {output}");
    assert!(output.contains("windlass answer c 1"), "{output}");
    assert!(!home.path("made").exists());

    let mut seat = TerminalSession::start(&home, &["resume", "c"]);
    seat.wait_for_text("[n] deny");
    seat.type_in("y\n");
    let (status, output) = seat.end();
    assert!(status.success() && output.contains("Made."), "{output}");
    assert!(home.path("made").exists());
    // The person who answers was present: the run was not interrupted.
    let answered = output.split("[n] deny").last().unwrap_or_default();
    assert!(!answered.contains("resumed"), "{output}");
}

// spec: FEED-05
#[test]
fn text_that_does_not_count_is_marked_at_a_terminal() {
    let home = TestHome::new(
        "when user is \"cut\"\n  once\n  say \"Half of it\"\n  cut\n\
         when user is \"drift\" and results 0\n  once\n  say \"I am done.\"\n  \
         stop stop_sequence \"\\nUser:\"\nwhen any\n  say \"The answer.\"\n",
    );
    for (prompt, discarded) in [("cut", "Half of it"), ("drift", "I am done.")] {
        let (status, output) = TerminalSession::start(&home, &["-p", prompt]).end();
        assert!(status.success(), "{output}");
        let (_, after) = output.split_once(discarded).unwrap();
        let (marked, answer) = after.split_once("the text above was discarded").unwrap();
        assert!(!marked.contains("The answer."), "{output}");
        assert_eq!(answer.matches("The answer.").count(), 1, "{output}");
    }
    let (_, output) = TerminalSession::start(&home, &["-p", "plain"]).end();
    assert!(
        !output.contains("discarded") && output.matches("The answer.").count() == 1,
        "{output}"
    );
}
