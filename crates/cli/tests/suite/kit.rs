//! A folder with a script and a store, and the binary run in it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use windlass::core::conversation::Conversation;
use windlass::core::ids::{LaneId, RunId};
use windlass::core::log::Entry;
use windlass::core::settings::Settings;
use windlass::ports::Store;
use windlass::sqlite::SqliteStore;

/// A place to run the binary in.
pub(crate) struct Place {
    dir: TempDir,
}

/// What a run of the binary left.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new(script: &str) -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        place.write("a.script", script);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs the binary with these arguments and the place's store.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let store = self.path("w.db");
        self.run_bare(&[args, &["--store", store.to_str().unwrap()]].concat())
    }

    /// Runs a prompt against the script; what would have to be asked parks the run.
    pub(crate) fn ask(&self, prompt: &str, more: &[&str]) -> Ran {
        self.alone(prompt, &[more, &["--when-asked", "park"]].concat())
    }

    /// The same as people type it where nobody can be asked.
    pub(crate) fn alone(&self, prompt: &str, more: &[&str]) -> Ran {
        // A detached prompt brings no script along: its worker has one.
        let script: &[&str] = match more.contains(&"--detach") {
            true => &[],
            false => &["--script", "a.script"],
        };
        self.run(&[&["-p", prompt], script, more].concat())
    }

    pub(crate) fn run_bare(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// The same with more variables in its environment.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(args);
        let command = command.envs(variables.iter().copied()).stdin(Stdio::null());
        Ran::from(command.output().unwrap())
    }

    /// The same with something to read on standard input.
    pub(crate) fn run_fed(&self, args: &[&str], input: &[u8]) -> Ran {
        self.write_bytes("input", input);
        let input = std::fs::File::open(self.path("input")).unwrap();
        Ran::from(self.command(args).stdin(input).output().unwrap())
    }

    fn write_bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Another program, in the same place.
    #[expect(clippy::disallowed_methods, reason = "the test runs the binary inside of another")]
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .current_dir(self.dir.path())
            .env("WINDLASS_HOME", self.path("home"))
            .env("HOME", self.path("user"));
        command
    }

    /// The binary with a home of its own, to be started as the test wants.
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

/// How long a test waits for something that other processes do, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

impl Place {
    /// Waits until something holds that other processes bring about; how long that took. A worker's
    /// standard error, kept in the file `said`, is part of the complaint.
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

    /// Waits until another process has made a file.
    pub(crate) fn wait_for_file(&self, name: &str) {
        self.wait_until(name, || self.path(name).exists());
    }
}

impl Place {
    /// The same, and what it prints as one JSON value a line.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<serde_json::Value> {
        let ran = self.run(&[args, &["--json"]].concat());
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The first column of what a query finds in the store.
    pub(crate) fn query(&self, sql: &str) -> Vec<String> {
        let store = rusqlite::Connection::open(self.path("w.db")).unwrap();
        let mut statement = store.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    /// The settings that each run of a conversation had, in the order in which they began.
    pub(crate) fn settings_of_runs(&self, lane: &str) -> Vec<Arc<Settings>> {
        let store = SqliteStore::open(self.path("w.db")).unwrap();
        let read = store.read_log(LaneId::from(lane), 0, 100_000);
        let stored = tokio::runtime::Runtime::new().unwrap().block_on(read).unwrap();
        let mut conversation = Conversation::default();
        let mut runs: Vec<(RunId, Arc<Settings>)> = Vec::new();
        for line in stored {
            conversation.fold(&Entry::parse(line.seq, &line.line).unwrap()).unwrap();
            let (run, ended) = (conversation.run.as_ref(), conversation.last_end.as_ref());
            let run = run.map(|run| &run.id).or(ended.map(|ended| &ended.run));
            let Some((run, settings)) = run.zip(conversation.settings.as_ref()) else { continue };
            if runs.last().is_none_or(|(known, _)| known != run) {
                runs.push((run.clone(), Arc::clone(settings)));
            }
        }
        runs.into_iter().map(|(_, settings)| settings).collect()
    }

    /// Puts something else where an entry was.
    pub(crate) fn damage(&self, seq: i64, body: &str) {
        let store = rusqlite::Connection::open(self.path("w.db")).unwrap();
        let changed = store.execute("UPDATE entry SET body = ?1 WHERE seq = ?2", (body, seq));
        assert_eq!(changed, Ok(1));
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
