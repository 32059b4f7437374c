//! A temporary folder with a script and a store, and the binary run in it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::Store;
use windlass::sqlite::SqliteStore;

/// A temporary folder in which the binary runs.
pub(crate) struct TestHome {
    dir: TempDir,
}

/// The exit code and output of a run of the binary.
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestHome {
    pub(crate) fn new(script: &str) -> Self {
        let home = Self { dir: tempfile::tempdir().unwrap() };
        home.write("a.script", script);
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs the binary with these arguments and the store of the test home.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        let store = self.path("w.db");
        self.run_bare(&[args, &["--store", store.to_str().unwrap()]].concat())
    }

    /// Runs a prompt with the script; questions park the run.
    pub(crate) fn run_prompt(&self, prompt: &str, more: &[&str]) -> CommandOutput {
        self.run_prompt_unattended(prompt, &[more, &["--when-asked", "park"]].concat())
    }

    /// Runs a prompt with the default handling of approvals, without a terminal.
    pub(crate) fn run_prompt_unattended(&self, prompt: &str, more: &[&str]) -> CommandOutput {
        // A detached prompt has no script: its worker has one.
        let script: &[&str] = match more.contains(&"--detach") {
            true => &[],
            false => &["--script", "a.script"],
        };
        self.run(&[&["-p", prompt], script, more].concat())
    }

    pub(crate) fn run_bare(&self, args: &[&str]) -> CommandOutput {
        self.run_with_env(args, &[])
    }

    /// Runs the binary with additional environment variables.
    pub(crate) fn run_with_env(&self, args: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
        let mut command = self.command(args);
        let command = command.envs(variables.iter().copied()).stdin(Stdio::null());
        CommandOutput::from(command.output().unwrap())
    }

    /// Runs the binary with this standard input.
    pub(crate) fn run_with_stdin(&self, args: &[&str], input: &[u8]) -> CommandOutput {
        self.write_bytes("input", input);
        let input = std::fs::File::open(self.path("input")).unwrap();
        CommandOutput::from(self.command(args).stdin(input).output().unwrap())
    }

    fn write_bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Another program, in the same folder.
    #[expect(clippy::disallowed_methods, reason = "the test runs the binary inside of another")]
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .current_dir(self.dir.path())
            .env("WINDLASS_HOME", self.path("home"))
            .env("HOME", self.path("user"));
        command
    }

    /// The binary with a home of its own, to be started by the test.
    #[expect(clippy::disallowed_methods, reason = "the test runs the real binary")]
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("WINDLASS_HOME", self.path("home"))
            .env("HOME", self.path("user"))
            .env_remove("XDG_CONFIG_HOME");
        command
    }
}

/// How long a test waits for other processes, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

impl TestHome {
    /// Waits until a condition holds that other processes bring about; returns how long that took.
    /// A worker's standard error, kept in the file `said`, is part of the failure message.
    #[expect(clippy::disallowed_methods, reason = "the test watches real processes")]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn() -> bool) -> Duration {
        let begin = Instant::now();
        while !holds() {
            let said = || std::fs::read_to_string(self.path("said")).unwrap_or_default();
            assert!(begin.elapsed() < PATIENCE, "{what} did not happen; {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
        begin.elapsed()
    }

    /// Waits until another process has created a file.
    pub(crate) fn wait_for_file(&self, name: &str) {
        self.wait_until(name, || self.path(name).exists());
    }
}

impl TestHome {
    /// Runs the binary with JSON output, and parses each line.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<serde_json::Value> {
        let ran = self.run(&[args, &["--json"]].concat());
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The first column of the result of a query on the store.
    pub(crate) fn query(&self, sql: &str) -> Vec<String> {
        let store = rusqlite::Connection::open(self.path("w.db")).unwrap();
        let mut statement = store.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    /// The settings of each run of a conversation, in the order in which they started.
    pub(crate) fn settings_of_runs(&self, lane: &str) -> Vec<Arc<Settings>> {
        let store = SqliteStore::open(self.path("w.db")).unwrap();
        let read = store.read_log(LaneId::from(lane), 0, 100_000);
        let stored = tokio::runtime::Runtime::new().unwrap().block_on(read).unwrap();
        let mut conversation = Conversation::default();
        let mut runs: Vec<(RunId, Arc<Settings>)> = Vec::new();
        for line in stored {
            conversation.fold(&Entry::parse(line.seq, &line.line).unwrap()).unwrap();
            let (run, ended) = (conversation.run.as_ref(), conversation.last_run_end.as_ref());
            let run = run.map(|run| &run.id).or(ended.map(|ended| &ended.run));
            let Some((run, settings)) = run.zip(conversation.settings.as_ref()) else { continue };
            if runs.last().is_none_or(|(known, _)| known != run) {
                runs.push((run.clone(), Arc::clone(settings)));
            }
        }
        runs.into_iter().map(|(_, settings)| settings).collect()
    }

    /// Overwrites the body of an entry.
    pub(crate) fn overwrite_entry(&self, seq: i64, body: &str) {
        let store = rusqlite::Connection::open(self.path("w.db")).unwrap();
        let changed = store.execute("UPDATE entry SET body = ?1 WHERE seq = ?2", (body, seq));
        assert_eq!(changed, Ok(1));
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
