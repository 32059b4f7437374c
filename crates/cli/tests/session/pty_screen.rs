//! The binary in a pty with a terminal emulator behind it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::test_home::TestHome;

/// How long a screen is waited for, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a question ignores keys that were typed before it was seen.
const TYPE_AHEAD: Duration = Duration::from_millis(450);

/// A session in a terminal of its own.
pub(crate) struct PtyScreen {
    terminal: File,
    /// The other side, which keeps the terminal open after the end.
    far: File,
    emulator: vt100::Parser,
    /// Every byte that was printed.
    raw: Vec<u8>,
    child: Child,
}

impl PtyScreen {
    /// Starts the binary with the script of the test home in a terminal of 80 columns.
    pub(crate) fn start(home: &TestHome, args: &[&str]) -> Self {
        Self::start_sized(home, args, (80, 24), &[])
    }

    pub(crate) fn start_sized(
        home: &TestHome,
        args: &[&str],
        (columns, rows): (u16, u16),
        variables: &[(&str, &str)],
    ) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let terminal = terminal.unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        fcntl_setfl(&terminal, fcntl_getfl(&terminal).unwrap() | OFlags::NONBLOCK).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let far = File::options().read(true).write(true).open(name).unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&far, size).unwrap();
        let child = spawn(home, args, &far, variables);
        let emulator = vt100::Parser::new(rows, columns, 10_000);
        Self { terminal: terminal.into(), far, emulator, raw: Vec::new(), child }
    }

    /// Starts the binary again in the same terminal.
    pub(crate) fn start_again(&mut self, home: &TestHome, args: &[&str]) {
        self.child = spawn(home, args, &self.far, &[]);
    }

    fn read(&mut self) {
        let mut buffer = [0; 8_192];
        while let Ok(read @ 1..) = self.terminal.read(&mut buffer) {
            let bytes = buffer.get(..read).unwrap();
            self.raw.extend_from_slice(bytes);
            self.emulator.process(bytes);
        }
    }

    /// Waits until the program has printed these bytes, which the emulator may not show.
    pub(crate) fn wait_for_bytes(&mut self, bytes: &str) {
        self.wait_until(bytes, |screen| {
            screen.read();
            String::from_utf8_lossy(&screen.raw).contains(bytes)
        });
    }

    /// Whether the program has printed these bytes.
    pub(crate) fn has_printed(&mut self, bytes: &str) -> bool {
        self.read();
        String::from_utf8_lossy(&self.raw).contains(bytes)
    }

    /// Whether the program has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.read();
        self.child.try_wait().unwrap().is_some()
    }

    /// The rows of the screen, without trailing spaces.
    pub(crate) fn screen(&mut self) -> String {
        self.read();
        let (_, columns) = self.emulator.screen().size();
        let rows = self.emulator.screen().rows(0, columns);
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Whether any character on the screen has a color or a weight.
    pub(crate) fn has_styles(&mut self) -> bool {
        self.read();
        let (rows, columns) = self.emulator.screen().size();
        let screen = self.emulator.screen();
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.filter_map(|(row, column)| screen.cell(row, column)).any(|cell| {
            cell.fgcolor() != vt100::Color::Default || cell.bold() || cell.dim() || cell.italic()
        })
    }

    /// The column of the cursor.
    pub(crate) fn cursor_column(&mut self) -> u16 {
        self.read();
        self.emulator.screen().cursor_position().1
    }

    /// The id of the process.
    pub(crate) fn session_id(&self) -> u32 {
        self.child.id()
    }

    /// Everything that was printed, the scrollback included.
    pub(crate) fn everything(&mut self) -> String {
        self.read();
        let (rows, columns) = self.emulator.screen().size();
        let mut lines: Vec<String> = Vec::new();
        self.emulator.screen_mut().set_scrollback(usize::MAX);
        let mut above = self.emulator.screen().scrollback();
        while above > 0 {
            self.emulator.screen_mut().set_scrollback(above);
            let page = above.min(usize::from(rows));
            let shown = self.emulator.screen().rows(0, columns).take(page);
            lines.extend(shown.map(|row| row.trim_end().to_owned()));
            above -= page;
        }
        self.emulator.screen_mut().set_scrollback(0);
        lines.push(self.screen());
        lines.join("\n")
    }

    #[expect(clippy::disallowed_methods, reason = "the test watches a real process")]
    pub(crate) fn wait_until(&mut self, what: &str, holds: impl Fn(&mut Self) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            let screen = self.screen();
            assert!(begin.elapsed() < PATIENCE, "{what} did not come:\n{screen}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.screen().contains(text));
    }

    /// Waits until the session is idle.
    pub(crate) fn wait_until_idle(&mut self) {
        self.wait_for("Ask for anything");
    }

    /// Waits for a question until it takes answers.
    #[expect(clippy::disallowed_methods, reason = "the time of a person")]
    pub(crate) fn wait_for_question(&mut self, text: &str) {
        self.wait_for(text);
        std::thread::sleep(TYPE_AHEAD);
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        self.write(keys.as_bytes());
    }

    #[expect(clippy::disallowed_methods, reason = "the terminal takes a page at a time")]
    pub(crate) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.terminal.write(bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap(),
                Err(_) => {
                    self.read();
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.read();
        self.emulator.screen_mut().set_size(rows, columns);
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.far, size).unwrap();
    }

    pub(crate) fn signal_session(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// The modes of the terminal.
    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(&self.far).unwrap()
    }

    /// Waits for the end of the process.
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        self.wait_until("the end", |screen| {
            screen.read();
            screen.child.try_wait().unwrap().is_some()
        });
        self.read();
        self.child.wait().unwrap()
    }

    /// Leaves the session.
    pub(crate) fn quit(&mut self) -> ExitStatus {
        self.type_in("/quit\r");
        self.wait_for_exit()
    }
}

#[expect(clippy::disallowed_methods, reason = "the test runs the real binary")]
fn spawn(home: &TestHome, args: &[&str], far: &File, variables: &[(&str, &str)]) -> Child {
    let stream = || Stdio::from(far.try_clone().unwrap());
    Command::new("setsid")
        .args(["-c", "-w", "env", "--default-signal=HUP,INT", env!("CARGO_BIN_EXE_windlass")])
        .args(args)
        .args(["--store", "w.db"])
        .args(variables.iter().all(|(name, _)| *name != "NO_SCRIPT").then_some("--script=a.script"))
        .current_dir(home.path("."))
        .env("WINDLASS_HOME", home.path("home"))
        .env("HOME", home.path("user"))
        .env("TERM", "xterm-256color")
        // The emulator does not wrap lines again.
        .env("XTERM_VERSION", "test")
        .env_remove("TMUX")
        .env_remove("NO_COLOR")
        .envs(variables.iter().copied())
        .stdin(stream())
        .stdout(stream())
        .stderr(stream())
        .spawn()
        .unwrap()
}

impl Drop for PtyScreen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compares a screen with `tests/session/screens/NAME.txt`; `UPDATE_SCREENS=1` writes it.
pub(crate) fn assert_screen(name: &str, screen: &str, home: &TestHome) {
    let folder = home.path(".").canonicalize().unwrap();
    let screen = screen.replace(&*folder.to_string_lossy(), "/project");
    let file = format!("{}/tests/session/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(&file, format!("{screen}\n")).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(screen, expected.trim_end(), "{name}; UPDATE_SCREENS=1 writes it anew");
}
