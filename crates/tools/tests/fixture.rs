//! A workspace, calls, and a look at processes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::ids::{CallId, LaneId};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{CallContext, Clock, Heartbeat, Tool};
use windlass_tools::{Bash, Edit, Read, Workplace, Write};

pub(crate) fn context() -> CallContext {
    CallContext {
        lane: LaneId::from("conversation:test"),
        call: CallId { ask: 1, index: 0 },
        idempotency_key: Arc::from("run-1:toolu_1"),
        attempt: 1,
        subject: windlass_core::permission::Subject::Nothing,
        settings: None,
        heart: Heartbeat::default(),
    }
}

pub(crate) fn json(text: &str) -> Raw {
    Raw::parse(text).unwrap()
}

/// A folder to work in, with the tools over it.
pub(crate) struct Workspace {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<SystemClock>,
    pub(crate) workplace: Workplace,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let workplace = Workplace::new(folder.path());
        Self { folder, clock: Arc::new(SystemClock::start()), workplace }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    pub(crate) fn bash(&self) -> Bash {
        Bash::new(&self.workplace, Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    pub(crate) async fn pause(&self, ms: u64) {
        self.clock.sleep(ms).await;
    }

    pub(crate) async fn command(&self, command: &str) -> Outcome {
        self.bash().run(context(), input(command, 60_000)).await
    }

    pub(crate) async fn command_within(&self, command: &str, timeout_ms: u64) -> Outcome {
        self.bash().run(context(), input(command, timeout_ms)).await
    }

    pub(crate) async fn read(&self, input: &str) -> Outcome {
        Read::new(&self.workplace).run(context(), json(input)).await
    }

    pub(crate) async fn write_file(&self, path: &str, content: &str) -> Outcome {
        let input = serde_json::json!({ "file_path": path, "content": content });
        Write::new(&self.workplace).run(context(), json(&input.to_string())).await
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> Outcome {
        let input = serde_json::json!({ "file_path": path, "old_string": old, "new_string": new });
        Edit::new(&self.workplace).run(context(), json(&input.to_string())).await
    }

    /// Reads a file, as a model does before it edits.
    pub(crate) async fn see(&self, path: &str) {
        let input = serde_json::json!({ "file_path": path });
        done(self.read(&input.to_string()).await);
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path().join(path)).unwrap()
    }

    /// The process whose number a command wrote to a file, once it has done so.
    pub(crate) async fn pid(&self, name: &str) -> i32 {
        for _ in 0..500 {
            let text = fs::read_to_string(self.path().join(name)).unwrap_or_default();
            if let Some(pid) = text.strip_suffix('\n') {
                return pid.parse().unwrap();
            }
            self.clock.sleep(10).await;
        }
        panic!("nothing wrote its number to {name}");
    }

    /// Waits until a process is gone and says how long that took.
    pub(crate) async fn gone(&self, pid: i32, within_ms: u64) -> u64 {
        let start = self.clock.monotonic_ms();
        while is_alive(pid) {
            let waited = self.clock.monotonic_ms() - start;
            assert!(waited < within_ms, "process {pid} is still there after {waited} ms");
            self.clock.sleep(10).await;
        }
        self.clock.monotonic_ms() - start
    }
}

pub(crate) fn input(command: &str, timeout_ms: u64) -> Raw {
    let command = Raw::string(command);
    json(&format!(r#"{{"command": {}, "timeout": {timeout_ms}}}"#, command.text()))
}

/// Whether a process runs: one that waits to be asked for its status does not.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub(crate) fn done(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done(content) | Outcome::Detailed { content, .. } => content.read().unwrap(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn failed(outcome: Outcome) -> ToolError {
    match outcome {
        Outcome::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}
