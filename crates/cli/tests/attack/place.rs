//! A machine in a folder: a workspace, secrets around it, and what shows that an attack succeeded.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::suite::{Attack, Stop};

/// In every file that must not be read.
const SECRET: &str = "THE-SECRET";

/// Printed by an attack that ran to its end.
const SENTINEL: &str = "ran-to-its-end";

const NOBODY: u32 = 65_534;

/// What confines the attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Every layer.
    Full,
    /// A container that gives no namespaces.
    WithoutNamespaces,
    /// Nothing: to see that the attack is one.
    Off,
}

/// Who runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// The user of the test.
    Own,
    /// A user without rights, if the test runs as root.
    Nobody,
}

impl User {
    pub(crate) fn available() -> Vec<Self> {
        match rustix::process::geteuid().is_root() {
            true => vec![Self::Own, Self::Nobody],
            false => vec![Self::Own],
        }
    }
}

/// Denies namespaces to what it starts, as some containers do.
const FILTER: &str = r#"
import ctypes, os, struct, sys
def line(code, k, yes=0, no=0): return struct.pack("HBBI", code, yes, no, k)
program = b"".join([
    line(0x20, 0), line(0x15, 435, 4, 0), line(0x15, 272, 4, 0), line(0x15, 56, 0, 1),
    line(0x20, 16), line(0x45, 0x7e020000, 1, 2),
    line(0x06, 0x00050000 | 38), line(0x06, 0x00050000 | 1), line(0x06, 0x7fff0000),
])
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(program)
filter = struct.pack("HP", len(program) // 8, ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(filter), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

/// Returns whether a machine without namespaces can be imitated here.
pub(crate) fn can_filter() -> bool {
    cfg!(target_arch = "x86_64") && command("python3").arg("-V").output().is_ok()
}

#[expect(clippy::disallowed_methods, reason = "the attacks run the real binary")]
fn command(program: &str) -> Command {
    Command::new(program)
}

pub(crate) struct Place {
    folder: tempfile::TempDir,
    user: User,
    contacted: Arc<AtomicBool>,
    port: u16,
}

/// Files whose contents stay.
const KEPT: [(&str, &str); 5] = [
    ("outside/kept", "as it was\n"),
    ("home/.bashrc", "true\n"),
    ("home/.profile", "true\n"),
    ("w/.git/config", "[core]\n\trepositoryformatversion = 0\n"),
    ("state/config.toml", "[sandbox]\ndeny_read = [\"~/vault\"]\n"),
];

/// What must not exist afterwards.
const ABSENT: [&str; 12] = [
    "outside/new",
    "home/new",
    "home/.ssh/authorized_keys",
    "w/.git/hooks/pre-commit",
    "w/.claude/settings.json",
    "w/.claude/agents/x.md",
    "w/.mcp.json",
    "w/.vscode/tasks.json",
    "w/.windlass/x",
    "w/.envrc",
    "w/.idea/x",
    "w/.cursor/mcp.json",
];

impl Place {
    pub(crate) fn new(user: User) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = folder.path();
        for made in [
            "w/.git/hooks",
            "w/.git/objects",
            "w/.git/refs",
            "w/src",
            "home/.ssh",
            "home/.aws",
            "home/vault",
            "outside",
            "state",
        ] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        for (file, text) in KEPT {
            fs::write(root.join(file), text).unwrap();
        }
        fs::write(root.join("w/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        for secret in ["home/.ssh/id", "home/.aws/credentials", "home/vault/id"] {
            fs::write(root.join(secret), format!("{SECRET}\n")).unwrap();
        }
        fs::write(root.join("w/f"), "plain\n").unwrap();
        symlink(root.join("outside"), root.join("w/link")).unwrap();
        symlink(root.join("home/.ssh/id"), root.join("w/keylink")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let contacted: Arc<AtomicBool> = Arc::default();
        let seen = Arc::clone(&contacted);
        std::thread::spawn(move || {
            if listener.accept().is_ok() {
                seen.store(true, Ordering::SeqCst);
            }
        });
        Self { folder, user, contacted, port }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a port of this machine that nothing in the place may reach.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Makes a file with a secret in the folder for temporary files.
    pub(crate) fn secret_in_tmp(&self) -> tempfile::NamedTempFile {
        let file = tempfile::Builder::new().prefix("windlass-attack").tempfile_in("/tmp").unwrap();
        fs::write(file.path(), SECRET).unwrap();
        file
    }

    /// Starts a process with a secret among its arguments.
    pub(crate) fn process_with_secret(&self) -> std::process::Child {
        let mut process = command("bash");
        process.args(["-c", "exec -a \"$0\" sleep 60", SECRET]);
        crate::layers::no_streams(&mut process).spawn().unwrap()
    }

    /// Runs an attack; returns what it reached, if it reached anything.
    pub(crate) fn try_attack(&self, attack: &Attack, level: Level) -> Option<String> {
        let ran = self.run(&attack.command, level, attack.stopped_by);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
        if attack.stopped_by == Stop::Kernel && level != Level::Off && !text.contains(SENTINEL) {
            return Some(format!("it did not run to its end: {text}"));
        }
        if let Some(signal) = ran.status.signal() {
            return Some(format!("the program was ended by signal {signal}"));
        }
        self.find_success(&text)
    }

    /// Runs a command as the call of a model. An attack on the kernel is not asked about.
    pub(crate) fn run(&self, attack: &str, level: Level, stop: Stop) -> Output {
        let root = self.folder.path();
        let attack = attack.replace("PORT", &self.port.to_string());
        let text = match stop {
            // Encoded, so that nothing but the kernel sees what it does.
            Stop::Kernel => {
                let script = format!("(\n{attack}\n)\necho {SENTINEL}\n");
                fs::write(root.join("w/src/data"), rot13(&script)).unwrap();
                "tr a-zA-Z n-za-mN-ZA-M < src/data | sh 2>&1".to_owned()
            }
            Stop::Permissions => attack,
        };
        let call = serde_json::json!({ "command": text, "timeout": 60_000 });
        let script =
            format!("when results 0\n  call Bash {call}\nwhen any\n  say \"${{result}}\"\n");
        fs::write(root.join("a.script"), script).unwrap();
        fs::write(root.join("filter.py"), FILTER).unwrap();
        if self.user == User::Nobody {
            give_away(root);
        }
        let binary = env!("CARGO_BIN_EXE_windlass");
        let mut run = match level {
            Level::WithoutNamespaces => {
                let mut run = command("python3");
                run.arg(root.join("filter.py")).arg(binary);
                run
            }
            Level::Full | Level::Off => command(binary),
        };
        run.args(["-p", "go", "--script"]).arg(root.join("a.script"));
        run.arg("--store").arg(root.join("state/w.db"));
        match (level, stop) {
            (Level::Off, _) => run.args(["--sandbox", "off", "--dangerously-skip-permissions"]),
            (_, Stop::Kernel) => {
                run.args(["--settings", r#"{"sandbox":{"autoAllowBashIfSandboxed":true}}"#])
            }
            (_, Stop::Permissions) => run.args([
                "--allowedTools",
                "Bash(ls:*),Bash(echo:*),Bash(npm test:*),Bash(git log:*)",
            ]),
        };
        run.current_dir(root.join("w")).env_clear().stdin(Stdio::null());
        run.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("IS_SANDBOX", "1");
        run.env("HOME", root.join("home")).env("WINDLASS_HOME", root.join("state"));
        run.env("ANTHROPIC_API_KEY", SECRET);
        if self.user == User::Nobody {
            run.uid(NOBODY).gid(NOBODY);
        }
        run.output().unwrap()
    }

    /// Returns what an attack reached, as its output and the files show.
    pub(crate) fn find_success(&self, text: &str) -> Option<String> {
        if text.contains(SECRET) {
            return Some("it read a secret".to_owned());
        }
        for (file, was) in KEPT {
            if fs::read_to_string(self.path(file)).ok().as_deref() != Some(was) {
                return Some(format!("{file} changed"));
            }
        }
        let made = ABSENT.iter().find(|name| self.path(name).symlink_metadata().is_ok());
        if let Some(made) = made {
            return Some(format!("{made} was made"));
        }
        for outside in ["/etc/windlass-attack", "/usr/local/bin/windlass-attack"] {
            if Path::new(outside).exists() {
                drop(fs::remove_file(outside));
                return Some(format!("{outside} was made"));
            }
        }
        if self.contacted.load(Ordering::SeqCst) {
            return Some("it reached a port of this machine".to_owned());
        }
        self.is_still_written("w/src/alive").then(|| "a process outlived the call".to_owned())
    }

    /// Returns whether something still writes a file after the program has ended.
    #[expect(clippy::disallowed_methods, reason = "what is left of an attack needs real time")]
    fn is_still_written(&self, name: &str) -> bool {
        let was_there = fs::remove_file(self.path(name)).is_ok();
        if was_there {
            std::thread::sleep(Duration::from_millis(400));
        }
        was_there && self.path(name).exists()
    }
}

fn rot13(text: &str) -> String {
    let turn =
        |c: char, first: u8| char::from((u8::try_from(c).unwrap() - first + 13) % 26 + first);
    let one = |c: char| match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        _ => c,
    };
    text.chars().map(one).collect()
}

fn give_away(folder: &Path) {
    chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            give_away(&path);
        } else if !kind.is_symlink() {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}
